//! `dyno echo` as users start it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use net::FixedSizes;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::sandbox::{Sandbox, both, report};

#[test]
fn the_echo_server_tells_its_address_answers_and_ends_with_ctrl_c() {
    let sandbox = Sandbox::new();
    let arguments = ["echo", "--threads=2", "--request-size=3", "--response-size=5"];
    let mut child = sandbox.dyno(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("listening on ").unwrap().strip_suffix("; Ctrl-C ends it\n");
    let connect = || {
        let socket = TcpStream::connect(address.unwrap()).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        socket
    };
    let mut fixed = connect();
    fixed.write_all(b"onetwo").unwrap();
    fixed.read_exact(&mut [0; 10]).unwrap();
    let mut stated = connect();
    let sizes = FixedSizes { request: 1, answer: 2 };
    stated.write_all(&[&sizes.encode()[..], b"x"].concat()).unwrap();
    stated.read_exact(&mut [0; 2]).unwrap();
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(fixed.read(&mut [0]).unwrap_or(0), 0, "its connections are closed");
}

#[test]
fn a_port_in_use_and_half_of_the_sizes_are_refused() {
    let sandbox = Sandbox::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let message = sandbox.fail(1, ["echo", "--listen", &address]);
    assert!(message.contains(&format!("cannot serve on {address}")), "{message}");
    let message = sandbox.fail(2, ["echo", "--request-size=9"]);
    assert!(message.contains("--response-size"), "{message}");
    let message = sandbox.fail(2, ["echo", "--request-size=0", "--response-size=1"]);
    assert!(message.contains("--request-size"), "{message}");
}

#[test]
fn a_run_starts_the_echo_server_and_counts_its_answers() {
    for (protocol, own) in [("trpc", "--option=text=hello"), ("tcp", "--option=size=122")] {
        let sandbox = Sandbox::new();
        let option = format!("protocol={protocol}");
        let mut command =
            sandbox.dyno(["bench", "rpc", "--system=echo", "--system-option", &option]);
        command.args([own, "--option=connections=2", "--clients=6", "--events=3000"]);
        let report = report(command.args(["--warm-up=0", "--format=json"]));
        let trial = &report["trials"][0];
        assert_eq!(trial["status"], "complete", "{trial}");
        assert_eq!(trial["transactions"], 3000, "{trial}");
    }
}

#[test]
fn the_ceiling_of_this_machine_is_measured_without_another_program() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["ceiling", "--local", "--time=300ms", "--rounds=2"]);
    let output = command.args(["--request-size=200", "--response-size=3000"]).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let first = text.lines().next().unwrap();
    assert!(first.contains("requests of 200 B, responses of 3000 B over 16 connections"), "{text}");
    let rows: Vec<Vec<&str>> =
        text.lines().skip(3).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), ["1", "16"], "{text}");
    for row in rows {
        let rate: f64 = row[1].replace(',', "").parse().unwrap();
        assert!(rate > 0.0, "{text}");
    }
    let message = sandbox.fail(2, ["ceiling"]);
    assert!(message.contains("--to") && message.contains("--local"), "{message}");
}

#[test]
fn a_ceiling_to_a_server_that_is_not_an_echo_fails_with_what_is_needed() {
    let sandbox = Sandbox::new();
    let message = sandbox.fail(1, ["ceiling", "--to", "127.0.0.1:1", "--time=100ms"]);
    assert!(message.contains("is there a `dyno echo` at 127.0.0.1:1?"), "{message}");
}

#[test]
fn a_plan_that_asks_for_the_ceiling_has_it_in_its_report() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "plan.toml",
        "system = \"echo\"\n[workloads.call]\nkind = \"rpc\"\nconnections = 2\n\
         [load]\nclients = 6\nevents = 2000\nwarm_up = 0\n\
         [ceiling]\nrounds = 2\ntime = \"300ms\"\nin_flight = 4\n",
    );
    let report = report(&mut sandbox.dyno(["run", "plan.toml", "--format=json"]));
    let trial = &report["trials"][0];
    for key in ["ceiling_single_part", "ceiling_pipelined_part"] {
        assert!(trial[key].as_f64().unwrap() > 0.0, "{key}: {trial}");
    }
    let record = sandbox.runs()[0].join("trials/0000/trial.json");
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(record).unwrap()).unwrap();
    let ceiling = &record["ceiling"];
    // The frame that the server answers has the length of a capture's, and its answer too.
    assert_eq!((&ceiling["connections"], &ceiling["response_bytes"]), (&2.into(), &27.into()));
    assert_eq!(ceiling["loads"][1]["in_flight"], 4);
    assert_eq!(ceiling["loads"][1]["rounds"].as_array().unwrap().len(), 2);
    assert!(ceiling["loads"][0]["rounds"][0]["server_cpu_ns"].as_u64().unwrap() > 0);
}

#[test]
fn an_embedded_database_has_no_path_and_the_run_goes_on() {
    let sandbox = Sandbox::new();
    sandbox.file(
        "plan.toml",
        "system = \"sqlite\"\nceiling = true\n\
         [workloads.read]\nkind = \"sysbench/oltp_point_select\"\ntables = 1\ntable_size = 10\n\
         [load]\nevents = 50\nwarm_up = 0\n",
    );
    let output = sandbox.succeed(["run", "plan.toml"]);
    let said = both(&output);
    assert!(said.contains("the ceiling of the path was not measured"), "{said}");
    assert!(said.contains("did not go over a network"), "{said}");
}

#[test]
fn a_wrong_address_of_the_echo_server_is_refused_before_the_run() {
    let sandbox = Sandbox::new();
    sandbox
        .file("plan.toml", "system = \"echo\"\nworkload = \"rpc\"\n[ceiling]\nto = \"10.0.0.7\"\n");
    let message = sandbox.fail(2, ["run", "plan.toml"]);
    assert!(message.contains("`ceiling.to` is \"10.0.0.7\""), "{message}");
}
