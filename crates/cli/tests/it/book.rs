//! Documents that are made from what dyno is and prints: the list of all options, the example of README.md, the pictures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sandbox::{Sandbox, block, both};

/// Set to 1, it writes the list of options anew.
const WRITE: &str = "DYNO_WRITE_DOCUMENTS";
const OPTIONS_HEAD: &str = "# All options\n\n\
     What `dyno workloads NAME` and `dyno systems NAME` print: options of a plan's `[workloads.NAME]` and `[systems.NAME]`, and of\n\
     `--option NAME=VALUE` and `--system-option NAME=VALUE`. The keys of a plan itself are in [plan.md](plan.md).\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn printed<const N: usize>(sandbox: &Sandbox, args: [&str; N]) -> String {
    String::from_utf8(sandbox.succeed(args).stdout).unwrap()
}

/// The names that a list of dyno's begins its lines with.
fn names(list: &str) -> Vec<String> {
    let rows = list.lines().skip(1).take_while(|line| !line.is_empty());
    rows.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

fn options() -> String {
    let sandbox = Sandbox::new();
    let mut out = OPTIONS_HEAD.to_owned();
    for (title, command) in [("Workloads", "workloads"), ("Systems", "systems")] {
        out.push_str(&format!("\n## {title}\n"));
        let mut before = String::new();
        for name in names(&printed(&sandbox, [command])) {
            let text = printed(&sandbox, [command, &name]);
            let (what, table) = text.split_once("\n\n").unwrap_or((text.trim_end(), ""));
            let same = before == table && !table.is_empty();
            let shown = match (table, same) {
                ("", _) => String::new(),
                (_, true) => "The same options.\n".to_owned(),
                (table, false) => format!("```\n{table}```\n"),
            };
            let what = what.split_once(": ").map_or(what, |(_, what)| what);
            out.push_str(format!("\n### {name}\n\n{what}.\n\n{shown}").trim_end());
            out.push('\n');
            before = table.to_owned();
        }
    }
    out
}

#[test]
fn the_book_has_all_options() {
    let path = root().join("docs/options.md");
    let options = options();
    if std::env::var_os(WRITE).is_some() {
        fs::write(path, options).unwrap();
        return;
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(written, options, "{WRITE}=1 writes docs/options.md anew");
}

/// The command of a README, with what it prints.
fn example(readme: &str) -> &str {
    block(readme, "console", "$ dyno")
}

/// The words of a line that every run of the same command prints: no figures, units, bars, marks and times.
fn words(line: &str) -> Vec<&str> {
    let is_word = |word: &&str| {
        word.len() > 2 && word.chars().all(|it| it.is_ascii_alphabetic() || "_/-:".contains(it))
    };
    line.split_whitespace().filter(is_word).collect()
}

/// The parts that do not depend on how the machine was: title, head of the table, one row for each load, and the last lines.
fn shape(example: &str) -> Vec<Vec<&str>> {
    let lines: Vec<&str> = example.lines().collect();
    let is_shape = |line: &&str| {
        ["$ ", "oltp_", "workload ", "    ", "report ", "more "]
            .iter()
            .any(|it| line.starts_with(it))
    };
    lines.into_iter().filter(is_shape).map(words).collect()
}

#[test]
fn the_command_of_the_documents_makes_their_pictures_and_what_readme_shows() {
    let sandbox = Sandbox::new();
    let to = sandbox.path().join("made");
    fs::create_dir_all(to.join("docs")).unwrap();
    fs::copy(root().join("README.md"), to.join("README.md")).unwrap();
    let mut command = Command::new(root().join("docs/make.sh"));
    command
        .arg(env!("CARGO_BIN_EXE_dyno"))
        .arg(&to)
        .env("LOAD_TIME", "500ms")
        .env("HOME", sandbox.path());
    sandbox.with_programs(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
    for (name, height) in [("report.png", 900_u32), ("reading.png", 1080)] {
        let bytes = fs::read(to.join("docs").join(name)).unwrap();
        assert_eq!(
            (&bytes[1..4], &bytes[16..20], &bytes[20..24]),
            (&b"PNG"[..], &1200_u32.to_be_bytes()[..], &height.to_be_bytes()[..]),
            "{name}"
        );
        // An empty page takes a tenth of that.
        assert!(bytes.len() > 60_000, "{name}: {} bytes", bytes.len());
    }
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let made = fs::read_to_string(to.join("README.md")).unwrap();
    let (shown, printed) = (shape(example(&readme)), shape(example(&made)));
    assert!(shown.len() >= 8, "{shown:?}");
    assert_eq!(shown, printed);
    let around = |text: &str| text.replace(example(text), "");
    assert_eq!(around(&readme), around(&made), "nothing else is changed");
}

#[test]
fn readme_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.len() <= 7 << 10, "{} bytes", readme.len());
    let methodology = fs::read_to_string(root().join("METHODOLOGY.md")).unwrap();
    assert!(methodology.len() <= 20 << 10, "{} bytes", methodology.len());
}
