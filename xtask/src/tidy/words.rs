//! Words that do not belong in a room, each with the invariant that it violates.

use super::Finding;
use super::source::Source;

/// Words that must not occur in the code of some files. They are searched in lower case, at the beginning of a word
/// when they begin with a letter.
struct Rule {
    words: &'static [&'static str],
    /// Path prefixes of the files that it applies to.
    within: &'static [&'static str],
    /// Path prefixes of the files that are exempt.
    except: &'static [&'static str],
    /// The invariant that it violates, and what to do.
    message: &'static str,
}

const PRODUCTS: &[&str] =
    &["mysql", "mariadb", "tidb", "sqlite", "postgres", "cockroach", "yugabyte", "oceanbase"];
/// Parts of those products and related products, which would also name a product in a neutral room.
const PARTS: &[&str] = &["tikv", "pd_", "unistore", "tiflash", "innodb"];
const WORKLOADS: &[&str] = &["sysbench", "ycsb", "pgbench", "tpcc", "tpch", "oltp", "sbtest"];
const TIMES: &[&str] = &["instant::now", "systemtime::now", "clock_gettime"];
const PRINTS: &[&str] = &["println!", "eprintln!", "print!", "eprint!"];
const SOCKETS: &[&str] = &["use net::", "std::net", "async fn", ".await", "tcpstream"];
const INPUT_OUTPUT: &[&str] =
    &["std::fs", "std::io", "std::net", "std::env", "std::process", "std::thread"];
/// Searched in comments too.
const UNFINISHED: &[&str] = &["todo:", "fixme", "xxx:"];

const EVERYWHERE: &[&str] = &["crates/", "xtask/"];
const ROOMS: &[&str] = &["crates/"];
/// Rooms that must not name a product.
const NEUTRAL_ROOMS: &[&str] = &[
    "crates/engine/",
    "crates/net/",
    "crates/measure/",
    "crates/analysis/",
    "crates/record/",
    "crates/report/",
    "crates/runner/",
    "crates/generators/",
];
const LOAD_PATH: &[&str] = &["crates/engine/", "crates/net/", "crates/measure/", "crates/driver/"];

const RULES: &[Rule] = &[
    rule(
        PRODUCTS,
        NEUTRAL_ROOMS,
        "names no database: ask the driver's Dialect or the running system, or keep what a kind of \
         system knows in its own room",
    ),
    rule(
        PARTS,
        NEUTRAL_ROOMS,
        "names no part of a product: supply it from the system's room as a `ServerKind`",
    ),
    rule(WORKLOADS, LOAD_PATH, "names no workload: move this to workload"),
    rule(
        PRODUCTS,
        &["crates/workload/src/"],
        "a workload asks the driver's Dialect, never the product's name",
    )
    // Both read options that other tools have named after a product.
    .except(&["crates/workload/src/sysbench/settings.rs", "crates/workload/src/ycsb/foreign.rs"]),
    rule(
        SOCKETS,
        &["crates/driver/src/mysql/codec", "crates/driver/src/postgres/codec"],
        "a codec turns bytes into messages and knows no socket: move this to the session",
    ),
    rule(
        TIMES,
        ROOMS,
        "only net/clock reads time on the load path: take a Clock or a time from the caller",
    )
    .except(&[
        "crates/net/src/clock.rs",
        "crates/cli/",
        "crates/report/",
        "crates/record/",
        "crates/runner/",
    ]),
    rule(
        INPUT_OUTPUT,
        &["crates/analysis/src/"],
        "analysis is pure: it does no input or output, its caller does",
    ),
    rule(PRINTS, ROOMS, "only report and cli print: return a value")
        .except(&["crates/cli/", "crates/report/"]),
    rule(
        &["process::exit(", "process::exit;"],
        ROOMS,
        "only cli ends the process: return an error",
    )
    .except(&["crates/cli/"]),
    rule(
        &["#[allow(", "#![allow("],
        EVERYWHERE,
        "write #[expect(.., reason = \"..\")]: it gives the reason, and warns when it is obsolete",
    ),
    rule(
        &["core::arch", "std::arch", "target_arch"],
        EVERYWHERE,
        "nothing is tied to a processor: write it portably",
    ),
    rule(
        UNFINISHED,
        EVERYWHERE,
        "finish it, or write an issue: the code says what is, not what should be",
    ),
];

