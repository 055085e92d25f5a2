//! Complete runs on a cluster: PD, three Raft stores in Go that speak TiKV's protocol, and a TiDB of 2021. The stores
//! listen on all interfaces, so each cluster has its own network.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use record::Run;
use serde_json::Value;

use crate::member_exits::assert_exit;
use crate::own_server::{Background, wait_until};
use crate::sandbox::{Sandbox, both, json};

/// Elections and heartbeats of a store within a second instead of the usual minute.
pub(crate) const STORE: &str = "[server]\nlog-level = \"warn\"\n[raftstore]\npd-heartbeat-tick-interval = \"1s\"\n\
                     raft-base-tick-interval = \"100ms\"\nraft-heartbeat-ticks = 2\n\
                     raft-election-timeout-ticks = 10\nraft-store-max-leader-lease = \"900ms\"\n";

/// TiDB's default of a region for each table would only cost time here.
const TIDB: &str = "split-table = false\n";

/// A program of the cluster that `cargo xtask test` has built.
pub(crate) fn program(role: &str) -> String {
    let name = format!("DYNO_TEST_CLUSTER_{role}");
    std::env::var(&name).unwrap_or_else(|_| {
        panic!("{name} is not set: run `cargo xtask test`, which builds a cluster")
    })
}

/// A plan with the cluster but without a workload; `store` is the store's program.
pub(crate) fn plan(sandbox: &Sandbox, store: &str, more: &str) -> String {
    sandbox.file("store.toml", STORE);
    sandbox.file("tidb-server.toml", TIDB);
    let (pd, tidb) = (program("PD"), program("TIDB"));
    format!(
        "[systems.cluster]\nkind = \"tidb-cluster\"\npd = \"{pd}\"\ntikv = \"{store}\"\n\
         tidb = \"{tidb}\"\ntikv_config = \"store.toml\"\ntidb_config = \"tidb-server.toml\"\n\
         tikv_env = {{ GOLANG_PROTOBUF_REGISTRATION_CONFLICT = \"ignore\" }}\n{more}"
    )
}

/// `dyno` in its own network namespace, with all its files in the sandbox.
pub(crate) fn dyno_apart<const N: usize>(sandbox: &Sandbox, args: [&str; N]) -> Command {
    let dyno = sandbox.dyno(args);
    let mut apart = Command::new("unshare");
    // Other users become root in their own namespace, if the kernel permits it.
    if !nix::unistd::geteuid().is_root() {
        apart.arg("--map-root-user");
    }
    apart.args(["--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]);
    apart.arg(dyno.get_program()).args(dyno.get_args()).current_dir(sandbox.path());
    apart.env("HOME", sandbox.path()).env("TMPDIR", sandbox.path()).env_remove("MYSQL_PWD");
    apart
}

/// The servers whose files are in the sandbox, in the order of their start.
pub(crate) fn servers_of(sandbox: &Sandbox) -> Vec<(String, i32)> {
    let mut found: Vec<(u64, String, i32)> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| server(&entry.ok()?.path(), sandbox.path()))
        .collect();
    found.sort();
    found.into_iter().map(|(_, name, pid)| (name, pid)).collect()
}

/// Start time, name and pid of a process, if it is a server in this sandbox.
fn server(process: &Path, sandbox: &Path) -> Option<(u64, String, i32)> {
    let pid = process.file_name()?.to_str()?.parse().ok()?;
    let said = fs::read(process.join("cmdline")).ok()?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let name = Path::new(said.split('\0').next()?).file_name()?.to_str()?.to_owned();
    if !name.ends_with("-server") || !said.contains(sandbox.to_str()?) {
        return None;
    }
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    // A zombie is dead. Fields 3 and 22 of proc_pid_stat(5).
    let state = fields.next()?;
    let started = fields.nth(18)?.parse().ok()?;
    (state != "Z").then_some((started, name, pid))
}

pub(crate) fn trials(report: &Value) -> &Vec<Value> {
    report["trials"].as_array().unwrap()
}

#[test]
fn a_cluster_starts_in_order_runs_load_and_is_removed() {
    let sandbox = Sandbox::new();
    let workloads = "[workloads.point]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 500\n\
                     [workloads.update]\nkind = \"sysbench/oltp_update_index\"\ntable_size = 500\n\
                     [load]\nclients = [4]\ntime = \"3s\"\nwarm_up = \"0s\"\n";
    sandbox.file("plan.toml", &(plan(&sandbox, &program("TIKV"), "") + workloads));
    let mut command = dyno_apart(&sandbox, ["run", "plan.toml", "--format=json"]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 1);
    let names: Vec<String> = servers_of(&sandbox).into_iter().map(|(name, _)| name).collect();
    let store = "unistore-server";
    assert_eq!(names, ["pd-server", store, store, store, "tidb-server"]);
    let output = run.finish();
    assert_eq!(servers_of(&sandbox), []);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("cluster: starting tidb took "), "{told}");
    let report = json(&output);
    for trial in trials(&report) {
        assert_eq!(trial["status"], "complete", "{}", both(&output));
        assert!(trial["transactions"].as_u64().unwrap() > 0, "{trial}");
        assert_eq!(trial["failed_transactions"], 0, "{}", trial["errors"]);
    }
    let identity = &report["systems"][0];
    assert_eq!(identity["product"], "TiDB", "{identity}");
    assert_eq!(identity["storage"], "unistore-server, 3 stores", "it is no TiKV");
    let settings = &identity["settings"];
    assert_eq!((&settings["stores"], &settings["replicas"]), (&"3".into(), &"3".into()));
    assert_eq!(settings["tikv_built_for_debugging"], Value::Null, "{settings}");
    every_server_was_watched_and_its_panels_are_drawn(&sandbox);
}

