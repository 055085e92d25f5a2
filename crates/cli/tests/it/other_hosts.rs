//! Hosts that dyno reaches: over a real SSH server, by a command, and with programs in place of kubectl, docker and srun.
//! The other host is always this one, so both must report the same.

use std::fs;
use std::process::Command;

use measure::{Host, HostReading};
use nix::sys::signal::Signal;
use record::Run;

use crate::network::Network;
use crate::own_server::{Background, wait_until};
use crate::sandbox::{Sandbox, both};
use crate::sshd::Sshd;

fn plan(sandbox: &Sandbox, endpoints: &str, time: &str) {
    let text = format!(
        "system = \"sqlite\"\n[workloads.w]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 100\n\
         [watch]\nendpoints = [{endpoints}]\n[load]\nclients = 1\nwarm_up = \"0s\"\ntime = \"{time}\"\n"
    );
    sandbox.file("plan.toml", &text);
}

/// `dyno run` with the sandbox's programs before all others.
fn run(sandbox: &Sandbox) -> Command {
    let mut command = sandbox.dyno(["run", "plan.toml"]);
    sandbox.with_programs(&mut command);
    command
}

/// A program in place of another: it takes these words, and then runs what follows.
fn stand_in(sandbox: &Sandbox, name: &str, words: &str, count: usize) {
    let script = format!(
        "#!/bin/sh\ncase \"$* \" in\n\"{words} sh -c \"*) shift {count}; exec \"$@\" ;;\nesac\n\
         echo \"{name}: not for me: $*\" >&2; exit 9\n"
    );
    sandbox.program(name, &script);
}

/// The hosts of the only trial.
fn hosts(sandbox: &Sandbox) -> Vec<Host> {
    Run::open(&sandbox.runs()[0]).unwrap().trials[0].watched.hosts.clone()
}