const fn rule(
    words: &'static [&'static str],
    within: &'static [&'static str],
    message: &'static str,
) -> Rule {
    Rule { words, within, except: &[], message }
}

impl Rule {
    const fn except(self, except: &'static [&'static str]) -> Self {
        Self { except, ..self }
    }
}

/// Checks one file. This file is exempt: its rules have to name the words.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    if source.file == "xtask/src/tidy/words.rs" {
        return Vec::new();
    }
    RULES
        .iter()
        .filter(|rule| starts_with_any(&source.file, rule.within))
        .filter(|rule| !starts_with_any(&source.file, rule.except))
        .flat_map(|rule| broken(rule, source))
        .collect()
}

fn broken(rule: &Rule, source: &Source) -> Vec<Finding> {
    let has_comments = rule.words == UNFINISHED;
    let lines: Vec<(usize, &str)> =
        if has_comments { source.lines().collect() } else { source.code().collect() };
    let finding = |(line, text): (usize, &str)| {
        let text = text.to_lowercase();
        let word = rule.words.iter().find(|word| holds(&text, word))?;
        Some(source.finding(line, format!("`{word}`: {}", rule.message)))
    };
    lines.into_iter().filter_map(finding).collect()
}

fn starts_with_any(file: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| file.starts_with(beginning))
}

/// Whether `word` occurs in `text`, not in the middle of another word.
fn holds(text: &str, word: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric();
    text.match_indices(word)
        .any(|(at, _)| !word.starts_with(is_letter) || !text[..at].ends_with(is_letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS_OF_TIDB: &str =
        "// TiDB\nlet it = \"tikv_grpc_\";\nuse system::tidb::StatementPages;\n";
    const NO_PRODUCT: [&str; 2] = ["3: `tidb`: names no database", "2: `tikv`: names no part"];

    /// A file below `crates`, its text, and how its findings begin.
    const CASES: &[(&str, &str, &[&str])] = &[
        (
            "engine/src/worker.rs",
            "//! MySQL\nlet is_mysql = 1;\nsysbench();\n",
            &["2: `mysql`: names no database", "3: `sysbench`: names no workload"],
        ),
        ("report/src/a.rs", PARTS_OF_TIDB, &NO_PRODUCT),
        ("runner/src/a.rs", PARTS_OF_TIDB, &NO_PRODUCT),
        ("generators/src/a.rs", PARTS_OF_TIDB, &NO_PRODUCT),
        ("analysis/src/a.rs", PARTS_OF_TIDB, &NO_PRODUCT),
        ("record/src/a.rs", PARTS_OF_TIDB, &NO_PRODUCT),
        ("system/src/tidb/panels.rs", PARTS_OF_TIDB, &[]),
        ("workload/src/loading.rs", "let is_mysql = true;\n", &["1: `mysql`: a workload asks"]),
        // It reads options that another tool has named after a product.
        ("workload/src/sysbench/settings.rs", "let is_mysql = true;\n", &[]),
        ("engine/src/worker.rs", "Instant::now();\n", &["1: `instant::now`: only net/clock"]),
        ("net/src/clock.rs", "Instant::now();\n", &[]),
        ("plan/src/a.rs", "eprintln!(\"x\");\n", &["1: `eprintln!`: only report and cli print"]),
        ("plan/src/a.rs", "blueprint!(x);\n", &[]),
        ("report/src/a.rs", "println!(\"x\");\n", &[]),
        ("plan/src/a.rs", "#[allow(dead_code)]\n", &["1: `#[allow(`: write #[expect(.., reason"]),
        ("plan/src/a.rs", "// fixme\n", &["1: `fixme`: finish it"]),
        ("engine/src/a.rs", "#[cfg(test)]\nmod tests {\n    println!(\"mysql\");\n}\n", &[]),
    ];

    #[test]
    fn each_room_has_its_words() {
        for (file, text, expected) in CASES {
            let source = Source::new(format!("crates/{file}"), (*text).to_owned());
            let found = source.found(check);
            let begins = |(found, expected): (&String, &&str)| {
                found.starts_with(&format!("crates/{file}:{expected}"))
            };
            let is_it = found.len() == expected.len() && found.iter().zip(*expected).all(begins);
            assert!(is_it, "{file}: {found:?}");
        }
    }
}