fn every_server_was_watched_and_its_panels_are_drawn(sandbox: &Sandbox) {
    let run = &sandbox.runs()[0];
    let watched = Run::open(run).unwrap().trials[1].watched.clone();
    let servers: Vec<&str> = watched.servers.iter().map(|server| server.name.as_str()).collect();
    for role in ["pd", "tikv", "tidb"] {
        let endpoint = format!("{role} 127.0.0.1:");
        let count = servers.iter().filter(|name| name.starts_with(&endpoint)).count();
        assert_eq!(count, if role == "tikv" { 3 } else { 1 }, "{role}: {servers:?}");
    }
    let processes: Vec<&str> =
        watched.hosts[0].processes.iter().map(|process| process.name.as_str()).collect();
    for process in ["pd", "tikv-1", "tikv-2", "tikv-3", "tidb"] {
        assert!(processes.contains(&process), "{process}: {processes:?}");
    }
    let series = watched.servers.iter().flat_map(|server| &server.series);
    let listed = series.filter(|series| series.name == "dyno_pd_store").count();
    assert_eq!(listed, 3, "PD told its stores: {servers:?}");
    let page = crate::sandbox::whole_page(run);
    // One region has all rows; two stores have no load, and TiDB need not contact them.
    assert!(page.contains("of the requests to stores, 33 % would be even"));
    for panel in ["TiDB: gRPC duration by type, p99", "PD: regions by store"] {
        assert!(page.contains(panel), "{panel}");
    }
}

/// A member of a cluster that is to end with it is killed in each of two trials.
#[test]
fn a_killed_cluster_server_ends_its_trial_and_is_named() {
    let sandbox = Sandbox::new();
    let load = "[workloads.point]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 200\n\
                [load]\nthink_time = \"5ms\"\nclients = [2, 3]\ntime = \"60s\"\nwarm_up = \"0s\"\n\
                interval = \"200ms\"\n";
    let system = plan(&sandbox, &program("TIKV"), "on_member_exit = \"crash\"\n");
    sandbox.file("plan.toml", &(system + load));
    let mut command = dyno_apart(&sandbox, ["run", "plan.toml", "--format=json"]);
    let mut run = Background::start(&sandbox, &mut command);
    let mut killed = Vec::new();
    for (trial, member) in [("0000", 2), ("0001", 4)] {
        run.wait_for(trial, "measure", 2);
        killed.push(SystemTime::now());
        kill(Pid::from_raw(servers_of(&sandbox)[member].1), Signal::SIGKILL).unwrap();
    }
    let output = run.finish();
    assert_eq!(servers_of(&sandbox), []);
    let report = json(&output);
    let record = Run::open(&sandbox.runs()[0]).unwrap();
    for ((trial, name), at) in record.trials.iter().zip(["tikv-2", "tidb"]).zip(&killed) {
        assert_exit(trial, name, (*at, *at));
    }
    let page = crate::sandbox::whole_page(&sandbox.runs()[0]);
    let reason = |trial: usize| {
        assert_eq!(trials(&report)[trial]["status"], "crashed", "{}", both(&output));
        let exits = trials(&report)[trial]["member_exits"].as_array().unwrap().clone();
        assert!(page.contains(&format!(">{} exited</text>", exits[0]["member"].as_str().unwrap())));
        trials(&report)[trial]["reason"].as_str().unwrap().to_owned()
    };
    let killed = "ended by itself (signal: 9 (SIGKILL)): another process killed it";
    let store = reason(0);
    assert!(store.contains(&format!("tikv-2: store {killed}")), "{store}");
    let tidb = reason(1);
    assert!(tidb.contains(&format!("tidb: TiDB {killed}")), "{tidb}");
}

