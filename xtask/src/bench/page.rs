//! The page and the file of a measurement, with the facts about its machine.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use record::Environment;
use serde_json::{Value, json};

use super::Bench;
use super::contestant::Programs;
use super::goals::{REACHED, goals};
use super::results::Results;
use super::sections::sections;
use crate::paths;

/// Writes `DATE.md` and `DATE.json`, and returns the page.
pub(super) fn write(bench: &Bench, is_quick: bool) -> anyhow::Result<String> {
    let date = jiff::Zoned::now().date().to_string();
    let (folder, name) = if is_quick {
        (paths::target().join("bench"), "quick".to_owned())
    } else {
        (paths::root().join("benchmarks"), date.clone())
    };
    let page = page(bench, &date);
    save(&folder.join(format!("{name}.md")), &page)?;
    let file = json(bench, &date);
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
pub(super) fn machine(programs: &Programs) -> Vec<(&'static str, String)> {
    let environment = Environment::gather(&[("data", &std::env::temp_dir())]);
    let unknown = || "unknown".to_owned();
    let count = |number: Option<u32>| number.map_or_else(unknown, |number| number.to_string());
    let cpu = &environment.cpu;
    let memory = environment.memory_bytes.map(|bytes| format!("{:.1} GB", bytes as f64 / 1e9));
    let disk = environment.disks.first().and_then(|disk| disk.filesystem.clone());
    let load = environment.load_average.map(|[one, ..]| format!("{one:.2}"));
    vec![
        ("CPU", format!("{} ({})", cpu.model, cpu.architecture)),
        ("cores / threads", format!("{} / {}", count(cpu.cores), count(cpu.threads))),
        ("governor", cpu.governor.clone().unwrap_or_else(unknown)),
        ("virtualization", environment.system.virtualization.unwrap_or_else(unknown)),
        ("memory", memory.unwrap_or_else(unknown)),
        ("file system of the data", disk.unwrap_or_else(unknown)),
        ("operating system", environment.system.os.unwrap_or_else(unknown)),
        ("kernel", environment.system.kernel.unwrap_or_else(unknown)),
        ("load average before", load.unwrap_or_else(unknown)),
        ("server", first_line("mariadbd", &["--version"])),
        ("sysbench", first_line("sysbench", &["--version"])),
        ("C compiler", first_line("cc", &["--version"])),
        ("Rust compiler", first_line("rustc", &["--version"])),
        ("dyno", first_line(&programs.dyno.to_string_lossy(), &["--version"])),
        ("commit", first_line("git", &["rev-parse", "--short", "HEAD"])),
    ]
}

/// The first line that a program prints.
pub(crate) fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(paths::root()).output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    said.ok()
        .and_then(|said| said.lines().next().map(|line| line.trim().to_owned()))
        .filter(|line| !line.is_empty())
        .unwrap_or_else(|| "unknown".to_owned())
        .replace("/usr/sbin/", "")
}

fn page(bench: &Bench, date: &str) -> String {
    let (results, machine) = (&bench.results, &bench.machine);
    let mut page = format!("# dyno against its peers and the floor, {date}\n\n");
    page += &format!(
        "Made by `cargo xtask bench`: {} rounds, in each of which the contestants ran in turn in \
         shuffled order (seed {}); windows of {:.1} s in the middle of each load. Queries are those \
         that the server counted, CPU time is what the kernel counted for the client's process. \
         Figures are medians over rounds; ratios are geometric means of the rounds' ratios with \
         their 95 % interval. A goal is reached when the whole interval is inside it, and not shown \
         when the interval straddles it.\n\n",
        bench.rounds,
        results.seed,
        bench.window.as_secs_f64()
    );
    page += &table(
        &["machine", ""],
        machine.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]),
    );
    page += &figures(results);
    page
}

/// The goals, and the tables of all parts.
fn figures(results: &Results) -> String {
    let rows = goals(results).into_iter().map(|goal| {
        let outcome = match goal.outcome {
            REACHED => REACHED.to_owned(),
            other => format!("**{other}**"),
        };
        vec![goal.what, goal.goal, goal.seen, outcome]
    });
    let goals = table(&["what", "goal", "seen", ""], rows);
    format!("\n## Goals\n\n{goals}{}", sections(results))
}

/// A table in Markdown.
pub(crate) fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

fn json(bench: &Bench, date: &str) -> Value {
    let machine = bench.machine.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
    json!({
        "date": date,
        "seed": bench.results.seed,
        "rounds": bench.rounds,
        "window_s": bench.window.as_secs_f64(),
        "machine": machine.collect::<serde_json::Map<_, _>>(),
        "goals": goals(&bench.results),
        "samples": bench.results.samples,
    })
}

#[cfg(test)]
mod tests {
    use super::super::results::Sample;
    use super::*;

    #[test]
    fn goals_and_tables_of_stored_samples() {
        let mut results = Results::new(1);
        for name in ["2026-11-22.json", "2026-11-22-tidb-ycsb.json", "2026-11-22-tpcc.json"] {
            let path = paths::root().join("benchmarks").join(name);
            let stored: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
            let samples: Vec<Sample> = serde_json::from_value(stored["samples"].clone()).unwrap();
            assert_eq!(json!(samples), stored["samples"], "they are written as they were");
            results.samples.extend(samples);
        }
        insta::assert_snapshot!(figures(&results));
    }
}
