//! The parts of a soak: the figures of each call of the task, one line of JSON for each, and the page of all of them.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::memory::Memory;
use super::own_faults::OwnFaultsResult;
use super::verifier::Figures;
use crate::bench::page::table;

/// The figures of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// When it ended, in the form of RFC 3339.
    pub ended: String,
    /// What `dyno --version` says.
    pub dyno: String,
    pub seed: u64,
    pub minutes: u64,
    /// The long runs on servers, if there were any.
    pub loops: Vec<LoopPart>,
    /// The short runs that were themselves disturbed, if there were any.
    pub own: Option<OwnFaultsResult>,
}

/// The figures of one long run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoopPart {
    /// How load was offered: `closed` or `open`.
    pub offered: String,
    pub disturbances: usize,
    pub figures: Figures,
    pub memory: Option<Memory>,
    pub violations: Vec<String>,
}

/// Adds a part to the file, which is made if there is none.
///
/// # Errors
/// When it cannot be written.
pub(super) fn append(path: &Path, part: &Part) -> anyhow::Result<()> {
    let line = format!("{}\n", serde_json::to_string(part)?);
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The parts in a file.
///
/// # Errors
/// When it cannot be read, with the line that is none of a part.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Part>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let part = |(number, line): (usize, &str)| {
        serde_json::from_str::<Part>(line)
            .with_context(|| format!("{}, line {}", path.display(), number + 1))
    };
    text.lines().enumerate().map(part).collect()
}

/// The page of all parts, in Markdown: each part, and their sums.
pub(super) fn page(parts: &[Part]) -> String {
    let minutes: u64 = parts.iter().map(|part| part.minutes).sum();
    let seeds: Vec<String> = parts.iter().map(|part| part.seed.to_string()).collect();
    let mut dyno: Vec<&str> = parts.iter().map(|part| &*part.dyno).collect();
    dyno.dedup();
    format!(
        "# {minutes} minutes of kills, stalls, full disks and damaged records, until {}\n\n\
         Made by `cargo xtask soak` in {} {}, with {}. CONTRIBUTING.md, *Soaking*, has what is done \
         and what is verified.\n\n\
         ## Servers that stall, die and come back\n\n{}\n\
         ## dyno killed, paused and interrupted, its disk full, its records damaged\n\n{}\n\
         ## What was wrong\n\n{}",
        parts.last().and_then(|part| part.ended.get(..10)).unwrap_or("no day"),
        match parts.len() {
            1 => "one part with the seed".to_owned(),
            count => format!("{count} parts with the seeds"),
        },
        seeds.join(", "),
        dyno.join(", "),
        loops(parts),
        own_faults(parts),
        violations(parts)
    )
}

const LOOP_HEAD: [&str; 14] = [
    "seed",
    "minutes",
    "loop",
    "trials complete",
    "failed because of a disturbance",
    "transactions",
    "disturbances",
    "connections lost",
    "outages that had to be found",
    "statements",
    "trials equal to the server's counters",
    "within what was lost",
    "equal to the wire",
    "held between trials, last quarter to second, kB",
];

/// The table of the long runs.
fn loops(parts: &[Part]) -> String {
    let mut rows = Vec::new();
    let mut sums: Vec<(LoopPart, u64)> = Vec::new();
    for part in parts {
        for one in &part.loops {
            rows.push(loop_row(&part.seed.to_string(), part.minutes, one));
            match sums.iter_mut().find(|(sum, _)| sum.offered == one.offered) {
                Some((sum, minutes)) => {
                    *minutes += part.minutes;
                    sum.add(one);
                }
                None => sums.push((one.clone(), part.minutes)),
            }
        }
    }
    let sums = sums.iter().map(|(sum, minutes)| loop_row("all", *minutes, sum));
    table(&LOOP_HEAD, rows.into_iter().chain(sums))
}

fn loop_row(seed: &str, minutes: u64, part: &LoopPart) -> Vec<String> {
    let figures = &part.figures;
    let counts = [
        figures.complete.to_string(),
        figures.failed.to_string(),
        figures.transactions.to_string(),
        part.disturbances.to_string(),
        figures.lost.to_string(),
        figures.outages.to_string(),
        figures.statements.to_string(),
        figures.equal.to_string(),
        figures.bounded.to_string(),
        figures.by_wire.to_string(),
    ];
    let memory = part.memory.filter(Memory::is_checked);
    let memory = memory.map_or_else(
        || "too short".to_owned(),
        |memory| format!("{:+.0}", memory.growth() as f64 / 1e3),
    );
    let head = [seed.to_owned(), minutes.to_string(), part.offered.clone()];
    head.into_iter().chain(counts).chain([memory]).collect()
}

