//! Measures dyno against sysbench and against the floor: a bare loop in C that sends the same statements.
//!
//! The contestants run in turn, in an order that is shuffled for every round, so that drift affects all of them. CPU
//! time and queries are counted from outside, in the same way for each, over a window in the middle of its load: see
//! [`window`].

mod cases;
mod contestant;
mod generators;
mod goals;
pub(crate) mod page;
mod prepare;
pub(crate) mod process;
mod report;
mod results;
mod rpc;
mod rpc_server;
mod sections;
mod server;
mod soak;
mod tpcc;
mod tpch;
mod window;
mod ycsb;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::interrupt::Interrupt;
use crate::{dist, needs, paths, shell};
use contestant::Programs;
use results::Results;

/// What `cargo xtask bench` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Two rounds and short windows; the page is written to target/ instead of benchmarks/
    #[arg(long)]
    quick: bool,
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// Also ten minutes of load, in which memory must not grow
    #[arg(long)]
    soak: bool,
    /// Number of rounds [default: 5, or 2 with --quick]
    #[arg(long)]
    rounds: Option<u32>,
    /// Length of each window in which CPU time and queries are counted, s [default: 5, or 1.5 with --quick]
    #[arg(long)]
    window: Option<f64>,
    /// Seed of the order within rounds [default: from the clock]
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    binary: dist::Binary,
    #[command(flatten)]
    install: needs::Install,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// Server on core 0, client on core 1: the client's CPU time for each query
    Pinned,
    /// Both on all cores: throughput and fairness
    Shared,
    /// The client's peak memory
    Memory,
    /// Time to make and fill tables
    Prepare,
    /// A TiDB and its client on all cores: the client's CPU time, and throughput
    Tidb,
    /// YCSB's workload C against go-ycsb
    Ycsb,
    /// TPC-C against go-tpc: client CPU, throughput, loading, checking
    Tpcc,
    /// Loading TPC-H at scale 1 on a MariaDB, against go-tpc
    Tpch,
    /// The same on a TiDB
    TpchTidb,
    /// Requests of fixed sizes against a bare loop in C, server and client on all cores
    Tcp,
    /// The same with the server on core 0 and the client on core 1
    TcpPinned,
    /// Calls of trpc-go's server against its own client, on all cores
    Trpc,
    /// The same with the server on core 0 and the client on core 1
    TrpcPinned,
    /// Calls of grpc-go's server against ghz and h2load, on all cores
    Grpc,
    /// The same with the server on core 0 and the client on core 1
    GrpcPinned,
    /// What coordinating eight generators costs
    Generators,
    /// The report of a run of 500 trials
    Report,
    /// Memory over ten minutes
    #[value(skip)]
    Soak,
}

/// Everything that the parts need.
struct Bench {
    interrupt: Interrupt,
    programs: Programs,
    /// Facts about the machine, from before the measurement.
    machine: Vec<(&'static str, String)>,
    rounds: u32,
    /// The length of the window in which CPU time and queries are counted.
    window: Duration,
    order: plan::Shuffle,
    results: Results,
}

/// Measures, and writes the page.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let needs = [needs::MARIADB, needs::SYSBENCH, needs::COMPILER, needs::GO, needs::H2LOAD];
    arguments.install.provide(&needs, &interrupt)?;
    let seed = arguments.seed.unwrap_or_else(seed_of_now);
    eprintln!("xtask: the order within rounds comes from --seed {seed}");
    let programs = build(arguments, &interrupt)?;
    let mut bench = Bench {
        machine: page::machine(&programs),
        programs,
        interrupt,
        rounds: arguments.rounds.unwrap_or(if arguments.quick { 2 } else { 5 }),
        window: window(arguments)?,
        order: plan::Shuffle::new(seed),
        results: Results::new(seed),
    };
    for part in parts(arguments) {
        match part {
            Part::Pinned | Part::Shared | Part::Memory | Part::Tidb => {
                cases::measure(&mut bench, part)?;
            }
            Part::Prepare => prepare::measure(&mut bench)?,
            Part::Ycsb => ycsb::measure(&mut bench)?,
            Part::Tpcc => tpcc::measure(&mut bench)?,
            Part::Tpch | Part::TpchTidb => tpch::measure(&mut bench, part)?,
            Part::Tcp
            | Part::TcpPinned
            | Part::Trpc
            | Part::TrpcPinned
            | Part::Grpc
            | Part::GrpcPinned => {
                rpc::measure(&mut bench, part)?;
            }
            Part::Generators => generators::measure(&mut bench)?,
            Part::Report => report::measure(&mut bench)?,
            Part::Soak => soak::measure(&mut bench)?,
        }
    }
    let page = page::write(&bench, arguments.quick)?;
    println!("{page}");
    Ok(ExitCode::SUCCESS)
}

fn window(arguments: &Arguments) -> anyhow::Result<Duration> {
    let seconds = arguments.window.unwrap_or(if arguments.quick { 1.5 } else { 5.0 });
    Duration::try_from_secs_f64(seconds).context("--window")
}

fn parts(arguments: &Arguments) -> Vec<Part> {
    let mut parts = arguments.only.clone();
    if parts.is_empty() {
        parts = Part::value_variants().to_vec();
    }
    if arguments.soak {
        parts.push(Part::Soak);
    }
    parts
}

/// A seed for those who name none.
pub(crate) fn seed_of_now() -> u64 {
    jiff::Timestamp::now().as_second().unsigned_abs()
}

/// Builds dyno and the floor.
fn build(arguments: &Arguments, interrupt: &Interrupt) -> anyhow::Result<Programs> {
    let dyno = arguments.binary.provide(dist::PROFILE, interrupt)?;
    let folder = paths::target().join("bench");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let compiled = |name: &str| {
        let program = folder.join(name);
        let mut compile = shell::command("cc", &["-O2", "-Wall", "-Wextra", "-o"]);
        compile.arg(&program).arg(format!("benchmarks/floor/{name}.c"));
        shell::must(&mut compile, interrupt)?;
        anyhow::Ok(program)
    };
    Ok(Programs {
        dyno,
        floor: compiled("mysql_floor")?,
        rpc_client: compiled("rpc_floor_client")?,
        rpc_server: compiled("rpc_floor_server")?,
    })
}
