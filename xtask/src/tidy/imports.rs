//! Which room may import which. The table is the same as in ARCHITECTURE.md.

use std::fs;
use std::path::Path;

use anyhow::Context;
use toml::Table;

use super::Finding;

/// A room, and the rooms that it may import.
const ROOMS: &[(&str, &str)] = &[
    ("plan", ""),
    ("measure", ""),
    ("fuzzing", ""),
    ("peers", ""),
    ("net", "measure"),
    ("driver", "plan measure net"),
    ("engine", "plan measure net"),
    ("workload", "plan measure net driver engine"),
    ("system", "plan measure net driver"),
    ("remote", "plan measure net system"),
    ("analysis", "measure"),
    ("record", "plan measure"),
    ("report", "plan measure analysis record"),
    ("runner", "plan measure net driver engine workload system remote analysis record"),
    ("generators", "plan measure net driver engine workload system remote analysis record runner"),
    (
        "cli",
        "plan measure net driver engine workload system remote analysis record report runner \
         generators",
    ),
];

/// The rooms that tests of every room may import, but other code may not.
const FOR_TESTS: [&str; 2] = ["fuzzing", "peers"];

/// Libraries that only some rooms may use, and why.
const LIBRARIES: &[(&str, &[&str], &str)] = &[
    ("clap", &["cli"], "command lines are the business of cli"),
    ("clap_complete", &["cli"], "command lines are the business of cli"),
    ("clap_mangen", &["cli"], "command lines are the business of cli"),
    ("indicatif", &["cli"], "only cli draws on the terminal"),
    ("rusqlite", &["driver"], "only a driver speaks to a database"),
    ("mio", &["net"], "only net knows the event loop"),
];

/// Checks the dependencies of every room.
pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let folder = root.join("crates");
    let rooms =
        fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in rooms {
        let room = entry?.file_name().to_string_lossy().into_owned();
        let file = format!("crates/{room}/Cargo.toml");
        if let Ok(text) = fs::read_to_string(root.join(&file)) {
            findings.extend(check_manifest(&room, &file, &text)?);
        }
    }
    Ok(findings)
}

fn check_manifest(room: &str, file: &str, text: &str) -> anyhow::Result<Vec<Finding>> {
    let finding = |line, message| Finding { file: file.to_owned(), line, message };
    let Some(&(_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
        let message =
            format!("`{room}` is a new room: say in xtask/src/tidy/imports.rs whom it may import");
        return Ok(vec![finding(1, message)]);
    };
    let manifest: Table = text.parse().with_context(|| format!("{file} is no TOML"))?;
    let mut findings = Vec::new();
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let dependencies = manifest.get(section).and_then(|value| value.as_table());
        for name in dependencies.into_iter().flat_map(Table::keys) {
            let is_for_tests = FOR_TESTS.contains(&&**name) && section == "dev-dependencies";
            if !is_for_tests && let Some(message) = objection(room, allowed, name) {
                findings.push(finding(line_of(text, section, name), message));
            }
        }
    }
    Ok(findings)
}

/// Why `room` may not use `name`.
fn objection(room: &str, allowed: &str, name: &str) -> Option<String> {
    let is_room = ROOMS.iter().any(|(other, _)| *other == name);
    if is_room && !allowed.split(' ').any(|it| it == name) {
        let list = if allowed.is_empty() { "none of ours" } else { &allowed.replace(' ', ", ") };
        return Some(format!("{room} may not import {name}; it may import {list}"));
    }
    LIBRARIES
        .iter()
        .find(|(library, rooms, _)| *library == name && !rooms.contains(&room))
        .map(|(_, _, why)| format!("{room} may not use {name}: {why}"))
}

/// The line with a dependency.
fn line_of(text: &str, section: &str, name: &str) -> usize {
    let section = format!("[{section}]");
    let lines = text.lines().enumerate().skip_while(|(_, line)| *line != section);
    let is_key = |line: &str| line.split(['.', '=', ' ']).next() == Some(name);
    lines.filter(|(_, line)| is_key(line)).map(|(index, _)| index + 1).next().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_room_imports_what_the_table_says() {
        for (room, text, expected) in [
            (
                "engine",
                "[package]\n[dependencies]\nplan.workspace = true\nreport.workspace = true\n",
                "4: engine may not import report; it may import plan, measure, net",
            ),
            (
                "plan",
                "[dev-dependencies]\ncli = { path = \"../cli\" }\n",
                "2: plan may not import cli; it may import none of ours",
            ),
            ("plan", "[dev-dependencies]\nfuzzing.workspace = true\npeers.workspace = true\n", ""),
            (
                "plan",
                "[dependencies]\npeers.workspace = true\n",
                "2: plan may not import peers; it may import none of ours",
            ),
            (
                "plan",
                "[dependencies]\nclap.workspace = true\n",
                "2: plan may not use clap: command lines are the business of cli",
            ),
            ("cli", "[dependencies]\nclap.workspace = true\n", ""),
            (
                "cellar",
                "",
                "1: `cellar` is a new room: say in xtask/src/tidy/imports.rs whom it may import",
            ),
        ] {
            let findings = check_manifest(room, "it", text).unwrap();
            let found: String = findings.iter().map(Finding::to_string).collect();
            let expected = if expected.is_empty() { "" } else { &format!("it:{expected}") };
            assert_eq!(found, expected, "{room}: {text}");
        }
    }
}
