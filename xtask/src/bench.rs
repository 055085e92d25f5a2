//! Measures dyno against its peers and against the floor: a bare loop in C that sends the same requests.
//!
//! `benchmarks/parts.toml` says what is measured, `benchmarks/goals.toml` what dyno is held to. The contestants run in
//! turn, in an order that is shuffled for every round, so that drift affects all of them. CPU time and queries are counted
//! from outside, in the same way for each, over a window in the middle of its load: see [`window`].

mod goals;
mod measure;
pub(crate) mod page;
mod parts;
pub(crate) mod process;
mod results;
mod server;
mod window;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use self::goals::Goal;
use self::parts::{Facts, Parts, path};
use self::results::Results;
use crate::interrupt::Interrupt;
use crate::{dist, needs, paths, shell};

/// What `cargo xtask bench` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Two rounds and short windows; the page is written to target/ instead of benchmarks/
    #[arg(long)]
    quick: bool,
    /// Only these parts of benchmarks/parts.toml
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Number of rounds [default: 5, or 2 with --quick]
    #[arg(long)]
    rounds: Option<u32>,
    /// Seed of the order within rounds [default: from the clock]
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    binary: dist::Binary,
    #[command(flatten)]
    install: needs::Install,
}

/// Everything that the parts need.
struct Bench {
    interrupt: Interrupt,
    parts: Parts,
    goals: Vec<Goal>,
    /// The programs, by the names in commands.
    facts: Facts,
    /// Facts about the machine, from before the measurement.
    machine: Vec<(&'static str, String)>,
    rounds: u32,
    /// The length of the window in which CPU time and queries are counted.
    window: Duration,
    seed: u64,
    order: plan::Shuffle,
    results: Results,
}

/// Measures, and writes the page.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let parts = Parts::read()?;
    let (goals, names) = (goals::read(&parts)?, names(arguments, &parts)?);
    let needs = [needs::MARIADB, needs::SYSBENCH, needs::COMPILER, needs::GO, needs::H2LOAD];
    arguments.install.provide(&needs, &interrupt)?;
    let seed = arguments.seed.unwrap_or_else(seed_of_now);
    eprintln!("xtask: the order within rounds comes from --seed {seed}");
    let facts = build(arguments, &interrupt)?;
    let mut bench = Bench {
        interrupt,
        parts,
        goals,
        machine: page::machine(&facts["dyno"]),
        facts,
        rounds: arguments.rounds.unwrap_or(if arguments.quick { 2 } else { 5 }),
        window: Duration::from_millis(if arguments.quick { 1_500 } else { 5_000 }),
        seed,
        order: plan::Shuffle::new(seed),
        results: Results::default(),
    };
    let mut code = ExitCode::SUCCESS;
    for name in names {
        let Err(error) = bench.measure(&name) else { continue };
        eprintln!("xtask: {name}: {error:#}");
        code = ExitCode::FAILURE;
        // The parts before, and those that follow, are kept.
        bench.results.0.retain(|sample| sample.case.part != name);
        if bench.interrupt.check().is_err() {
            break;
        }
    }
    println!("{}", page::write(&bench, arguments.quick)?);
    Ok(code)
}

/// The parts that are asked for.
fn names(arguments: &Arguments, parts: &Parts) -> anyhow::Result<Vec<String>> {
    for name in &arguments.only {
        parts.get(name)?;
    }
    let asked = parts.parts.iter().filter(|(name, part)| match &arguments.only[..] {
        [] => !part.by_name_only,
        only => only.contains(name),
    });
    Ok(asked.map(|(name, _)| name.clone()).collect())
}

/// A seed where none is given.
pub(crate) fn seed_of_now() -> u64 {
    jiff::Timestamp::now().as_second().unsigned_abs()
}

/// Builds dyno and the floors.
fn build(arguments: &Arguments, interrupt: &Interrupt) -> anyhow::Result<Facts> {
    let dyno = arguments.binary.provide(dist::PROFILE, interrupt)?;
    let folder = paths::target().join("bench");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let compiled = |(name, source): (&str, &str)| {
        let program = folder.join(source);
        let mut compile = shell::command("cc", &["-O2", "-Wall", "-Wextra", "-o"]);
        compile.arg(&program).arg(format!("benchmarks/floor/{source}.c"));
        shell::must(&mut compile, interrupt)?;
        Ok((name.to_owned(), path(&program)))
    };
    let floors = [
        ("floor", "mysql_floor"),
        ("postgres-floor", "postgres_floor"),
        ("rpc-client", "rpc_floor_client"),
        ("rpc-server", "rpc_floor_server"),
    ];
    let dyno = Ok(("dyno".to_owned(), path(&dyno)));
    floors.into_iter().map(compiled).chain([dyno]).collect()
}