/// A substitute for TiKV: it reports that it was built for debugging, and delegates the work to a store. That store
/// does not start in a folder with data of an earlier start.
pub(crate) fn stand_in_for_tikv(sandbox: &Sandbox) -> String {
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = -V ]; then\n  echo 'TiKV '\n  echo 'Release Version:   7.5.0'\n  \
         echo 'Profile:           dev'\n  exit\nfi\nfor argument; do\n  case $argument in\n    \
         --data-dir=*) rm -rf \"${{argument#--data-dir=}}/snap\" ;;\n  esac\ndone\nexec {} \"$@\"\n",
        program("TIKV")
    );
    sandbox.program("tikv-server", &script).display().to_string()
}

#[test]
fn several_tidb_servers_share_the_load_and_debug_builds_are_reported() {
    let sandbox = Sandbox::new();
    let load = "[workloads.point]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 200\n\
                [load]\nclients = [2, 4]\ntime = \"3s\"\nwarm_up = \"0s\"\n";
    let system = plan(&sandbox, &stand_in_for_tikv(&sandbox), "stores = 1\ntidbs = 2\n");
    sandbox.file("plan.toml", &format!("between = \"restore\"\n{system}{load}"));
    let output = dyno_apart(&sandbox, ["run", "plan.toml", "--format=json"]).output().unwrap();
    assert_eq!(servers_of(&sandbox), []);
    let said = both(&output);
    assert!(said.contains("is built for debugging: its profile is `dev`"), "{said}");
    let report = json(&output);
    let identity = &report["systems"][0];
    assert_eq!(identity["storage"], "TiKV 7.5.0, 1 store");
    assert_eq!(identity["settings"]["tikv_built_for_debugging"], "its profile is `dev`");
    for trial in trials(&report) {
        assert_eq!(trial["status"], "complete", "{said}");
        assert_eq!(trial["failed_transactions"], 0, "{}", trial["errors"]);
    }
    let run = Run::open(&sandbox.runs()[0]).unwrap();
    let servers = run.trials[1].watched.servers.iter().map(|server| server.name.as_str());
    let tidbs = servers.clone().filter(|name| name.starts_with("tidb 127.0.0.1:")).count();
    assert_eq!(tidbs, 2, "{:?}", servers.collect::<Vec<_>>());
}

#[test]
fn killing_dyno_leaves_no_cluster_server_running() {
    let sandbox = Sandbox::new();
    let load = "[workloads.point]\nkind = \"sysbench/oltp_point_select\"\ntable_size = 200\n\
                [load]\nclients = [2]\ntime = \"60s\"\nwarm_up = \"0s\"\n";
    sandbox.file("plan.toml", &(plan(&sandbox, &program("TIKV"), "stores = 1\n") + load));
    let mut run = Background::start(&sandbox, &mut dyno_apart(&sandbox, ["run", "plan.toml"]));
    run.wait_for("0000", "measure", 1);
    assert_eq!(servers_of(&sandbox).len(), 3);
    run.signal(Signal::SIGKILL);
    run.finish();
    wait_until("all servers are gone", || servers_of(&sandbox).is_empty());
    wait_until("their data are gone", || sandbox.scratch_folders().is_empty());
}

#[test]
fn ctrl_c_ends_a_starting_cluster_and_its_processes() {
    let sandbox = Sandbox::new();
    let load = "[workloads.point]\nkind = \"sysbench/oltp_point_select\"\n";
    sandbox.file("plan.toml", &(plan(&sandbox, &program("TIKV"), "") + load));
    let run = Background::start(&sandbox, &mut dyno_apart(&sandbox, ["run", "plan.toml"]));
    let is_store = |(name, _): &(String, i32)| name == "unistore-server";
    wait_until("a store is there", || servers_of(&sandbox).iter().any(is_store));
    run.interrupt();
    let output = run.finish();
    assert_eq!(output.status.code(), Some(130), "{}", both(&output));
    assert_eq!(servers_of(&sandbox), []);
    assert_eq!(sandbox.scratch_folders().len(), 0);
    let told = both(&output);
    assert!(!told.contains("cluster: TiDB"), "it did not wait until the cluster was up: {told}");
}

#[test]
fn a_missing_program_is_named_with_a_remedy() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["up", "tidb-cluster", "--option=pd=/bin/true"]);
    let output = command.env("PATH", "/nowhere").output().unwrap();
    let said = both(&output);
    assert!(said.contains("tikv-server is not on PATH: name it with `tikv`"), "{said}");
}
