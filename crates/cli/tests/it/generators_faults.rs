//! Generators and runs that stand still, and connections between them that misbehave in the load: the trial goes on,
//! or it ends with a reason that says what was wrong, and nothing is left behind.

use std::process::Output;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use peers::Behaviour;
use record::TrialStatus;

use crate::generators::{TWO, generators_of, is_alive, recorded, run, transactions};
use crate::own_server::{Background, wait_until};
use crate::relay::{Direction, Relay};
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

/// The failure of a run one of whose ways misbehaves in the load, or how long its load was.
fn ending_of(direction: Direction, behaviour: Behaviour, time: &str) -> String {
    let sandbox = Sandbox::new();
    let relay = Relay::start(&sandbox, Duration::ZERO);
    let generators = format!("time = \"{time}\"\ngenerators = [\"local\", \"{}\"]", relay.place());
    let run = measuring(&sandbox, &generators);
    relay.set(direction, behaviour);
    let output = run.finish();
    assert_nothing_left(&sandbox);
    match output.status.success() {
        true => format!("complete after {time}"),
        false => failure(&sandbox, &output),
    }
}

/// What the failure of such a run says, and how long its load would last.
fn expected(direction: Direction, behaviour: Behaviour) -> (&'static str, &'static str) {
    use Behaviour::{
        Drip, Endless, Flood, HalfClose, NeverReads, Reorder, Reset, Silent, TooLong, TooShort,
    };
    match (direction, behaviour) {
        // Without commands its generator ends as planned.
        (Direction::ToGenerator, Drip) => ("complete after 3s", "3s"),
        // A message that is none of a run.
        (Direction::ToGenerator, Reorder | Endless) => ("it cannot read what it was sent", "60s"),
        // Its generator gives the load up.
        (Direction::ToGenerator, _) | (_, HalfClose | Reset) => ("the connection has ended", "60s"),
        (_, Silent | NeverReads) => ("no sign of life for 5 s", "60s"),
        (_, Flood) => ("a message of 2779096485 bytes", "60s"),
        (_, TooLong) => ("a message of 4294967295 bytes", "60s"),
        (_, TooShort) => ("a frame without its end", "60s"),
        (_, Reorder) => ("a clock frame of the wrong side", "60s"),
        // It is never silent, and its own end does not come.
        (_, Drip | Endless) => ("the load is over, and it has not reported its end", "3s"),
    }
}

#[test]
fn a_generator_whose_connection_misbehaves_in_the_load_is_lost_with_the_reason() {
    // More at the same time would keep each other from their signs of life.
    const RUNS: usize = 5;
    let ways = [Direction::FromGenerator, Direction::ToGenerator];
    let mut cases = ways.map(|way| Behaviour::ALL.map(|behaviour| (way, behaviour))).concat();
    // Reports without end are dropped up to the end of the load, which costs all of the CPU time that there is.
    cases.retain(|case| *case != (Direction::FromGenerator, Behaviour::Endless));
    thread::scope(|scope| {
        for first in 0..RUNS {
            let own = cases.iter().skip(first).step_by(RUNS);
            scope.spawn(move || {
                for &(direction, behaviour) in own {
                    let (words, time) = expected(direction, behaviour);
                    let ending = ending_of(direction, behaviour, time);
                    assert!(ending.contains(words), "{direction:?}, {behaviour:?}: {ending}");
                }
            });
        }
    });
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
