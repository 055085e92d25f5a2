//! Generators that are reached in several ways, and over networks that are slow, narrow or lose packets.

use std::time::Duration;

use measure::{ClockComparison, LatencyHistogram, Phase, transaction_latencies};
use record::{GeneratorRecord, TrialEnd, TrialRecord, TrialStatus};
use serde_json::Value;

use crate::generators::{mysql, recorded, run, transactions};
use crate::network::Network;
use crate::other_hosts::NARROW;
use crate::own_server::{OwnServer, wait_until};
use crate::relay::Relay;
use crate::sandbox::{Sandbox, both, json, report};
use crate::secrets::children;
use crate::server;
use crate::sshd::Sshd;
use crate::tpcc::conditions;

/// How long a way takes that is slow.
const SLOW: Duration = Duration::from_millis(100);
/// A loopback on which rules can drop packets.
const LOSSY: &str = "ip link set lo up && nft add table inet lossy && \
                     nft 'add chain inet lossy arrivals { type filter hook input priority 0; }'";

/// Every figure of the trial is the sum of those that its generators sent.
fn assert_merged(trial: &TrialRecord, parts: &[GeneratorRecord]) {
    let end = trial.end.as_ref().unwrap();
    assert_eq!(end.status, TrialStatus::Complete);
    assert!(parts.iter().all(|part| part.lost.is_none() && part.transactions > 0), "{parts:?}");
    assert_eq!(trial.total.transactions, transactions(parts));
    let sum =
        |of: fn(&GeneratorRecord) -> &LatencyHistogram| LatencyHistogram::sum(parts.iter().map(of));
    let due = end.edges.due(&trial.total);
    let latencies = transaction_latencies(&trial.header.operations, &due);
    assert_eq!(sum(|part| &part.latencies), latencies);
    assert_eq!(sum(|part| &part.lateness), end.lateness);
    assert_eq!(sum(|part| &part.start_delays), end.start_delays);
}

fn assert_same_clock(compared: ClockComparison) {
    assert!(compared.offset_ns.unsigned_abs() <= compared.uncertainty_ns, "{compared:?}");
}

#[test]
fn eight_generators_reached_in_three_ways_count_what_the_server_counts() {
    let (server, sandbox) = (OwnServer::start(&[]), Sandbox::new());
    let sshd = Sshd::start(&sandbox);
    let [ssh, local, command] = [sshd.place(), "local".to_owned(), "command:env A=b".to_owned()];
    let places = [&local, &ssh, &command, &local, &ssh, &command, &local, &command];
    let places = places.map(|place| format!("{place:?}")).join(", ");
    let load = format!(
        "clients = 16\nevents = 1600\nwarm_up = \"500ms\"\nworkers = 1\ngenerators = [{places}]"
    );
    let workload = "kind = \"ycsb/a\"\nrecordcount = 500";
    let report = report(&mut run(&sandbox, &mysql(&server.url()), workload, &load));
    let trial = &report["trials"][0];
    assert_eq!((&trial["status"], &trial["transactions"]), (&"complete".into(), &1600.into()));
    assert_eq!(trial["cross_check"]["difference"], 0, "{}", trial["cross_check"]);
    let (record, parts) = recorded(&sandbox);
    assert_merged(&record, &parts);
    // Each has two of sixteen clients, and an eighth of the transactions.
    let counts: Vec<u64> = parts.iter().map(|part| part.transactions).collect();
    assert_eq!(counts, [200; 8]);
    for part in &parts {
        let clock = part.clock.unwrap();
        [clock.start, clock.end.unwrap()].into_iter().for_each(assert_same_clock);
    }
    let [host] = &record.watched.hosts[..] else { panic!("{:?}", record.watched.hosts) };
    let names = host.processes.iter().map(|process| process.name.as_str());
    assert_eq!(names.filter(|name| *name == "dyno-generator").count(), 8, "{host:?}");
    assert!(children(&sandbox).is_empty());
    wait_until("nothing is left over there", || sshd.started().is_empty());
}

