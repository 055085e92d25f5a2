//! Which room may import which. The table is the same as in ARCHITECTURE.md.

use std::fs;
use std::path::Path;

use anyhow::Context;
use toml::Table;

use super::Finding;

/// A room, and the rooms that it may import.
const ROOMS: &[(&str, &[&str])] = &[
    ("plan", &[]),
    ("measure", &[]),
    ("fuzzing", &[]),
    ("peers", &[]),
    ("net", &["measure"]),
    ("driver", &["plan", "measure", "net"]),
    ("engine", &["plan", "measure", "net"]),
    ("workload", &["plan", "measure", "net", "driver", "engine"]),
    ("system", &["plan", "measure", "net", "driver"]),
    ("remote", &["plan", "measure", "net", "system"]),
    ("analysis", &["measure"]),
    ("record", &["plan", "measure"]),
    ("report", &["plan", "measure", "analysis", "record"]),
    (
        "runner",
        &[
            "plan", "measure", "net", "driver", "engine", "workload", "system", "remote",
            "analysis", "record",
        ],
    ),
    (
        "generators",
        &[
            "plan", "measure", "net", "driver", "engine", "workload", "system", "remote",
            "analysis", "record", "runner",
        ],
    ),
    (
        "cli",
        &[
            "plan",
            "measure",
            "net",
            "driver",
            "engine",
            "workload",
            "system",
            "remote",
            "analysis",
            "record",
            "report",
            "runner",
            "generators",
        ],
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
        let path = root.join(&file);
        if path.exists() {
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {file}"))?;
            findings.extend(check_manifest(&room, &file, &text)?);
        }
    }
    Ok(findings)
}

fn check_manifest(room: &str, file: &str, text: &str) -> anyhow::Result<Vec<Finding>> {
    let finding = |line, message| Finding { file: file.to_owned(), line, message };
    let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
        let message =
            format!("`{room}` is a new room: say in xtask/src/tidy/imports.rs whom it may import");
        return Ok(vec![finding(1, message)]);
    };
    let manifest: Table = text.parse().with_context(|| format!("{file} is no TOML"))?;
    let mut findings = Vec::new();
    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let Some(dependencies) = manifest.get(section).and_then(|value| value.as_table()) else {
            continue;
        };
        for name in dependencies.keys() {
            if FOR_TESTS.contains(&name.as_str()) && section == "dev-dependencies" {
                continue;
            }
            if let Some(message) = objection(room, allowed, name) {
                findings.push(finding(line_of(text, section, name), message));
            }
        }
    }
    Ok(findings)
}

/// Why `room` may not use `name`.
fn objection(room: &str, allowed: &[&str], name: &str) -> Option<String> {
    let is_room = ROOMS.iter().any(|(other, _)| *other == name);
    if is_room && !allowed.contains(&name) {
        let list = if allowed.is_empty() { "none of ours".to_owned() } else { allowed.join(", ") };
        return Some(format!("{room} may not import {name}; it may import {list}"));
    }
    LIBRARIES
        .iter()
        .find(|(library, rooms, _)| *library == name && !rooms.contains(&room))
        .map(|(_, _, why)| format!("{room} may not use {name}: {why}"))
}

/// The line with a dependency.
fn line_of(text: &str, section: &str, name: &str) -> usize {
    let mut is_inside = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            is_inside = line == format!("[{section}]");
        }
        let key = line.split(['.', '=', ' ']).next().unwrap_or_default();
        if is_inside && key == name {
            return index + 1;
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(room: &str, text: &str) -> Vec<String> {
        let findings = check_manifest(room, "Cargo.toml", text).unwrap();
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn the_load_wing_may_not_reach_the_reading_wing() {
        let text = "[package]\n[dependencies]\nplan.workspace = true\nreport.workspace = true\n";
        assert_eq!(
            found("engine", text),
            ["Cargo.toml:4: engine may not import report; it may import plan, measure, net"]
        );
    }

    #[test]
    fn tests_keep_to_the_rules_too() {
        let text = "[dev-dependencies]\ncli = { path = \"../cli\" }\n";
        assert_eq!(
            found("plan", text),
            ["Cargo.toml:2: plan may not import cli; it may import none of ours"]
        );
    }

    #[test]
    fn only_tests_import_the_rooms_for_tests() {
        for room in FOR_TESTS {
            let text = |section: &str| format!("[{section}]\n{room}.workspace = true\n");
            assert!(found("plan", &text("dev-dependencies")).is_empty());
            assert_eq!(
                found("plan", &text("dependencies")),
                [format!("Cargo.toml:2: plan may not import {room}; it may import none of ours")]
            );
        }
    }

    #[test]
    fn each_library_is_limited_to_its_crates() {
        let text = "[dependencies]\nclap.workspace = true\n";
        assert_eq!(
            found("plan", text),
            ["Cargo.toml:2: plan may not use clap: command lines are the business of cli"]
        );
        assert!(found("cli", text).is_empty());
    }

    #[test]
    fn an_unknown_crate_is_a_finding() {
        assert!(found("cellar", "")[0].contains("`cellar` is a new room"));
    }
}