impl LoopPart {
    /// Adds the figures of another part; of the growths of memory, the largest stays.
    fn add(&mut self, other: &Self) {
        self.disturbances += other.disturbances;
        self.figures.add(&other.figures);
        self.violations.extend_from_slice(&other.violations);
        let growths = [self.memory, other.memory].into_iter().flatten().filter(Memory::is_checked);
        self.memory = growths.max_by_key(Memory::growth);
    }
}

const OWN_HEAD: [&str; 12] = [
    "seed",
    "minutes",
    "killed",
    "paused",
    "interrupted",
    "full disks",
    "runs damaged",
    "rows inserted",
    "counted",
    "oldest lost row, ms",
    "damages that changed a count",
    "named",
];

/// The table of the short runs.
fn own_faults(parts: &[Part]) -> String {
    let row = |seed: String, minutes: u64, own: &OwnFaultsResult| {
        [seed, minutes.to_string()].into_iter().chain(own.cells()).collect::<Vec<_>>()
    };
    let mut sum = OwnFaultsResult::default();
    let mut minutes = 0;
    let mut rows = Vec::new();
    for part in parts {
        if let Some(own) = &part.own {
            rows.push(row(part.seed.to_string(), part.minutes, own));
            sum.add(own);
            minutes += part.minutes;
        }
    }
    rows.push(row("all".to_owned(), minutes, &sum));
    table(&OWN_HEAD, rows.into_iter())
}

/// What was wrong, a line for each.
fn violations(parts: &[Part]) -> String {
    let of_part = |part: &Part| {
        let loops = part.loops.iter().flat_map(|one| one.violations.clone());
        let own = part.own.iter().flat_map(|own| own.violations.clone());
        let seed = part.seed;
        loops.chain(own).map(move |what| format!("- Seed {seed}: {what}\n")).collect::<Vec<_>>()
    };
    let all: Vec<String> = parts.iter().flat_map(of_part).collect();
    if all.is_empty() { "Nothing: everything is accounted for.\n".to_owned() } else { all.concat() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A part of ten minutes, with figures that follow from its seed.
    fn part(seed: u64) -> Part {
        let figures = json!({
            "complete": 10 * seed, "failed": seed, "transactions": 1_000 * seed, "statements": 5_000 * seed,
            "lost": 20 * seed, "equal": 4 * seed, "bounded": 3 * seed, "by_wire": 3 * seed, "outages": 2 * seed,
        });
        let memory = json!({
            "held_in_second_bytes": 2_000_000, "held_in_last_bytes": 2_000_000 + 100_000 * seed,
            "length": {"secs": 600, "nanos": 0},
        });
        let part = json!({
            "ended": "2026-11-23T10:00:00Z", "dyno": "dyno 1.0", "seed": seed, "minutes": 10,
            "loops": [
                {"offered": "closed", "disturbances": 7, "figures": figures, "memory": memory, "violations": []},
                {"offered": "open", "disturbances": 8, "figures": figures, "memory": null, "violations": []},
            ],
            "own": {
                "cycles": [1, 2, 3, 4, 5], "rows": 100, "counted": 90, "oldest_lost_ms": 40.0 * seed as f64,
                "damages": [6, 5], "violations": [],
            },
        });
        serde_json::from_value(part).unwrap()
    }

    #[test]
    fn parts_add_up_in_a_file_and_on_its_page() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("soak.jsonl");
        let mut parts = vec![part(1), part(2)];
        parts[1].own.as_mut().unwrap().violations.push("a row is in no interval".to_owned());
        for one in &parts {
            append(&path, one).unwrap();
        }
        assert_eq!(read(&path).unwrap(), parts);
        let page = page(&parts);
        assert!(page.starts_with("# 20 minutes of kills"), "{page}");
        assert!(page.contains(", until 2026-11-23\n"), "{page}");
        assert!(page.contains("in 2 parts with the seeds 1, 2, with dyno 1.0."), "{page}");
        for row in [
            "| 2 | 10 | closed | 20 | 2 | 2000 | 7 | 40 | 4 | 10000 | 8 | 6 | 6 | +200 |",
            "| all | 20 | closed | 30 | 3 | 3000 | 14 | 60 | 6 | 15000 | 12 | 9 | 9 | +200 |",
            "| all | 20 | open | 30 | 3 | 3000 | 16 | 60 | 6 | 15000 | 12 | 9 | 9 | too short |",
            "| all | 20 | 2 | 4 | 6 | 8 | 10 | 200 | 180 | 80 | 12 | 10 |",
            "- Seed 2: a row is in no interval",
        ] {
            assert!(page.lines().any(|line| line == row), "{row}\n{page}");
        }
    }

    #[test]
    fn a_line_that_is_none_of_a_part_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("soak.jsonl");
        append(&path, &part(1)).unwrap();
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"seed\": 2").unwrap();
        let error = format!("{:#}", read(&path).unwrap_err());
        assert!(error.contains("soak.jsonl, line 2: EOF while parsing"), "{error}");
    }
}
