//! The page and the file of a measurement, with the facts about its machine.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use record::Environment;
use serde_json::{Value, json};

use super::cases::WATCHED_CONNECTIONS;
use super::contestant::Contestant::{self, Dyno, DynoWatching, Floor, Sysbench};
use super::contestant::Programs;
use super::goals::{Outcome, goals, ratio, ratio_of, show};
use super::results::{Quantity, Results, median};
use super::{Bench, Part};
use crate::paths;

/// Writes `DATE.md` and `DATE.json`, and returns the page.
///
/// # Errors
/// When they cannot be written.
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

fn first_line(program: &str, arguments: &[&str]) -> String {
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
    page += "\n## Goals\n\n";
    let rows = goals(results).into_iter().map(|goal| {
        let outcome = match goal.outcome() {
            Outcome::Reached => Outcome::Reached.name().to_owned(),
            other => format!("**{}**", other.name()),
        };
        vec![goal.what.clone(), goal.goal(), goal.seen(), outcome]
    });
    page += &table(&["what", "goal", "seen", ""], rows);
    page += &pinned(results);
    page += &shared(results);
    page += &memory(results);
    page += &prepare(results);
    page += &tidb(results);
    page += &super::ycsb::section(results);
    page += &super::tpcc::section(results);
    page
}

pub(super) fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

fn pinned(results: &Results) -> String {
    let connections = results.connections(Part::Pinned);
    if connections.is_empty() {
        return String::new();
    }
    let cell = |contestant, connections| {
        let of =
            |quantity| median(&results.series(Part::Pinned, contestant, connections, quantity));
        match (of(Quantity::CpuUs), of(Quantity::UserUs), of(Quantity::QueriesPerS)) {
            (Some(cpu), Some(user), Some(rate)) => {
                format!("{cpu:.2} [{user:.2}], {:.1}k/s", rate / 1e3)
            }
            _ => "".to_owned(),
        }
    };
    let pairs = [[Dyno, Floor], [Dyno, Sysbench], [Floor, Sysbench]];
    let rows = connections.into_iter().map(|connections| {
        let mut row = vec![connections.to_string()];
        row.extend([Dyno, Floor, Sysbench].map(|contestant| cell(contestant, connections)));
        row.extend(pairs.map(|pair| {
            ratio_of(pair, results, Part::Pinned, connections, Quantity::CpuUs)
                .map_or_else(String::new, show)
        }));
        row
    });
    let head = [
        "connections",
        "dyno",
        "floor",
        "sysbench",
        "dyno / floor",
        "dyno / sysbench",
        "floor / sysbench",
    ];
    format!(
        "\n## Server on core 0, client on core 1\n\nClient CPU for a point select, us (in brackets \
         the user part), and throughput. Nothing that speaks the protocol by one system call each way \
         can be below the floor, so what the floor needs of sysbench's CPU is as far as dyno could \
         come.\n\n{}{}",
        table(&head, rows),
        watching(results).unwrap_or_default()
    )
}

/// The cost of watching the host, which dyno does by default and no other contestant does.
fn watching(results: &Results) -> Option<String> {
    let (part, connections) = (Part::Pinned, WATCHED_CONNECTIONS);
    let of = |quantity| median(&results.series(part, DynoWatching, connections, quantity));
    let (cpu, user) = (of(Quantity::CpuUs)?, of(Quantity::UserUs)?);
    let without = ratio(results, part, DynoWatching, connections, Quantity::CpuUs)?;
    Some(format!(
        "\nThe others watch nothing, so dyno has its watching off here (`watch = \"off\"`). With it, as by \
         default, a query took {cpu:.2} us [{user:.2}] at {connections}; without / with: {}.\n",
        show(without)
    ))
}

fn shared(results: &Results) -> String {
    let connections = results.connections(Part::Shared);
    if connections.is_empty() {
        return String::new();
    }
    let rate = |contestant, connections| {
        let rates = results.series(Part::Shared, contestant, connections, Quantity::QueriesPerS);
        let unfairness =
            results.series(Part::Shared, contestant, connections, Quantity::Unfairness);
        let percent = median(&unfairness).unwrap_or_default() * 100.0;
        format!("{:.1}k/s, {percent:.1} %", median(&rates).unwrap_or_default() / 1e3)
    };
    let rows = connections.into_iter().map(|connections| {
        let ratio = ratio(results, Part::Shared, Sysbench, connections, Quantity::QueriesPerS);
        vec![
            connections.to_string(),
            rate(Dyno, connections),
            rate(Sysbench, connections),
            ratio.map_or_else(String::new, show),
        ]
    });
    format!(
        "\n## Server and client on all cores\n\nThroughput, and the standard deviation over clients \
         as a share of the mean.\n\n{}",
        table(&["connections", "dyno", "sysbench", "dyno / sysbench"], rows)
    )
}