/// A counter of one host, read twice over: it never goes back, whoever has read it. Readings that are closer than the
/// margin are not compared, because a thread may have stood still between the counter and the clock.
fn is_one_clock(here: &[HostReading], there: &[HostReading]) {
    const MARGIN_NS: u64 = 1_000_000_000;
    let mut compared = 0;
    for (one, other) in [(here, there), (there, here)] {
        for early in one {
            for late in other.iter().filter(|it| it.at_ns > early.at_ns + MARGIN_NS) {
                assert!(early.context_switches < late.context_switches, "{early:?} {late:?}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 4, "{compared} pairs");
}

#[test]
fn a_host_is_watched_over_ssh_with_its_processes_and_on_our_clock() {
    let sandbox = Sandbox::new();
    let sshd = Sshd::start(&sandbox);
    let place = sshd.place();
    let endpoint = format!("{{ name = \"db1\", url = \"{place}\", processes = [\"sshd\"] }}");
    plan(&sandbox, &endpoint, "4s");
    let output = run(&sandbox).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    assert!(!both(&output).contains("not everything was watched"), "{}", both(&output));
    let hosts = hosts(&sandbox);
    let [here, there] = &hosts[..] else { panic!("two hosts: {hosts:?}") };
    assert_eq!((there.name.as_str(), there.place.as_deref()), ("db1", Some(place.as_str())));
    assert_eq!(here.place, None);
    assert_eq!((there.cpu_threads, there.memory_bytes), (here.cpu_threads, here.memory_bytes));
    assert!(there.readings.len() >= 4, "{}", there.readings.len());
    is_one_clock(&here.readings, &there.readings);
    assert!(there.processes.iter().all(|it| it.name == "sshd") && !there.processes.is_empty());
    let first = there.readings[0].processes.iter().flatten().next().unwrap();
    assert!(first.threads >= 1);
    let page = crate::sandbox::whole_page(&sandbox.runs()[0]);
    assert!(page.contains("db1"));
    wait_until("nothing is left over there", || sshd.started().is_empty());
}

#[test]
fn containers_pods_nodes_and_commands_are_reached() {
    let sandbox = Sandbox::new();
    stand_in(&sandbox, "docker", "exec -i c1", 3);
    stand_in(&sandbox, "kubectl", "exec -i -n load p-0 --", 6);
    stand_in(&sandbox, "srun", "-N1 -n1 --overlap -w n07", 5);
    let places = ["docker://c1", "kubectl://load/p-0", "srun://n07", "command:env 'A B=c'"];
    plan(&sandbox, &places.map(|place| format!("\"{place}\"")).join(", "), "2s");
    let output = run(&sandbox).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let hosts = hosts(&sandbox);
    let names: Vec<&str> = hosts[1..].iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, places, "{}", both(&output));
    assert!(hosts.iter().all(|host| host.readings.len() >= 2));
    // No copy is left.
    let left = fs::read_dir(sandbox.path()).unwrap().flatten();
    let copies = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("dyno."));
    assert_eq!(copies.count(), 0);
}

#[test]
fn hosts_that_are_not_reached_are_notes_with_the_reason() {
    let sandbox = Sandbox::new();
    let sshd = Sshd::start(&sandbox);
    sandbox.program("kubectl", "#!/bin/sh\necho 'Error: pods \"p-9\" not found' >&2; exit 1\n");
    sandbox.program("docker", "#!/bin/sh\nprintf '\\33[31mno\\n' >&2; exit 1\n");
    let mut places = vec!["kubectl://load/p-9".to_owned(), "docker://c".to_owned()];
    places.push("command:no-such-program-anywhere".to_owned());
    places.push("ssh://127.0.0.1:1".to_owned());
    for (key, known_hosts, expected) in [
        ("other_key", "known_hosts", "Permission denied (publickey"),
        ("user_key", "no_hosts", "Host key verification failed"),
    ] {
        sshd.client(key, known_hosts);
        places.push(sshd.place());
        let listed: Vec<String> = places.iter().map(|place| format!("\"{place}\"")).collect();
        plan(&sandbox, &listed.join(", "), "500ms");
        let output = run(&sandbox).output().unwrap();
        assert!(output.status.success(), "{}", both(&output));
        let text = both(&output);
        for expected in [
            expected,
            "pods \"p-9\" not found",
            "\\u{1b}[31mno",
            "cannot start no-such-program-anywhere",
            "Connection refused",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        places.pop();
    }
}

/// A narrow loopback, whose queue is so short that it loses packets. With half of that queue, TCP
/// waits for its timer again and again, and a copy of dyno takes minutes in place of seconds.
pub(crate) const NARROW: &str = "ip link set lo mtu 1500 up && \
                      tc qdisc add dev lo root tbf rate 800mbit burst 30kb limit 40kb";

pub(crate) fn assert_packets_were_lost(network: &Network) {
    let queue = network.shows(&["tc", "-s", "qdisc", "show", "dev", "lo"]);
    assert!(queue.contains("tbf") && !queue.contains("dropped 0,"), "no packet was lost: {queue}");
}

#[test]
fn a_narrow_network_that_loses_packets_carries_program_and_readings() {
    let sandbox = Sandbox::new();
    let network = Network::new(NARROW);
    let sshd = Sshd::start_by(&sandbox, &network.words());
    plan(&sandbox, &format!("\"{}\"", sshd.place()), "3s");
    let output = network.inside(&run(&sandbox)).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let hosts = hosts(&sandbox);
    assert_eq!(hosts.len(), 2, "{}", both(&output));
    assert!(hosts[1].readings.len() >= 3);
    is_one_clock(&hosts[0].readings, &hosts[1].readings);
    assert_packets_were_lost(&network);
}

/// A run that watches a host over ssh, when it has readings of it.
fn watching<'s>(sandbox: &'s Sandbox, sshd: &Sshd<'_>) -> Background<'s> {
    plan(sandbox, &format!("\"{}\"", sshd.place()), "10m");
    let mut run = Background::start(sandbox, &mut run(sandbox));
    run.wait_for_record("the other host is watched", |trial| {
        trial.watched.hosts.get(1).is_some_and(|host| host.readings.len() > 1)
    });
    run
}

#[test]
fn nothing_is_left_over_there_when_dyno_is_killed() {
    let sandbox = Sandbox::new();
    let sshd = Sshd::start(&sandbox);
    let run = watching(&sandbox, &sshd);
    assert!(!sshd.started().is_empty());
    run.signal(Signal::SIGKILL);
    wait_until("nothing is left over there", || sshd.started().is_empty());
    run.finish();
}

#[test]
fn a_host_that_is_lost_during_the_load_is_a_note_and_the_load_goes_on() {
    let sandbox = Sandbox::new();
    let sshd = Sshd::start(&sandbox);
    let mut run = watching(&sandbox, &sshd);
    for pid in sshd.started() {
        let pid = nix::unistd::Pid::from_raw(pid.cast_signed());
        // One of them may have ended with another.
        let _ = nix::sys::signal::kill(pid, Signal::SIGKILL);
    }
    let readings =
        |trial: &record::TrialRecord, host: usize| trial.watched.hosts[host].readings.len();
    wait_until("nothing is left over there", || sshd.started().is_empty());
    let before = Run::open(&sandbox.runs()[0]).unwrap();
    let before = readings(&before.trials[0], 0);
    run.wait_for_record("the load goes on", |trial| readings(trial, 0) > before + 3);
    run.interrupt();
    let output = run.finish();
    let text = both(&output);
    assert!(text.contains("not everything was watched") && text.contains("has ended"), "{text}");
}
