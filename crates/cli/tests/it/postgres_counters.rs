//! What PostgreSQL counts and tells of itself beside a load, and what dyno makes of it.

use serde_json::Value;
use system::postgres::{Settings, start};
use tempfile::TempDir;

use crate::own_server::Background;
use crate::sandbox::{Sandbox, json, report};

#[test]
fn another_clients_transactions_are_found_and_the_server_is_watched() {
    let scratch = TempDir::new().unwrap();
    // Autovacuum comes as soon as a few rows have changed.
    let settings = ["autovacuum_naptime=1s", "autovacuum_vacuum_scale_factor=0"];
    let settings =
        Settings { settings: settings.map(str::to_owned).to_vec(), ..Settings::default() };
    let server = start(settings, scratch.path()).unwrap();
    let sandbox = Sandbox::new();
    let mut command = sandbox.dyno(["bench", "sysbench/oltp_update_non_index", "--tables=1"]);
    command.args(["--table-size=10000", "--clients=16", "--time=60s", "--repetitions=1"]);
    // On a busy machine an answer about the time before the sessions comes late: into the warm-up.
    command.args(["--warm-up=3s", "--format=json", "--system", &server.url()]);
    let mut run = Background::start(&sandbox, &mut command);
    run.wait_for("0000", "measure", 2);
    let others = Sandbox::new();
    for (statement, events) in [("SELECT 1;\n", "300"), ("CHECKPOINT;\n", "1")] {
        let script = others.file("one.sql", statement);
        let mut other = others.dyno(["bench", "--clients=1", "--events", events, "--warm-up=0s"]);
        other.args(["--format=json", "--repetitions=1", "--system", &server.url()]).arg(script);
        assert_eq!(report(&mut other)["trials"][0]["status"], "complete");
    }
    run.wait_for("0000", "measure", 4);
    run.interrupt();
    let trial = json(&run.finish())["trials"][0].clone();
    let check = &trial["cross_check"];
    let difference = check["difference"].as_i64().unwrap();
    // Each other run also looks at the server, some 85 times, and autovacuum does so each second.
    assert!((301..900).contains(&difference), "{check}");
    assert_eq!(check["others_connected"], true, "{check}");
    let findings = trial["findings"].to_string();
    assert!(findings.contains("transactions that were not dyno's"), "{findings}");
    assert!(findings.contains("shared_buffers is at its default"), "{findings}");
    assert!(findings.contains("checkpoints that were requested"), "{findings}");
    watched(&trial["watched"]);
    let actions = trial["server_actions"].as_array().unwrap();
    for did in ["requested checkpoint", "autovacuum"] {
        let action = actions.iter().find(|action| action["did"] == did);
        let action = action.unwrap_or_else(|| panic!("{did}: {actions:#?}"));
        assert!(action["from_ns"].as_u64() < action["to_ns"].as_u64(), "{action}");
    }
}

