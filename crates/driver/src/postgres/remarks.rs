//! What a reader must know of a server's settings, in sentences.

use measure::FirstExecutions;

use super::config::StatementProtocol;

/// Executions that the server plans for their values before it compares them with a plan for all values. Source:
/// PostgreSQL, `choose_custom_plan` in plancache.c.
const CUSTOM_PLANS: u64 = 5;

/// When a setting needs a sentence, and the sentence.
struct Rule {
    setting: &'static str,
    is_so: fn(&str) -> bool,
    sentence: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        setting: "debug_assertions",
        is_so: is_on,
        sentence: "the server was built with assertions, for its developers: it is slower than any that is used",
    },
    Rule {
        setting: "jit_available",
        is_so: |value| value.starts_with("no"),
        sentence: "the server was built without JIT: long queries, such as TPC-H's, are not those of a build that has it",
    },
    Rule {
        setting: "fsync",
        is_so: is_off,
        sentence: "fsync is off: nothing waits for the disk, and a crash of the machine breaks the database",
    },
    Rule {
        setting: "full_page_writes",
        is_so: is_off,
        sentence: "full_page_writes is off: less is logged, and a crash of the machine may break pages",
    },
    Rule {
        setting: "synchronous_commit",
        is_so: is_off,
        sentence: "synchronous_commit is off: a commit does not wait for the disk, and a crash loses the last ones",
    },
    Rule {
        setting: "autovacuum",
        is_so: is_off,
        sentence: "autovacuum is off: its work is missing in the figures, and tables grow with each change",
    },
    Rule {
        setting: "in_hot_standby",
        is_so: is_on,
        sentence: "the server is a standby: it also applies what its primary writes, which may wait for the load, or cancel \
                   statements of it",
    },
    Rule {
        setting: "shared_buffers",
        is_so: |value| value == "128MB",
        sentence: "shared_buffers is at its default of 128MB: pages that do not fit come from the operating system's \
                   cache, so the figures are also that one's",
    },
    Rule {
        setting: "shared_preload_libraries",
        is_so: |value| value.contains("pg_stat_statements"),
        sentence: "pg_stat_statements is loaded: counting each statement has a part in the server's CPU",
    },
];

fn is_on(value: &str) -> bool {
    value == "on"
}

fn is_off(value: &str) -> bool {
    value == "off"
}

/// The sentences for these settings.
pub(super) fn remarks(settings: &[(String, String)]) -> Vec<String> {
    let holds = |rule: &&Rule| {
        let value = settings.iter().find(|(name, _)| name == rule.setting);
        value.is_some_and(|(_, value)| (rule.is_so)(value))
    };
    RULES.iter().filter(holds).map(|rule| rule.sentence.to_owned()).collect()
}

/// What distinguishes the first executions of a statement in a session.
pub(super) fn first_executions(
    protocol: StatementProtocol,
    settings: &[(String, String)],
) -> Option<FirstExecutions> {
    let is_auto = |(name, value): &(String, String)| name == "plan_cache_mode" && value == "auto";
    (protocol == StatementProtocol::Named && settings.iter().any(is_auto)).then(|| FirstExecutions {
        count: CUSTOM_PLANS,
        text: "the server plans the first five executions of a statement anew in each session, and then may change its plan: a \
               longer warm-up leaves them out; their part of the measured ones"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_that_misleads_has_its_sentence_and_usual_ones_have_none() {
        let of = |settings: &[(&str, &str)]| {
            let owned = settings.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            remarks(&owned.collect::<Vec<_>>())
        };
        let usual = [
            ("autovacuum", "on"),
            ("debug_assertions", "off"),
            ("fsync", "on"),
            ("full_page_writes", "on"),
            ("in_hot_standby", "off"),
            ("shared_buffers", "8GB"),
            ("shared_preload_libraries", ""),
            ("synchronous_commit", "local"),
        ];
        assert_eq!(of(&usual), Vec::<String>::new());
        let misleading = [
            ("autovacuum", "off"),
            ("debug_assertions", "on"),
            ("fsync", "off"),
            ("full_page_writes", "off"),
            ("in_hot_standby", "on"),
            ("shared_buffers", "128MB"),
            ("shared_preload_libraries", "auto_explain, pg_stat_statements"),
            ("synchronous_commit", "off"),
        ];
        for setting in misleading {
            assert_eq!(of(&[setting]).len(), 1, "{setting:?}");
        }
        assert_eq!(of(&misleading).len(), misleading.len());
    }
}
