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
fn a_report_fits_the_terminal_and_a_pipe_has_whole_lines() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", &format!("repetitions = 2{SIMULATED}"));
    let piped = String::from_utf8(sandbox.succeed(["run", "plan.toml", "--full"]).stdout).unwrap();
    assert!(widest(&piped) > 100, "{piped}");
    // 1 client makes 100 transactions per second of 10 ms, 6 make 200 of 30 ms.
    let row = |text: &str, clients: &str, first: &str| {
        let mut rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let names = ["simulated", clients, first];
        rows.any(|row| row.starts_with(&names))
    };
    for (columns, set, most) in [(80, "", 80), (140, "COLUMNS=72", 72), (20, "", 60)] {
        let shown = on_terminal(&sandbox, columns, set, "report --full");
        assert!(widest(&shown) <= most, "{columns}, {set}:\n{shown}");
        assert!(widest(&shown) > most / 2, "{columns}, {set}:\n{shown}");
        for (clients, tps) in [("1", "100"), ("6", "200")] {
            assert!(row(&shown, clients, tps), "{columns}, {set}:\n{shown}");
        }
        for word in piped.split_whitespace() {
            assert!(shown.contains(word), "{columns}, {set}: {word}:\n{shown}");
        }
    }
    let again = String::from_utf8(sandbox.succeed(["report", "--full"]).stdout).unwrap();
    assert_eq!(again, piped);
    let columns = sandbox.dyno(["report", "--full"]).env("COLUMNS", "72").output().unwrap();
    assert_eq!(String::from_utf8(columns.stdout).unwrap(), piped, "a pipe has no width");
}

#[test]
fn a_summary_is_short_and_has_colours_on_a_terminal_alone() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", &format!("repetitions = 2{SIMULATED}"));
    let piped = String::from_utf8(sandbox.succeed(["run", "plan.toml"]).stdout).unwrap();
    for columns in [60, 80, 120] {
        let plain = on_terminal(&sandbox, columns, "NO_COLOR=1", "report");
        assert!(widest(&plain) <= columns, "{columns}:\n{plain}");
        // Two loads.
        assert!(plain.lines().count() <= 2 + 12, "{columns}:\n{plain}");
        assert!(plain.contains("report.html") && !plain.contains('\u{1b}'), "{plain}");
        let shown = on_terminal(&sandbox, columns, "TERM=xterm", "report");
        assert!(shown.contains("\u{1b}[1m"), "{shown}");
    }
    assert!(!piped.contains('\u{1b}') && piped.lines().count() <= 2 + 12, "{piped}");
}

/// A redrawn line that is wider than its terminal would stay when the next one is drawn.
#[test]
fn the_progress_fits_the_terminal_and_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    sandbox.file("my_long_name_of_a_statement.sql", "SELECT 1;\n");
    let arguments =
        "bench my_long_name_of_a_statement.sql --system sqlite --time 3s --repetitions 1 --full";
    for columns in [40, 80] {
        let shown = on_terminal(&sandbox, columns, "TERM=xterm NO_COLOR=1", arguments);
        let drawn = shown.split(['\r', '\n']).map(without_escapes);
        let drawn: Vec<String> =
            drawn.filter(|line| line.starts_with("[1/1]") && !line.contains(": ")).collect();
        assert!(drawn.len() >= 4, "it moves while nothing is told: {shown}");
        assert!(drawn.iter().all(|line| line.chars().count() < columns), "{drawn:?}");
        assert!(drawn.iter().any(|line| line.contains("measure 2 s")), "{drawn:?}");
    }
}

fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split("\u{1b}[").enumerate() {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |end| end + 1);
        out.push_str(if at == 0 { part } else { &part[end..] });
    }
    out.trim_end().to_owned()
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
