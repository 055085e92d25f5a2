//! Measures dyno against sysbench and against the floor: a bare loop in C that sends the same statements.
//!
//! The contestants run in turn, in an order that is shuffled for every round, so that drift affects all of them. CPU
//! time and queries are counted from outside, in the same way for each, over a window in the middle of its load: see
//! [`window`].

mod cases;
mod contestant;
mod goals;
mod page;
mod prepare;
pub(crate) mod process;
mod results;
mod sections;
mod server;
mod soak;
mod tpcc;
mod window;
mod ycsb;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::interrupt::Interrupt;
use crate::needs::{self, Install};
use crate::{dist, paths, shell};
use contestant::Programs;
use results::Results;

/// What `cargo xtask bench` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Two rounds and short windows; the page goes below target/, not to benchmarks/
    #[arg(long)]
    quick: bool,
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// Also ten minutes of load, for memory that must not grow
    #[arg(long)]
    soak: bool,
    /// Rounds, instead of 5 (2 with --quick)
    #[arg(long)]
    rounds: Option<u32>,
    /// Seed of the order within rounds, instead of one from the clock
    #[arg(long)]
    seed: Option<u64>,
    /// A dyno that is built already, instead of building one
    #[arg(long)]
    dyno: Option<PathBuf>,
    /// Only say what is missing, install nothing
    #[arg(long)]
    no_install: bool,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
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
///
/// # Errors
/// When something is missing, does not build, or fails during the measurement.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let install = if arguments.no_install { Install::No } else { Install::Yes };
    let needs = [needs::MARIADB, needs::SYSBENCH, needs::COMPILER, needs::GO];
    needs::provide(&needs, install, &interrupt)?;
    let seed = arguments.seed.unwrap_or_else(seed_of_now);
    eprintln!("xtask: the order within rounds comes from --seed {seed}");
    let programs = build(arguments, &interrupt)?;
    let mut bench = Bench {
        machine: page::machine(&programs),
        programs,
        interrupt,
        rounds: arguments.rounds.unwrap_or(if arguments.quick { 2 } else { 5 }),
        window: Duration::from_millis(if arguments.quick { 1500 } else { 5000 }),
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
            Part::Soak => soak::measure(&mut bench)?,
        }
    }
    let page = page::write(&bench, arguments.quick)?;
    println!("{page}");
    Ok(ExitCode::SUCCESS)
}

fn parts(arguments: &Arguments) -> Vec<Part> {
    let mut parts = arguments.only.clone();
    if parts.is_empty() {
        let of_sysbench = [Part::Pinned, Part::Shared, Part::Memory, Part::Prepare, Part::Tidb];
        parts = of_sysbench.into_iter().chain([Part::Ycsb, Part::Tpcc]).collect();
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
    let dyno = match &arguments.dyno {
        Some(dyno) => dyno.clone(),
        None => dist::build(dist::PROFILE, interrupt)?,
    };
    let folder = paths::target().join("bench");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let floor = folder.join("mysql_floor");
    let mut compile = shell::command("cc", &["-O2", "-Wall", "-Wextra", "-o"]);
    compile.arg(&floor).arg("benchmarks/floor/mysql_floor.c");
    shell::must(&mut compile, interrupt)?;
    Ok(Programs { dyno, floor })
}
