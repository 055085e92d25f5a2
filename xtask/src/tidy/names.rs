//! Names that the project no longer uses, because the field has terms for them.

use super::Finding;
use super::source::Source;

/// Names that no type, function, module, constant or variable may have.
struct Retired {
    names: &'static [&'static str],
    /// The field's term for it.
    term: &'static str,
    /// Path prefixes of the files in which the names have that meaning.
    within: &'static [&'static str],
}

const EVERYWHERE: &[&str] = &["crates/", "xtask/"];
const WORKLOAD: &[&str] = &["crates/workload/"];

const RETIRED: &[Retired] = &[
    Retired { names: &["Seat", "seat"], term: "client handle", within: EVERYWHERE },
    Retired { names: &["Bench", "bench"], term: "worker state", within: &["crates/engine/"] },
    Retired { names: &["Bed", "bed"], term: "test bed", within: EVERYWHERE },
    Retired { names: &["Sitting", "sitting"], term: "system instance", within: EVERYWHERE },
    Retired { names: &["crew", "crewed"], term: "worker pool", within: EVERYWHERE },
    Retired {
        names: &["member", "members"],
        term: "worker",
        within: &["crates/engine/", "crates/workload/"],
    },
    Retired { names: &["share_out"], term: "parallel_for", within: EVERYWHERE },
    Retired { names: &["Persistence", "persistence"], term: "retry policy", within: EVERYWHERE },
    Retired { names: &["Patience", "patience"], term: "time-out", within: EVERYWHERE },
    Retired { names: &["Sweeps"], term: "coarse timers", within: EVERYWHERE },
    Retired { names: &["impatient"], term: "expired", within: EVERYWHERE },
    Retired { names: &["OpeningTurn", "opening_turn"], term: "connect permit", within: EVERYWHERE },
    Retired { names: &["Site", "site"], term: "workload context", within: EVERYWHERE },
    Retired { names: &["Occasion", "occasion"], term: "load key", within: EVERYWHERE },
    Retired { names: &["Piece", "piece", "pieces"], term: "batch", within: WORKLOAD },
    Retired { names: &["Filling", "filling"], term: "batch writer", within: WORKLOAD },
    Retired { names: &["Hand", "hand"], term: "session", within: WORKLOAD },
    Retired { names: &["Sheet", "sheet"], term: "property reader", within: WORKLOAD },
    Retired { names: &["Maker", "maker"], term: "key scheme or generator", within: WORKLOAD },
    Retired { names: &["survey"], term: "inspection", within: EVERYWHERE },
    Retired { names: &["Catch", "catch"], term: "row buffer", within: &["crates/driver/"] },
    Retired { names: &["Inbox"], term: "packet reader", within: EVERYWHERE },
    Retired { names: &["Tie", "tie"], term: "connection event", within: &["crates/engine/"] },
    Retired { names: &["Away", "away"], term: "reconnect backoff", within: WORKLOAD },
    Retired { names: &["casualties"], term: "failed trials", within: EVERYWHERE },
    Retired { names: &["Gravity", "gravity"], term: "severity", within: EVERYWHERE },
    Retired { names: &["care"], term: "warnings", within: EVERYWHERE },
    Retired { names: &["Spell", "spell", "spells"], term: "sample window", within: EVERYWHERE },
    Retired { names: &["Onlooker", "onlooker"], term: "progress listener", within: EVERYWHERE },
    Retired { names: &["hear"], term: "on_event or on_message", within: EVERYWHERE },
    Retired { names: &["tell"], term: "emit, send or print", within: &["crates/"] },
    Retired { names: &["Complaint", "complaint"], term: "diagnostic", within: EVERYWHERE },
    Retired { names: &["errand"], term: "subprocess", within: EVERYWHERE },
    Retired { names: &["Standing", "standing"], term: "detached system", within: EVERYWHERE },
    Retired { names: &["Backing", "backing"], term: "system handle", within: EVERYWHERE },
    Retired { names: &["Foreign"], term: "external", within: &["crates/system/"] },
    Retired { names: &["Greeting"], term: "server setup", within: &["crates/system/"] },
    Retired { names: &["lives"], term: "database tests", within: EVERYWHERE },
    Retired { names: &["Desk", "desk"], term: "sandbox", within: EVERYWHERE },
    Retired { names: &["Course", "course"], term: "plan", within: &["xtask/src/soak"] },
    Retired { names: &["Victim", "victim"], term: "server", within: EVERYWHERE },
    Retired { names: &["judge", "Judgement"], term: "verifier", within: EVERYWHERE },
];

/// The keywords that declare a name.
const KEYWORDS: &[&str] =
    &["struct", "enum", "trait", "type", "fn", "mod", "const", "static", "let", "mut"];

/// Checks the names that one file declares, including its tests, and the file's own name. This file is exempt: its
/// tests have to declare some.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    if source.file == "xtask/src/tidy/names.rs" {
        return Vec::new();
    }
    let retired: Vec<_> = RETIRED
        .iter()
        .filter(|it| it.within.iter().any(|beginning| source.file.starts_with(beginning)))
        .collect();
    let finding = |line: usize, name: &str| {
        let found = retired.iter().find(|it| it.names.contains(&name))?;
        let message = format!("`{name}`: the field's term is {}, see CONTRIBUTING.md", found.term);
        Some(source.finding(line, message))
    };
    let own = finding(1, source.name().trim_end_matches(".rs"));
    let lines = source.text.lines().enumerate();
    own.into_iter()
        .chain(lines.flat_map(|(index, line)| {
            declared(line).filter_map(move |name| finding(index + 1, name)).collect::<Vec<_>>()
        }))
        .collect()
}

/// The names that a line declares with a keyword; none in a comment.
fn declared(line: &str) -> impl Iterator<Item = &str> {
    let code = line.find("//").map_or(line, |at| &line[..at]);
    let is_part_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words = code.split(move |letter| !is_part_of_name(letter)).filter(|word| !word.is_empty());
    let after = words.clone().skip(1);
    words.zip(after).filter(|(word, _)| KEYWORDS.contains(word)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Vec<String> {
        Source::new(file.to_owned(), text.to_owned()).found(check)
    }

    #[test]
    fn declared_retired_names_are_findings_in_tests_too() {
        let text =
            "pub(crate) struct Seat {\n#[cfg(test)]\nmod tests {\n    let mut desk = 1;\n}\n";
        let found = found("crates/engine/src/a.rs", text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("crates/engine/src/a.rs:1: `Seat`: the field's term is client")
        );
        assert!(found[1].starts_with("crates/engine/src/a.rs:4: `desk`: the field's term is sand"));
    }

    #[test]
    fn a_file_may_not_have_a_retired_name() {
        assert_eq!(found("crates/engine/src/crew.rs", "//! Jobs.\n").len(), 1);
        assert!(found("crates/engine/src/worker_pool.rs", "//! Jobs.\n").is_empty());
    }

    #[test]
    fn english_words_and_other_meanings_are_not_findings() {
        let text = "//! Of course a member may tell.\n// let site = 1;\nlet websites = \"desk\";\n";
        assert!(found("crates/workload/src/a.rs", text).is_empty());
        assert!(found("crates/system/src/tidb_cluster/member.rs", "mod member;\n").is_empty());
        assert!(
            found("crates/driver/src/mysql/codec/handshake.rs", "struct Greeting;\n").is_empty()
        );
    }
}
