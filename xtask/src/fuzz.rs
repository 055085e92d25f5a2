//! Everything that dyno reads from outside, run for long on random and on changed real inputs. The
//! properties stand beside the code, in the `fuzz` modules of the rooms; the tests run them briefly.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use net::Clock;
use plan::fuzz::{FuzzTarget, Inputs};

use crate::interrupt::Interrupt;
use crate::paths;

/// An input that takes longer than this has hung its reader.
const HUNG: Duration = Duration::from_secs(10);
/// How often the reader in hand is looked at.
const LOOK_UP: Duration = Duration::from_millis(50);
/// From so many failures on a target is given up.
const FAILURES_MAX: usize = 5;

/// What `cargo xtask fuzz` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// How long each target is run
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Where inputs come from: the same seed makes the same inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only targets whose name contains this
    #[arg(long, default_value = "")]
    only: String,
}

/// What came of one target.
struct Outcome {
    inputs: u64,
    failures: Vec<PathBuf>,
}

/// Runs every target and prints how many inputs each has taken.
///
/// # Errors
/// When an input cannot be written, or a signal came.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let targets = plan::fuzz::TARGETS.iter().chain(driver::mysql::fuzz::TARGETS);
    let targets = targets.chain(system::watch::fuzz::TARGETS);
    let mut failures = Vec::new();
    panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    println!("{:>12}  target, {} s each, seed {}", "inputs", arguments.seconds, arguments.seed);
    for target in targets.filter(|target| target.name.contains(&arguments.only)) {
        let outcome = run_target(*target, arguments, &interrupt)?;
        println!("{:>12}  {}", outcome.inputs, target.name);
        failures.extend(outcome.failures);
        interrupt.check()?;
    }
    for path in &failures {
        println!("failed: {}", path.display());
    }
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs one target on a thread of its own, so that an input that never ends is noticed.
fn run_target(
    target: FuzzTarget,
    arguments: &Arguments,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let seconds = arguments.seconds;
    let hand: &'static Hand = Box::leak(Box::default());
    let inputs = Inputs::new((target.seeds)(), arguments.seed);
    let worker = thread::spawn(move || work(target, inputs, hand));
    let clock = Clock::monotonic();
    let mut last = (0, 0);
    while !worker.is_finished() {
        thread::sleep(LOOK_UP);
        let now = clock.now();
        if now >= seconds * 1_000_000_000 || interrupt.signal().is_some() {
            hand.lock().is_over = true;
        }
        let (inputs, input) = hand.look();
        if inputs != last.0 {
            last = (inputs, now);
        } else if Duration::from_nanos(now - last.1) > HUNG {
            // The thread is left behind: nothing ends it but the end of the process.
            let path = keep(target.name, inputs, &input)?;
            eprintln!("{}: an input takes more than {} s", target.name, HUNG.as_secs());
            return Ok(Outcome { inputs, failures: vec![path] });
        }
    }
    let failed = worker.join().unwrap_or_else(|cause| panic::resume_unwind(cause));
    let (inputs, _) = hand.look();
    let kept = failed.iter().map(|(number, input)| keep(target.name, *number, input));
    Ok(Outcome { inputs, failures: kept.collect::<anyhow::Result<_>>()? })
}

/// What a worker has in hand.
#[derive(Default)]
struct Hand(Mutex<InHand>);

#[derive(Default)]
struct InHand {
    inputs: u64,
    input: Vec<u8>,
    is_over: bool,
}

impl Hand {
    fn lock(&self) -> std::sync::MutexGuard<'_, InHand> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self) -> (u64, Vec<u8>) {
        let hand = self.lock();
        (hand.inputs, hand.input.clone())
    }
}

/// Takes inputs until the time is over; returns those that made the target panic, with their numbers.
fn work(target: FuzzTarget, mut inputs: Inputs, hand: &Hand) -> Vec<(u64, Vec<u8>)> {
    let mut failed = Vec::new();
    let mut input = Vec::new();
    for number in 0.. {
        inputs.next(&mut input);
        {
            let mut hand = hand.lock();
            if hand.is_over || failed.len() >= FAILURES_MAX {
                break;
            }
            hand.inputs = number + 1;
            hand.input.clone_from(&input);
        }
        if panic::catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).is_err() {
            failed.push((number, input.clone()));
        }
    }
    failed
}

/// Writes an input that failed, for a test that bears the name of what broke.
fn keep(target: &str, number: u64, input: &[u8]) -> anyhow::Result<PathBuf> {
    let folder = paths::target().join("fuzz");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join(format!("{}-{number}", target.replace(' ', "-")));
    fs::write(&path, input).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
