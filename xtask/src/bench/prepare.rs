//! Creating and filling tables: dyno against sysbench, each with four threads, on an empty database.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::Value;

use super::contestant::Contestant::{self, Dyno, Sysbench};
use super::contestant::dyno;
use super::process::CpuTime;
use super::results::{Case, Quantity};
use super::server::BenchServer;
use super::window::run_to_end;
use super::{Bench, Part};
use crate::shell::with;

/// Tables, and threads that fill them.
const TABLES: usize = 4;
const TABLE_ROWS: u32 = 100_000;

/// Measures this in every round.
pub(super) fn measure(bench: &mut Bench) -> anyhow::Result<()> {
    for round in 0..bench.rounds {
        for contestant in bench.order.of(&[Dyno, Sysbench]) {
            // A fresh server each time: delayed writes of the last one do not affect the next.
            let server = BenchServer::start(None)?;
            let values = once(bench, &server, contestant)
                .with_context(|| format!("{}'s prepare", contestant.name()))?;
            eprintln!("xtask: prepare round {}, {}: {values:?}", round + 1, contestant.name());
            let case = Case { part: Part::Prepare, contestant, connections: TABLES, round };
            bench.results.add(case, values);
        }
    }
    Ok(())
}

fn once(
    bench: &Bench,
    server: &BenchServer,
    contestant: Contestant,
) -> anyhow::Result<Vec<(Quantity, f64)>> {
    let mut command = match contestant {
        Dyno => with(
            dyno(&bench.programs, server, "sysbench/oltp_point_select", "results"),
            &format!(
                "--tables {TABLES} --table-size {TABLE_ROWS} --clients 1 --warm-up 0s --events 1"
            ),
        ),
        _ => with(server.sysbench(TABLES, TABLE_ROWS), &format!("--threads={TABLES} prepare")),
    };
    let mut cost = LoadCost::of(bench, server, &mut command)?;
    if contestant == Dyno {
        // dyno's command also verifies and measures a little: what counts is its phase.
        cost.seconds = phase_s(&server.scratch().join("results"), "prepare")?;
    }
    Ok(cost.values().to_vec())
}

/// The time that a load took.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadCost {
    /// Wall-clock time of the command.
    pub seconds: f64,
    client_cpu_s: f64,
    server_cpu_s: f64,
}

impl LoadCost {
    /// Runs the command to its end.
    ///
    /// # Errors
    /// When it fails.
    pub(super) fn of(
        bench: &Bench,
        server: &BenchServer,
        command: &mut Command,
    ) -> anyhow::Result<Self> {
        let server_before = CpuTime::of(server.pid())?.by_ticks();
        let children_before = children_cpu_s()?;
        let wall = run_to_end(command, &bench.interrupt)?;
        let server_cpu = CpuTime::of(server.pid())?.by_ticks() - server_before;
        Ok(Self {
            seconds: wall.as_secs_f64(),
            client_cpu_s: children_cpu_s()? - children_before,
            server_cpu_s: server_cpu.as_secs_f64(),
        })
    }

    /// As values of the results.
    pub(super) fn values(&self) -> [(Quantity, f64); 3] {
        [
            (Quantity::Seconds, self.seconds),
            (Quantity::ClientCpuS, self.client_cpu_s),
            (Quantity::ServerCpuS, self.server_cpu_s),
        ]
    }
}

/// CPU time of all children that have ended, seconds.
pub(super) fn children_cpu_s() -> anyhow::Result<f64> {
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