/// How often an operation succeeded, also after the window.
fn succeeded(trial: &TrialRecord, name: &str) -> u64 {
    let TrialEnd { edges, .. } = trial.end.as_ref().unwrap();
    let place = trial.header.operations.iter().position(|it| it.name == name).unwrap();
    let tallies = [&trial.total.operations, &edges.drain.operations];
    tallies.map(|operations| operations[place].succeeded.count()).iter().sum()
}

#[test]
fn the_orders_of_several_generators_are_numbered_by_the_districts_without_a_gap() {
    let (server, sandbox) = (OwnServer::start(&[]), Sandbox::new());
    let load = "clients = 6\nevents = 690\nwarm_up = \"0s\"\nworkers = 1\n\
                generators = [\"local\", \"command:env A=b\", \"local\"]";
    let workload = "kind = \"tpcc\"\nwarehouses = 1";
    let report = report(&mut run(&sandbox, &mysql(&server.url()), workload, load));
    let trial = &report["trials"][0];
    assert_eq!((&trial["transactions"], &trial["failed_transactions"]), (&690.into(), &0.into()));
    assert_eq!(conditions(trial, "broken"), Vec::<String>::new());
    assert_eq!(conditions(trial, "holds").len(), 13);
    assert_eq!(trial["cross_check"]["difference"], 0, "{}", trial["cross_check"]);
    let (record, parts) = recorded(&sandbox);
    assert_merged(&record, &parts);
    let counts: Vec<u64> = parts.iter().map(|part| part.transactions).collect();
    assert_eq!(counts, [230; 3]);
    // A district is loaded with 3,000 orders.
    let numbered = server.sql("SELECT SUM(d_next_o_id - 3001) FROM district");
    assert_eq!(numbered.trim(), succeeded(&record, "new_order").to_string());
}

#[test]
fn clients_that_cannot_be_shared_out_evenly_are_shared_out_and_too_few_are_refused() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_generators_uneven");
    let workload = "kind = \"ycsb/c\"\nrecordcount = 100";
    let locals = |count: usize| format!("generators = [{}]", "\"local\", ".repeat(count));
    let few = format!("clients = 3\nevents = 30\n{}", locals(8));
    let refused = run(&sandbox, &mysql(&url), workload, &few).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", both(&refused));
    let told = "`generators` has 8 places, but a trial has only 3 connections";
    assert!(both(&refused).contains(told), "{}", both(&refused));
    let load = format!("clients = 11\nevents = 1100\nwarm_up = \"0s\"\nworkers = 1\n{}", locals(4));
    report(&mut run(&sandbox, &mysql(&url), workload, &load));
    let (record, parts) = recorded(&sandbox);
    assert_merged(&record, &parts);
    let counts: Vec<u64> = parts.iter().map(|part| part.transactions).collect();
    assert_eq!(counts, [200, 300, 300, 300], "2, 3, 3 and 3 clients");
}