/// The figures that the server told, and those of its processes.
fn watched(watched: &Value) {
    let all = watched["figures"].as_array().unwrap();
    let told = |value: &str, of: &str, figure: &str, part: &str| {
        let is_it = |it: &&Value| it["of"] == of && it["figure"] == figure && it["part"] == part;
        let found = all.iter().find(is_it).unwrap_or_else(|| panic!("{figure} {part}: {all:#?}"));
        found[value].as_f64().unwrap()
    };
    let mean = |of: &str, figure: &str, part: &str| told("mean", of, figure, part);
    // On a busy machine the first look comes before all sessions are there.
    let peak = |of: &str, figure: &str, part: &str| told("peak", of, figure, part);
    assert!(mean("server", "transactions", "committed") > 1.0);
    assert!(peak("server", "sessions", "") >= 16.0);
    assert!(mean("server", "write-ahead log of a transaction", "") > 100.0);
    let hits = mean("server", "pages found in the cache", "");
    assert!((0.5..=1.0).contains(&hits), "{hits}");
    assert!((5.0..=11.0).contains(&mean("server", "samples of sessions", "")));
    // One line for the server and all of its sessions, each of which is a thread.
    let servers = all.iter().filter(|it| it["of"] == "process" && it["part"] != "dyno");
    let parts: std::collections::BTreeSet<&str> =
        servers.map(|it| it["part"].as_str().unwrap()).collect();
    assert_eq!(parts.len(), 1, "{parts:?}");
    let name = parts.into_iter().next().unwrap();
    assert!(peak("process", "threads", name) > 16.0);
    assert!(mean("process", "cpu_busy_threads", name) > 0.05);
    // Each session has some megabytes of its own, and the shared memory counts once.
    let pss = mean("process", "memory_pss_bytes", name);
    assert!((16e6..1e9).contains(&pss), "{pss}");
    let kind = |figure: &str, kind: &str| mean("process-kind", figure, &format!("{name}, {kind}"));
    assert!(peak("process-kind", "processes", &format!("{name}, sessions")) >= 16.0);
    assert_eq!(kind("processes", "checkpointer"), 1.0);
    assert_eq!(kind("processes", "walwriter"), 1.0);
    let sessions = kind("cpu_busy_threads", "sessions");
    assert!(sessions > kind("cpu_busy_threads", "checkpointer"), "{sessions}");
}

#[test]
fn settings_of_two_runs_that_differ_are_told_by_their_comparison() {
    let url = std::env::var("DYNO_TEST_POSTGRES")
        .expect("DYNO_TEST_POSTGRES is not set: run `cargo xtask test`");
    let sandbox = Sandbox::new();
    let script = sandbox.file("one.sql", "SELECT 1;\n");
    for commit in ["on", "off"] {
        let mut command = sandbox.dyno(["bench", "--clients=1", "--events=50", "--warm-up=0s"]);
        let url = format!("{url}?options=-c%20synchronous_commit%3D{commit}");
        command.args(["--format=json", "--repetitions=1", "--system", &url]);
        let report = report(command.arg(&script));
        has_settings(&report["systems"][0]["settings"]);
        let findings = report["trials"][0]["findings"].to_string();
        assert_eq!(findings.contains("synchronous_commit is off"), commit == "off", "{findings}");
        // Five of its fifty statements are planned anew.
        assert!(findings.contains("first five executions"), "{findings}");
        assert!(findings.contains("up to 10"), "{findings}");
    }
    let runs = sandbox.runs();
    let compared = sandbox.dyno(["compare"]).args(&runs).output().unwrap();
    let text = String::from_utf8(compared.stdout).unwrap();
    let is_told = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.first() == Some(&"system") && words[2..] == ["synchronous_commit", "on", "off"]
    };
    assert!(text.lines().any(is_told), "{text}");
}

/// What a result states of PostgreSQL's settings, whoever has made them.
fn has_settings(settings: &Value) {
    for name in [
        "autovacuum",
        "autovacuum_vacuum_threshold",
        "block_size",
        "checkpoint_timeout",
        "collation",
        "data_checksums",
        "default_transaction_isolation",
        "effective_cache_size",
        "effective_io_concurrency",
        "encryption",
        "fsync",
        "full_page_writes",
        "huge_pages",
        "jit",
        "log_min_duration_statement",
        "log_statement",
        "maintenance_work_mem",
        "max_connections",
        "max_parallel_workers_per_gather",
        "max_wal_size",
        "plan_cache_mode",
        "random_page_cost",
        "server_encoding",
        "shared_buffers",
        "ssl",
        "statements",
        "synchronous_commit",
        "track_io_timing",
        "wal_compression",
        "wal_level",
        "wal_sync_method",
        "work_mem",
        // Not a default: somebody has made it.
        "restart_after_crash",
    ] {
        assert!(settings[name].is_string(), "{name}: {settings:#}");
    }
}
