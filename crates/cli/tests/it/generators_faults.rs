//! Generators and runs that stand still, and connections between them that misbehave in the load: the trial goes on,
//! or it ends with a reason that says what was wrong, and nothing is left behind.

use std::process::Output;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use record::TrialStatus;

use crate::generators::{TWO, generators_of, is_alive, recorded, run, transactions};
use crate::own_server::{Background, wait_until};
use crate::relay::{Direction, Passing, Relay};
use crate::sandbox::{Sandbox, both};
use crate::secrets::children;

/// A load that costs little: four clients that call a service.
const LOAD: &str =
    "clients = 4\nthink_time = \"5ms\"\nwarm_up = \"0s\"\ninterval = \"100ms\"\nworkers = 1\n";
const CALLS: &str = "kind = \"rpc\"\ntext = \"hello\"\nconnections = 4";
/// How long a process stands still that is not given up.
const SHORT: Duration = Duration::from_secs(2);

/// A run of such a load that has measured for a while.
fn measuring<'s>(sandbox: &'s Sandbox, load: &str) -> Background<'s> {
    let mut command = run(sandbox, "kind = \"echo\"", CALLS, &format!("{LOAD}{load}"));
    // A dyno that watched the host of a generator would need a way of its own there.
    command.arg("--set=watch=off");
    let mut run = Background::start(sandbox, &mut command);
    run.wait_for("0000", "measure", 3);
    run
}

/// A run with two generators of this machine.
fn measuring_two<'s>(sandbox: &'s Sandbox, time: &str) -> (Background<'s>, Vec<Pid>) {
    let run = measuring(sandbox, &format!("time = \"{time}\"\n{TWO}"));
    let generators = generators_of(run.pid());
    assert_eq!(generators.len(), 2);
    (run, generators)
}

/// Why the only trial failed, which has to name its generator.
fn failure(sandbox: &Sandbox, output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}", both(output));
    let (trial, parts) = recorded(sandbox);
    let TrialStatus::Failed(why) = trial.end.unwrap().status else { panic!("{}", both(output)) };
    let lost: Vec<_> = parts.iter().filter(|part| part.lost.is_some()).collect();
    let is_named = |name: &str| why.starts_with(&format!("generator {name} was lost: "));
    assert!(lost.iter().any(|part| is_named(&part.name)), "{why}: {lost:?}");
    assert_eq!(trial.total.transactions, transactions(&parts), "what was counted is kept");
    why
}

fn assert_nothing_left(sandbox: &Sandbox) {
    wait_until("nothing is left", || children(sandbox).is_empty());
}

/// The failure of a run one of whose ways misbehaves in the load.
fn failure_of(direction: Direction, passing: Passing, time: &str) -> String {
    let sandbox = Sandbox::new();
    let relay = Relay::start(&sandbox, Duration::ZERO);
    let generators = format!("time = \"{time}\"\ngenerators = [\"local\", \"{}\"]", relay.place());
    let run = measuring(&sandbox, &generators);
    relay.set(direction, passing);
    let why = failure(&sandbox, &run.finish());
    assert_nothing_left(&sandbox);
    why
}

#[test]
fn a_generator_that_sends_something_else_in_the_load_is_lost_with_what_it_was() {
    for (passing, expected) in [
        (Passing::Flood, "a message of 2779096485 bytes"),
        (Passing::TooLong, "a message of 4294967295 bytes"),
        (Passing::HalfClose, "the connection has ended"),
    ] {
        let why = failure_of(Direction::FromGenerator, passing, "60s");
        assert!(why.contains(expected), "{passing:?}: {why}");
    }
}

#[test]
fn a_generator_that_is_silent_in_the_load_is_lost() {
    let why = failure_of(Direction::FromGenerator, Passing::Silent, "60s");
    assert!(why.contains("no sign of life for 5 s"), "{why}");
}

#[test]
fn a_generator_that_drips_is_given_up_after_the_load() {
    // Its bytes come one at a time, so it is never silent, and its end does not come within a day.
    let why = failure_of(Direction::FromGenerator, Passing::Drip, "3s");
    assert!(why.contains("the load is over, and it has not reported its end"), "{why}");
}

#[test]
fn a_generator_that_gets_something_else_or_nothing_gives_the_load_up() {
    for passing in [Passing::TooLong, Passing::HalfClose, Passing::Silent] {
        let why = failure_of(Direction::ToGenerator, passing, "60s");
        assert!(why.contains("the connection has ended"), "{passing:?}: {why}");
    }
}

#[test]
fn a_generator_that_stands_still_for_a_while_goes_on() {
    let sandbox = Sandbox::new();
    let (run, generators) = measuring_two(&sandbox, "6s");
    kill(generators[1], Signal::SIGSTOP).unwrap();
    thread::sleep(SHORT);
    kill(generators[1], Signal::SIGCONT).unwrap();
    let output = run.finish();
    assert!(output.status.success(), "{}", both(&output));
    let (trial, parts) = recorded(&sandbox);
    assert_eq!(trial.end.as_ref().unwrap().status, TrialStatus::Complete);
    assert_eq!(trial.total.transactions, transactions(&parts));
    // It knows that it stood still.
    let stalls = parts.iter().flat_map(|part| &part.generator.as_ref().unwrap().stalls);
    let longest_ns = stalls.map(|stall| u128::from(stall.length_ns())).max();
    assert!(longest_ns >= Some(SHORT.as_nanos() / 2), "{longest_ns:?}");
}

#[test]
fn a_generator_that_stands_still_for_good_is_lost_and_killed() {
    let sandbox = Sandbox::new();
    let (run, generators) = measuring_two(&sandbox, "60s");
    kill(generators[0], Signal::SIGSTOP).unwrap();
    wait_until("the loss is told", || run.stderr_text().contains(" is lost: no sign of life"));
    let why = failure(&sandbox, &run.finish());
    assert!(why.contains(" was lost: no sign of life for 5 s"), "{why}");
    assert!(!generators.iter().any(|generator| is_alive(*generator)));
}

#[test]
fn a_run_that_stands_still_for_a_while_loses_nothing() {
    let sandbox = Sandbox::new();
    let (run, _) = measuring_two(&sandbox, "6s");
    run.signal(Signal::SIGSTOP);
    thread::sleep(SHORT);
    run.signal(Signal::SIGCONT);
    let output = run.finish();
    assert!(output.status.success(), "{}", both(&output));
    let (trial, parts) = recorded(&sandbox);
    assert_eq!(trial.end.as_ref().unwrap().status, TrialStatus::Complete);
    assert_eq!(trial.total.transactions, transactions(&parts));
    assert_eq!(trial.intervals.last().unwrap().end_ns, 6_000_000_000);
}

#[test]
fn a_run_that_stands_still_for_long_has_lost_its_generators() {
    let sandbox = Sandbox::new();
    let (run, generators) = measuring_two(&sandbox, "60s");
    run.signal(Signal::SIGSTOP);
    wait_until("the generators have ended", || !generators.iter().any(|it| is_alive(*it)));
    run.signal(Signal::SIGCONT);
    let why = failure(&sandbox, &run.finish());
    assert!(why.contains("its process has ended"), "{why}");
    assert_nothing_left(&sandbox);
}