#[test]
fn a_slow_way_to_a_generator_changes_neither_its_phases_nor_its_counts() {
    let sandbox = Sandbox::new();
    let relay = Relay::start(&sandbox, SLOW);
    let url = server::database("dyno_generators_slow");
    let workload = "kind = \"ycsb/c\"\nrecordcount = 1000";
    let load = format!(
        "clients = 8\ntime = \"2s\"\nwarm_up = \"500ms\"\ninterval = \"250ms\"\nrate = 200\n\
         arrivals = \"constant\"\ngenerators = [\"local\", \"{}\"]",
        relay.place()
    );
    // A dyno that watched the host of the generator would need a way of its own there.
    report(run(&sandbox, &mysql(&url), workload, &load).arg("--set=watch=off"));
    let (record, parts) = recorded(&sandbox);
    assert_merged(&record, &parts);
    let delays: Vec<u64> = parts.iter().map(|part| part.start_delays.count()).collect();
    assert_eq!(delays, [200, 200], "every second arrival");
    let clock = parts[1].clock.unwrap();
    for compared in [clock.start, clock.end.unwrap()] {
        assert_same_clock(compared);
        // All that an answer tells is that it was given on the way, which is that long in each direction.
        assert!(u128::from(compared.uncertainty_ns) >= SLOW.as_nanos(), "{compared:?}");
    }
    let phases = record.intervals.iter().map(|it| (it.phase, it.end_ns / 1_000_000));
    let phase = |at: u64| if at <= 2 { Phase::WarmUp } else { Phase::Measure };
    assert_eq!(
        phases.collect::<Vec<_>>(),
        (1..=10).map(|at| (phase(at), 250 * at)).collect::<Vec<_>>()
    );
}

/// A run inside a network with one generator there and one over ssh; each makes half of the calls.
fn calls_inside(sandbox: &Sandbox, network: &Network, sshd: &Sshd<'_>) -> Value {
    let load = format!(
        "clients = 6\nevents = 3000\nwarm_up = \"0s\"\ngenerators = [\"local\", \"{}\"]",
        sshd.place()
    );
    let workload = "kind = \"rpc\"\ntext = \"hello\"\nconnections = 2";
    let command = run(sandbox, "kind = \"echo\"", workload, &load);
    let output = network.inside(&command).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let (record, parts) = recorded(sandbox);
    assert_merged(&record, &parts);
    let counts: Vec<u64> = parts.iter().map(|part| part.transactions).collect();
    assert_eq!(counts, [1_500, 1_500]);
    assert_same_clock(parts[1].clock.unwrap().start);
    json(&output)["trials"][0].clone()
}

#[test]
fn a_way_that_loses_packets_loses_no_count() {
    let sandbox = Sandbox::new();
    let network = Network::new(LOSSY);
    let sshd = Sshd::start_by(&sandbox, &network.words());
    for direction in ["sport", "dport"] {
        let port = sshd.port.to_string();
        let rule = ["nft", "add", "rule", "inet", "lossy", "arrivals", "tcp", direction, &port];
        // Not at random: one that is lost twice in turn comes too late for the begin of the load.
        let each_twentieth = ["numgen", "inc", "mod", "20", "==", "0", "counter", "drop"];
        network.shows(&[&rule[..], &each_twentieth].concat());
    }
    let trial = calls_inside(&sandbox, &network, &sshd);
    assert_eq!(trial["transactions"], 3000, "{trial}");
    let rules = network.shows(&["nft", "list", "ruleset"]);
    let dropped = rules.split("counter packets ").skip(1).map(|rest| !rest.starts_with("0 "));
    assert_eq!(dropped.collect::<Vec<bool>>(), [true; 2], "{rules}");
}

#[test]
fn a_narrow_way_loses_no_count() {
    let sandbox = Sandbox::new();
    let network = Network::new(NARROW);
    let sshd = Sshd::start_by(&sandbox, &network.words());
    let trial = calls_inside(&sandbox, &network, &sshd);
    assert_eq!(trial["transactions"], 3000, "{trial}");
}

#[test]
fn the_command_line_names_generators() {
    let sandbox = Sandbox::new();
    let url = server::database("dyno_generators_bench");
    let mut command = sandbox.dyno(["bench", "ycsb/c", "--clients=4", "--events=400"]);
    command.args(["--system", &url, "--option=recordcount=100", "--warm-up=0s", "--format=json"]);
    report(command.args(["--generators=local,command:env A=b"]));
    let (record, parts) = recorded(&sandbox);
    assert_merged(&record, &parts);
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["local", "command:env A=b"]);
    assert_eq!(parts.iter().map(|part| part.transactions).collect::<Vec<_>>(), [200, 200]);
}
