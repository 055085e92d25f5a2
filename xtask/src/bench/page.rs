//! The page and the file of a measurement, with the facts about its machine.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::Context;
use record::Environment;
use serde_json::{Value, json};

use super::results::{Point, Results, Seen, shown};
use super::{Bench, goals};
use crate::{paths, shell};

/// Writes `DATE.md` and `DATE.json`, and returns the page.
pub(super) fn write(bench: &Bench, is_quick: bool) -> anyhow::Result<String> {
    let date = jiff::Zoned::now().date().to_string();
    let (folder, name) = if is_quick {
        (paths::target().join("bench"), "quick".to_owned())
    } else {
        (paths::root().join("benchmarks"), date.clone())
    };
    let judged = goals::judged(&bench.goals, &bench.results);
    let page = page(bench, &date, &judged);
    save(&folder.join(format!("{name}.md")), &page)?;
    let machine = bench.machine.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
    let file: Value = json!({
        "date": date,
        "seed": bench.seed,
        "rounds": bench.rounds,
        "window_s": bench.window.as_secs_f64(),
        "machine": machine.collect::<serde_json::Map<_, _>>(),
        "goals": judged,
        "samples": bench.results.0,
    });
    save(&folder.join(format!("{name}.json")), &serde_json::to_string_pretty(&file)?)?;
    Ok(page)
}

fn save(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, format!("{}\n", text.trim_end()))
        .with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("xtask: wrote {}", path.display());
    Ok(())
}

/// Facts about the machine and the programs, by name.
pub(super) fn machine(dyno: &str) -> Vec<(&'static str, String)> {
    let Environment { cpu, memory_bytes, disks, load_average, system, .. } =
        Environment::gather(&[("data", &std::env::temp_dir())]);
    let known = |fact: Option<String>| fact.unwrap_or_else(|| "unknown".to_owned());
    let count = |number: Option<u32>| known(number.map(|number| number.to_string()));
    vec![
        ("CPU", format!("{} ({})", cpu.model, cpu.architecture)),
        ("cores / threads", format!("{} / {}", count(cpu.cores), count(cpu.threads))),
        ("governor", known(cpu.governor)),
        ("virtualization", known(system.virtualization)),
        ("memory", known(memory_bytes.map(|bytes| format!("{:.1} GB", bytes as f64 / 1e9)))),
        ("file system of the data", known(disks.first().and_then(|disk| disk.filesystem.clone()))),
        ("operating system", known(system.os)),
        ("kernel", known(system.kernel)),
        ("load average before", known(load_average.map(|[one, ..]| format!("{one:.2}")))),
        ("server", first_line("mariadbd", &["--version"])),
        ("sysbench", first_line("sysbench", &["--version"])),
        ("C compiler", first_line("cc", &["--version"])),
        ("Rust compiler", first_line("rustc", &["--version"])),
        ("dyno", first_line(dyno, &["--version"])),
        ("commit", first_line("git", &["rev-parse", "--short", "HEAD"])),
    ]
}

/// The first line that a program prints.
fn first_line(program: &str, arguments: &[&str]) -> String {
    let said = shell::output(&mut shell::command(program, arguments)).unwrap_or_default();
    let line = said.lines().next().map(str::trim).filter(|line| !line.is_empty());
    line.unwrap_or("unknown").replace("/usr/sbin/", "")
}

fn page(bench: &Bench, date: &str, judged: &[goals::Judged]) -> String {
    let (rounds, seed, window_s) = (bench.rounds, bench.seed, bench.window.as_secs_f64());
    let mut page = format!(
        "# dyno against its peers and the floor, {date}\n\n\
         Made by `cargo xtask bench`: {rounds} rounds, in each of which the contestants ran in turn in shuffled order \
         (seed {seed}); windows of {window_s:.1} s in the middle of each load. Queries are those that the server counted, \
         CPU time is what the kernel counted for the client's process. Figures are medians over rounds; ratios are \
         geometric means of the rounds' ratios. Intervals are 95 % intervals. A goal is reached when the whole interval \
         is inside it, and not shown when the interval straddles it.\n\n"
    );
    let machine = bench.machine.iter();
    page += &table(
        &["machine", ""],
        machine.map(|(name, value)| vec![(*name).to_owned(), value.clone()]),
    );
    let _ = write!(page, "\n## Goals\n\n{}\n## Figures\n\n", goals::table(judged));
    for (name, part) in &bench.parts.parts {
        if bench.results.0.iter().any(|sample| sample.case.part == *name) {
            let _ = writeln!(page, "- {name}: {}", part.is);
        }
    }
    page + "\n" + &figures(&bench.results)
}

/// Every figure of every contestant, and dyno's ratios to the others.
fn figures(results: &Results) -> String {
    let points = results.points().into_iter();
    let head = ["part", "contestant", "connections", "quantity", "median", "interval"];
    table(&head, points.flat_map(|point| rows(results, &point)))
}

fn rows(results: &Results, point: &Point) -> Vec<Vec<String>> {
    let row = |contestant: String, seen: Seen| {
        let connections = point.connections.to_string();
        let (median, range) = (shown(seen.value), seen.range());
        vec![point.part.clone(), contestant, connections, point.quantity.name(), median, range]
    };
    let contestants = results.contestants(point);
    let pairs = contestants.iter().enumerate().flat_map(|(at, one)| {
        contestants[at + 1..].iter().map(move |other| format!("{one} / {other}"))
    });
    let all = contestants.iter().cloned().chain(pairs);
    all.filter_map(|of| Some(row(of.clone(), results.figure(point, &of)?))).collect()
}

/// A table in Markdown.
pub(crate) fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::results::{Case, Quantity};
    use super::*;

    #[test]
    fn a_row_for_each_contestant_and_for_each_ratio_of_the_same_rounds() {
        let mut results = Results::default();
        for (round, value) in [(2, 30.0), (0, 10.0), (1, 20.0)] {
            for (contestant, factor) in [("a floor", 0.5), ("dyno", 1.0)] {
                let (part, contestant) = ("pinned".to_owned(), contestant.to_owned());
                let case = Case { part, contestant, connections: 16, round };
                results.add(&case, vec![(Quantity::CpuUsPerQuery, value * factor)]);
            }
        }
        insta::assert_snapshot!(figures(&results), @r"
        | part | contestant | connections | quantity | median | interval |
        |---|---|---|---|---|---|
        | pinned | dyno | 16 | cpu_us_per_query | 20.000 | 4.571 to 72.233 |
        | pinned | a floor | 16 | cpu_us_per_query | 10.000 | 2.286 to 36.116 |
        | pinned | dyno / a floor | 16 | cpu_us_per_query | 2.000 | 2.000 to 2.000 |
        ");
    }
}
