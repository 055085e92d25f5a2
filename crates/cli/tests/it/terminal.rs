//! What is printed on a terminal fits its width; what is written to a pipe has lines of any width.

use std::process::{Command, Stdio};

use crate::sandbox::{SIMULATED, Sandbox};

/// What `dyno` prints on both streams on a terminal of so many columns; `set` is an assignment of its environment.
fn on_terminal(sandbox: &Sandbox, columns: usize, set: &str, arguments: &str) -> String {
    let dyno = env!("CARGO_BIN_EXE_dyno");
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command"]);
    // The shell changes `COLUMNS` of its own environment.
    terminal.arg(format!("stty rows 24 cols {columns}; unset COLUMNS; {set} {dyno} {arguments}"));
    terminal.arg("/dev/null").env("HOME", sandbox.path()).current_dir(sandbox.path());
    let output = terminal.stdin(Stdio::null()).output().unwrap();
    String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n")
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or_default()
}

#[test]
fn a_summary_fits_the_terminal_and_a_pipe_has_whole_lines() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", &format!("repetitions = 2{SIMULATED}"));
    let piped = String::from_utf8(sandbox.succeed(["run", "plan.toml"]).stdout).unwrap();
    assert!(widest(&piped) > 100, "{piped}");
    // 1 client makes 100 transactions per second of 10 ms, 6 make 200 of 30 ms.
    let row = |text: &str, clients: &str, first: &str| {
        let mut rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let names = ["simulated", clients, first];
        rows.any(|row| row.starts_with(&names))
    };
    for (columns, set, most) in [(80, "", 80), (140, "COLUMNS=72", 72), (20, "", 60)] {
        let shown = on_terminal(&sandbox, columns, set, "report");
        assert!(widest(&shown) <= most, "{columns}, {set}:\n{shown}");
        assert!(widest(&shown) > most / 2, "{columns}, {set}:\n{shown}");
        for (clients, tps) in [("1", "100"), ("6", "200")] {
            assert!(row(&shown, clients, tps), "{columns}, {set}:\n{shown}");
        }
        for word in piped.split_whitespace() {
            assert!(shown.contains(word), "{columns}, {set}: {word}:\n{shown}");
        }
    }
    let again = String::from_utf8(sandbox.succeed(["report"]).stdout).unwrap();
    assert_eq!(again, piped);
    let columns = sandbox.dyno(["report"]).env("COLUMNS", "72").output().unwrap();
    assert_eq!(String::from_utf8(columns.stdout).unwrap(), piped, "a pipe has no width");
}

#[test]
fn lists_and_messages_fit_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", &format!("repetitions = 2{SIMULATED}"));
    sandbox.succeed(["run", "plan.toml", "--quiet"]);
    let [run] = sandbox.runs().try_into().unwrap();
    let folder = format!("results/{}", run.file_name().unwrap().to_string_lossy());
    for (arguments, told) in [
        ("list", folder.as_str()),
        ("workloads", "sysbench/oltp_read_write"),
        ("systems tidb", "GOMAXPROCS"),
        ("run plan.toml --dry-run", "simulated"),
        ("report nowhere", "does not exist"),
    ] {
        let shown = on_terminal(&sandbox, 64, "", arguments);
        assert!(widest(&shown) <= 64 && shown.contains(told), "{arguments}:\n{shown}");
    }
}
