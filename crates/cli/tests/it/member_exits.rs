//! A cluster that loses servers: in a run, where the record names them and their cost is an outage or nothing, and in
//! `dyno up`, which starts them again.

use std::fs;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use record::{Run, TrialRecord};
use serde_json::Value;

use crate::own_server::{Background, wait_until};
use crate::ping::{Ping, in_network_of};
use crate::sandbox::{Sandbox, both, json};
use crate::server::login;
use crate::tidb::{is_there, login_in};
use crate::tidb_cluster::{
    STORE, dyno_apart, plan, program, servers_of, stand_in_for_tikv, trials,
};

const AGREE_S: f64 = 0.2;

fn kill_now(pid: i32) {
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
}

/// The port in an argument of a process, such as `-P` `4000`, or `--addr=127.0.0.1:20160`.
fn port_of(pid: i32, argument: &str) -> u16 {
    let said = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    let mut words = said.split('\0').skip_while(|word| !word.starts_with(argument));
    let (word, next) = (words.next().unwrap(), words.next().unwrap());
    let value = word.rsplit_once(':').map_or(next, |(_, port)| port);
    value.parse().unwrap_or_else(|_| panic!("{argument}: {said:?}"))
}

/// The answer to a query as the user `ping`, in the network of a server.
fn sql(tidb: i32, port: u16, query: &str) -> String {
    let mut client = in_network_of(tidb, "mariadb");
    client.args(["--no-defaults", "--batch", "--skip-column-names", "--user=ping"]);
    client.args(["--host=127.0.0.1", &format!("--port={port}"), "--execute", query]);
    let output = client.output().unwrap();
    assert!(output.status.success(), "{query}: {}", both(&output));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The place among three stores of the one that leads all regions.
fn leader(tidb: i32, port: u16, stores: &[i32]) -> usize {
    let query = "SELECT DISTINCT ADDRESS FROM information_schema.TIKV_REGION_PEERS \
                 JOIN information_schema.TIKV_STORE_STATUS USING (STORE_ID) WHERE IS_LEADER = 1";
    let address = sql(tidb, port, query);
    let is_leader = |pid: &i32| address == format!("127.0.0.1:{}", port_of(*pid, "--addr="));
    stores.iter().position(is_leader).unwrap_or_else(|| panic!("leaders: {address:?}"))
}

/// Kills a server; returns its name.
fn kill_one(what: &str, servers: &[(String, i32)], leads: usize) -> String {
    let (place, name) = match what {
        "follower" => ((leads + 1) % 3 + 1, format!("tikv-{}", (leads + 1) % 3 + 1)),
        "leader" => (leads + 1, format!("tikv-{}", leads + 1)),
        _ => (4, "tidb".to_owned()),
    };
    kill_now(servers[place].1);
    name
}

/// The trial has one exit, of this server, between these times.
pub(crate) fn assert_exit(trial: &TrialRecord, name: &str, (from, to): (SystemTime, SystemTime)) {
    let [exit] = &trial.member_exits[..] else { panic!("{:?}", trial.member_exits) };
    assert_eq!(exit.member, name);
    assert!(name.starts_with(&exit.role), "{exit:?}");
    assert_eq!((exit.status.as_str(), exit.log.as_str()), ("signal: 9 (SIGKILL)", ""));
    let started = trial.end.as_ref().unwrap().measure_started.unwrap();
    let since = |time: SystemTime| {
        let started = SystemTime::from(started);
        time.duration_since(started).unwrap_or_default().as_secs_f64()
    };
    let at = exit.at_ns.unwrap() as f64 / 1e9;
    assert!(since(from) - AGREE_S < at && at < since(to) + AGREE_S, "{exit:?} {}", since(from));
}

fn codes(trial: &Value) -> Vec<&str> {
    let findings = trial["warnings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

/// In each of three trials a server is killed: a store that leads nothing, the one that leads, and the only TiDB.
#[test]
fn a_store_that_follows_costs_nothing_and_one_that_leads_the_outage_that_a_ping_saw() {
    let sandbox = Sandbox::new();
    let load = "[sql]\nbefore_run = [\"CREATE USER IF NOT EXISTS ping\", \"GRANT ALL ON *.* TO ping\"]\n\
                [workloads.point]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 200\n\
                [load]\nrate = 30\narrivals = \"constant\"\nclients = [130, 131, 132]\ntime = \"25s\"\nwarm_up = \"0s\"\n";
    sandbox.file("plan.toml", &(plan(&sandbox, &program("TIKV"), "") + load));
    // An election takes 2 to 4 s.
    let patient = STORE.replace("election-timeout-ticks = 10", "election-timeout-ticks = 20");
    assert_ne!(patient, STORE);
    sandbox.file("store.toml", &patient);
    let mut command = dyno_apart(&sandbox, ["run", "plan.toml", "--format=json"]);
    let mut run = Background::start(&sandbox, &mut command);
    let mut killed = Vec::new();
    for (trial, what) in [("0000", "follower"), ("0001", "leader"), ("0002", "tidb")] {
        run.wait_for(trial, "measure", 2);
        let servers = servers_of(&sandbox);
        assert_eq!(servers.len(), 5, "each trial begins with a whole cluster: {servers:?}");
        let tidb = servers[4].1;
        let port = port_of(tidb, "-P");
        let stores: Vec<i32> = servers[1..4].iter().map(|(_, pid)| *pid).collect();
        let leads = leader(tidb, port, &stores);
        let url = format!("mysql://ping@127.0.0.1:{port}/test");
        let ping = (what != "tidb").then(|| Ping::start(&sandbox, tidb, &url));
        let from = SystemTime::now();
        let name = kill_one(what, &servers, leads);
        wait_until("it is gone", || servers_of(&sandbox).len() < 5);
        let window = (from, SystemTime::now());
        run.wait_until_trial_ends(trial);
        killed.push((name, window, ping.map(Ping::longest_gap_s)));
    }
    let output = run.finish();
    assert_eq!(servers_of(&sandbox), []);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let record = Run::open(&sandbox.runs()[0]).unwrap();
    for (trial, (name, window, _)) in record.trials.iter().zip(&killed) {
        assert_exit(trial, name, *window);
        let note = format!("{name} exited (signal: 9 (SIGKILL)); the others go on without it");
        assert!(told.contains(&note), "{told}");
    }
    let report = json(&output);
    let [follower, leader, tidb] = &trials(&report)[..] else { panic!("{}", both(&output)) };
    for trial in [follower, leader] {
        assert_eq!(trial["status"], "complete", "{}", both(&output));
        assert_eq!(trial["failed_transactions"], 0, "{}", trial["errors"]);
        assert!(codes(trial).contains(&"member-exited"), "{trial}");
    }
    assert_eq!(follower["outages"], serde_json::json!([]));
    let [outage] = &record.trials[1].outages[..] else { panic!("{}", leader["outages"]) };
    let length = outage.length_ns(0) as f64 / 1e9;
    let seen = killed[1].2.unwrap();
    assert!((length - seen).abs() < AGREE_S, "dyno saw {length} s, the ping {seen} s");
    let exited = record.trials[1].member_exits[0].at_ns.unwrap();
    let begins_after = outage.start_ns as f64 / 1e9 - exited as f64 / 1e9;
    assert!(begins_after.abs() < AGREE_S, "{outage:?} {exited}");
    assert_eq!(tidb["status"], "crashed", "{}", both(&output));
    let reason = tidb["reason"].as_str().unwrap();
    let unserved = "no client can be served any more: of 1 tidb, 0 run and 1 is needed\ntidb: TiDB ended by itself";
    assert!(reason.starts_with(unserved), "{reason}");
    let page = crate::sandbox::whole_page(&sandbox.runs()[0]);
    for (name, _, _) in &killed {
        assert!(page.contains(&format!(">{name} exited</text>")), "{name}");
    }
}

#[test]
fn clients_of_a_tidb_that_is_gone_move_to_the_other_one() {
    let sandbox = Sandbox::new();
    let load = "[workloads.point]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 200\n\
                [load]\nclients = 4\nthink_time = \"20ms\"\ntime = \"12s\"\nwarm_up = \"0s\"\n";
    let system = plan(&sandbox, &program("TIKV"), "stores = 1\ntidbs = 2\n");
    sandbox.file("plan.toml", &(system + load));
    let mut command = dyno_apart(&sandbox, ["run", "plan.toml", "--format=json"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 2);
    let servers = servers_of(&sandbox);
    let [.., (_, first), (name, second)] = &servers[..] else { panic!("{servers:?}") };
    assert_ne!(port_of(*first, "-P"), port_of(*second, "-P"));
    kill_now(*second);
    let output = run.finish();
    let report = json(&output);
    let [trial] = &trials(&report)[..] else { panic!("{}", both(&output)) };
    assert_eq!(trial["status"], "complete", "{name}: {}", both(&output));
    // Each TiDB had two clients.
    assert_eq!((&trial["reconnects"], &trial["moves"]), (&2.into(), &2.into()), "{trial}");
    let record = Run::open(&sandbox.runs()[0]).unwrap();
    let [exit] = &record.trials[0].member_exits[..] else { panic!("{}", both(&output)) };
    assert_eq!((exit.member.as_str(), exit.role.as_str()), ("tidb-2", "tidb"));
}

/// The line of `dyno up --list` about a server.
fn line_of(sandbox: &Sandbox, server: &str) -> String {
    let listed = sandbox.succeed(["up", "--list"]).stdout;
    let listed = String::from_utf8(listed).unwrap();
    let is_of = |line: &&str| match line.strip_prefix("  process  ") {
        Some(process) => process.ends_with(&format!(" ({server})")),
        None => line.starts_with(&format!("  exited   {server} ")),
    };
    listed.lines().find(is_of).unwrap_or_default().to_owned()
}

/// The process of a server; `None` once it has exited.
fn pid_of(sandbox: &Sandbox, server: &str) -> Option<i32> {
    let line = line_of(sandbox, server);
    line.strip_prefix("  process  ")?.split(' ').next()?.parse().ok()
}

#[test]
fn a_cluster_that_is_up_goes_on_without_a_server_and_starts_it_again() {
    let sandbox = Sandbox::new();
    plan(&sandbox, "", "");
    let stand_in = stand_in_for_tikv(&sandbox);
    let mut command = dyno_apart(&sandbox, ["up", "tidb-cluster"]);
    for (name, value) in [
        ("pd", program("PD")),
        ("tikv", stand_in),
        ("tidb", program("TIDB")),
        ("tikv_config", sandbox.path().join("store.toml").display().to_string()),
        ("tidb_config", sandbox.path().join("tidb-server.toml").display().to_string()),
        ("tikv_env", "{ GOLANG_PROTOBUF_REGISTRATION_CONFLICT = \"ignore\" }".to_owned()),
    ] {
        command.arg(format!("--option={name}={value}"));
    }
    let errors = sandbox.path().join("up-errors");
    command.stdout(Stdio::null()).stderr(fs::File::create(&errors).unwrap());
    let mut up = command.spawn().unwrap();
    let said = || fs::read_to_string(&errors).unwrap();
    wait_until("it is up", || pid_of(&sandbox, "tidb").is_some());
    let names = ["pd", "tikv-1", "tikv-2", "tikv-3", "tidb"];
    let pids = names.map(|name| pid_of(&sandbox, name).unwrap());
    for (name, pid) in [("tikv-2", pids[2]), ("tidb", pids[4])] {
        kill_now(pid);
        let exited = format!(
            "  exited   {name} (signal: 9 (SIGKILL)); `dyno up --start {name}` starts it again"
        );
        wait_until("its exit is listed", || line_of(&sandbox, name) == exited);
        let others: Vec<bool> = pids.iter().map(|pid| is_there(*pid)).collect();
        assert_eq!(
            others.iter().filter(|is_there| **is_there).count(),
            if name == "tidb" { 3 } else { 4 }
        );
    }
    let told = said();
    assert!(told.contains("tikv-2 exited (signal: 9 (SIGKILL)), the others go on"), "{told}");
    assert!(told.contains("no client can be served any more: of 1 tidb, 0 run"), "{told}");
    let refused = sandbox.fail(1, ["up", "--start=tikv-9"]);
    let all = "there is no tikv-9 in this cluster: it has pd, tikv-1, tikv-2, tikv-3, tidb";
    assert!(refused.contains(all), "{refused}");
    let refused = sandbox.fail(1, ["up", "--start=tikv-1"]);
    assert!(refused.contains("has not ended"), "{refused}");
    assert!(sandbox.fail(1, ["up", "--start=tidb", "mariadb"]).contains("no system is up"));
    for (name, pid) in [("tikv-2", pids[2]), ("tidb", pids[4])] {
        let output = sandbox.succeed(["up", &format!("--start={name}"), "tidb-cluster"]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with(&format!("started: {name} of TiDB")), "{text}");
        assert_ne!(pid_of(&sandbox, name).unwrap(), pid);
    }
    the_cluster_answers(&sandbox);
    kill(Pid::from_raw(up.id().cast_signed()), Signal::SIGINT).unwrap();
    assert!(up.wait().unwrap().success(), "{}", said());
    assert_eq!(servers_of(&sandbox), []);
    assert_eq!(sandbox.succeed(["up", "--list"]).stdout, b"no system is up\n");
}

/// Every store is up again, and TiDB answers to the login that it had before.
fn the_cluster_answers(sandbox: &Sandbox) {
    let listed = String::from_utf8(sandbox.succeed(["up", "--list"]).stdout).unwrap();
    let login = login(&login_in(&listed));
    let tidb = pid_of(sandbox, "tidb").unwrap();
    let stores = || {
        let mut client: Command = in_network_of(tidb, "mariadb");
        client.args(["--no-defaults", "--batch", "--skip-column-names", "--host=127.0.0.1"]);
        client.args([format!("--user={}", login.user), format!("--port={}", login.port)]);
        client.env("MYSQL_PWD", &login.password).arg("--execute");
        let query = "SELECT COUNT(*) FROM information_schema.TIKV_STORE_STATUS \
                     WHERE STORE_STATE_NAME = 'Up'";
        String::from_utf8(client.arg(query).output().unwrap().stdout).unwrap()
    };
    wait_until("every store is up", || stores() == "3\n");
}