fn memory(results: &Results) -> String {
    let rows: Vec<Vec<String>> = [Dyno, Sysbench]
        .into_iter()
        .filter_map(|contestant| {
            let peaks = results.series(Part::Memory, contestant, 256, Quantity::PeakBytes);
            let peak = median(&peaks)? / 1e6;
            Some(vec![contestant.name().to_owned(), format!("{peak:.1} MB")])
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n## Peak memory at 256 connections\n\n{}", table(&["", "peak"], rows.into_iter()))
}

fn prepare(results: &Results) -> String {
    let Some(&tables) = results.connections(Part::Prepare).first() else { return String::new() };
    let rows = [Dyno, Sysbench].into_iter().filter_map(|contestant| {
        let of = |quantity| median(&results.series(Part::Prepare, contestant, tables, quantity));
        let (seconds, client, server) =
            (of(Quantity::Seconds)?, of(Quantity::ClientCpuS)?, of(Quantity::ServerCpuS)?);
        Some(vec![
            contestant.name().to_owned(),
            format!("{seconds:.2} s"),
            format!("{client:.2} s"),
            format!("{server:.2} s"),
            format!("{:.2}", (client + server) / seconds),
        ])
    });
    let rows: Vec<Vec<String>> = rows.collect();
    format!(
        "\n## Prepare of 4 x 100,000 rows\n\nCores at work is CPU time of client and server over the \
         wall clock: near the number of cores, the CPU limits; far below, the disk or a lock does. \
         dyno's client CPU counts its verification too.\n\n{}",
        table(&["", "wall clock", "client CPU", "server CPU", "cores at work"], rows.into_iter())
    )
}

fn tidb(results: &Results) -> String {
    let table = beside(results, Part::Tidb, Sysbench, |of| {
        let rate = of(Quantity::QueriesPerS) / 1e3;
        format!("{:.1} us, {rate:.2}k/s", of(Quantity::CpuUs))
    });
    table.map_or_else(String::new, |table| {
        format!(
            "\n## TiDB and its client on all cores\n\nClient CPU for a point select, and throughput; \
             TiDB on its embedded storage.\n\n{table}"
        )
    })
}

/// dyno's CPU and throughput next to another contestant's, a row for each number of connections, with cells of
/// medians as `cell` writes them; empty when it was not measured.
pub(super) fn beside(
    results: &Results,
    part: Part,
    other: Contestant,
    cell: impl Fn(&dyn Fn(Quantity) -> f64) -> String,
) -> Option<String> {
    let connections = results.connections(part);
    let cell = |contestant, connections| {
        cell(&|quantity| {
            median(&results.series(part, contestant, connections, quantity)).unwrap_or_default()
        })
    };
    let against = |connections, quantity| {
        ratio(results, part, other, connections, quantity).map_or_else(String::new, show)
    };
    let rows = connections.iter().map(|&connections| {
        vec![
            connections.to_string(),
            cell(Dyno, connections),
            cell(other, connections),
            against(connections, Quantity::CpuUs),
            against(connections, Quantity::QueriesPerS),
        ]
    });
    let cpu = format!("CPU, dyno / {}", other.name());
    let head = ["connections", "dyno", other.name(), &cpu, "throughput"];
    (!connections.is_empty()).then(|| table(&head, rows))
}

fn json(bench: &Bench, date: &str) -> Value {
    let (results, machine) = (&bench.results, &bench.machine);
    let samples: Vec<Value> = results
        .samples
        .iter()
        .map(|sample| {
            json!({
                "part": format!("{:?}", sample.part).to_lowercase(),
                "contestant": sample.contestant.name(),
                "connections": sample.connections,
                "round": sample.round,
                "quantity": sample.quantity.name(),
                "value": sample.value,
            })
        })
        .collect();
    let goals: Vec<Value> = goals(results)
        .into_iter()
        .map(|goal| {
            json!({
                "what": goal.what,
                "goal": goal.goal(),
                "seen": goal.seen(),
                "outcome": goal.outcome().name(),
            })
        })
        .collect();
    let machine: serde_json::Map<String, Value> =
        machine.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    json!({
        "date": date,
        "seed": results.seed,
        "rounds": bench.rounds,
        "window_s": bench.window.as_secs_f64(),
        "machine": machine,
        "goals": goals,
        "samples": samples,
    })
}
