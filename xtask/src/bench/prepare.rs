//! Creating and filling tables: dyno against sysbench, each with four threads, on an empty database.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::Value;

use super::contestant::Contestant::{self, Dyno, Sysbench};
use super::process::CpuTime;
use super::results::{Quantity, Sample};
use super::server::BenchServer;
use super::window::{Client, pause};
use super::{Bench, Part};

/// Tables, and threads that fill them.
const TABLES: usize = 4;
const TABLE_ROWS: u32 = 100_000;
const POLL_PERIOD: Duration = Duration::from_millis(5);

/// Measures this in every round.
///
/// # Errors
/// When a contestant or the server fails.
pub(super) fn measure(bench: &mut Bench) -> anyhow::Result<()> {
    for round in 0..bench.rounds {
        for contestant in bench.order.of(&[Dyno, Sysbench]) {
            // A fresh server each time: delayed writes of the last one do not affect the next.
            let server = BenchServer::start(None)?;
            let values = once(bench, &server, contestant)
                .with_context(|| format!("{}'s prepare", contestant.name()))?;
            eprintln!("xtask: prepare round {}, {}: {values:?}", round + 1, contestant.name());
            let (part, connections) = (Part::Prepare, TABLES);
            bench.results.samples.extend(values.into_iter().map(|(quantity, value)| Sample {
                part,
                contestant,
                connections,
                round,
                quantity,
                value,
            }));
        }
    }
    Ok(())
}

fn once(
    bench: &Bench,
    server: &BenchServer,
    contestant: Contestant,
) -> anyhow::Result<Vec<(Quantity, f64)>> {
    let out = server.scratch().join("results");
    let command = match contestant {
        Dyno => dyno(bench, server, &out),
        _ => sysbench(server),
    };
    let server_before = CpuTime::of(server.pid())?.by_ticks();
    let children_before = children_cpu_s()?;
    let clock = net::Clock::monotonic();
    let mut client = Client::start(command, None)?;
    while client.ended()?.is_none() {
        pause(POLL_PERIOD, &bench.interrupt)?;
    }
    let wall = Duration::from_nanos(clock.now());
    client.finish(false)?;
    let server_cpu = CpuTime::of(server.pid())?.by_ticks() - server_before;
    let seconds = match contestant {
        // dyno's command also verifies and measures a little: only its prepare phase counts.
        Dyno => phase_s(&out, "prepare")?,
        _ => wall.as_secs_f64(),
    };
    Ok(vec![
        (Quantity::Seconds, seconds),
        (Quantity::ClientCpuS, children_cpu_s()? - children_before),
        (Quantity::ServerCpuS, server_cpu.as_secs_f64()),
    ])
}

fn dyno(bench: &Bench, server: &BenchServer, out: &Path) -> Command {
    let mut command = Command::new(&bench.programs.dyno);
    command
        .args(["bench", "sysbench/oltp_point_select", "--quiet", "--system", &server.url()])
        .args(["--tables", &TABLES.to_string(), "--table-size", &TABLE_ROWS.to_string()])
        .args(["--clients", "1", "--warm-up", "0s", "--events", "1"])
        .arg("--out")
        .arg(out);
    command
}

fn sysbench(server: &BenchServer) -> Command {
    let mut command = Command::new("sysbench");
    command
        .arg("oltp_point_select")
        .args(server.sysbench_login())
        .args([format!("--tables={TABLES}"), format!("--table-size={TABLE_ROWS}")])
        .args([format!("--threads={TABLES}"), "prepare".to_owned()]);
    command
}

/// CPU time of all children that have exited, seconds.
fn children_cpu_s() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(us as f64 / 1e6)
}

/// The duration of a phase according to dyno's only record in `out`.
///
/// # Errors
/// When there is no such record, or no such phase in it.
pub(super) fn phase_s(out: &Path, name: &str) -> anyhow::Result<f64> {
    let run = fs::read_dir(out)?.next().context("dyno left no record")??.path();
    let text = fs::read_to_string(run.join("trials/0000/trial.json"))?;
    let trial: Value = serde_json::from_str(&text)?;
    let phases = trial["phases"].as_array().context("a trial has phases")?;
    let phase = phases.iter().find(|phase| phase["phase"] == name);
    match phase.and_then(|phase| phase["duration_ns"].as_f64()) {
        Some(duration_ns) => Ok(duration_ns / 1e9),
        None => bail!("dyno's record holds no {name} phase"),
    }
}
