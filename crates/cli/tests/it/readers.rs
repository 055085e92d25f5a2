//! Every format that others open, opened by a public reader: HdrHistogram logs, JUnit, CSV, JSON against its schema,
//! Markdown. `cargo xtask test` installs the readers.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::sandbox::{SIMULATED, Sandbox, both};

/// Two servers of 10 and 30 ms in turn; the second load breaks the first bound.
fn plan() -> String {
    let two = "service_times = [\"10ms\", \"30ms\"]\noperations = 2";
    let simulated = SIMULATED.replace("service_times = [\"10ms\"]", two);
    format!("fail_if = [\"p50 > 35ms\", \"errors > 1%\"]\nrepetitions = 2\n{simulated}")
}

/// A kind of report that the first run does not have: variants, an open loop.
const MORE: [(&str, &str); 2] = [
    (
        "variants",
        "repetitions = 2\n[systems.simulated]\n[systems.simulated.variants.a]\n\
         [systems.simulated.variants.b]\nservice_times = [\"2ms\"]\n[workloads.simulated]\n",
    ),
    (
        "open",
        "[systems.simulated]\n[workloads.simulated]\n[load]\nclients = 8\nrate = 200\ntime = \"3s\"\n",
    ),
];

pub(crate) fn python(script: &Path, arguments: &[&Path]) -> Output {
    let readers = std::env::var_os("DYNO_TEST_READERS")
        .expect("DYNO_TEST_READERS, which `cargo xtask test` sets");
    let mut command = Command::new("python3");
    command.arg("-B").arg(script).args(arguments).env("PYTHONPATH", readers);
    command.output().expect("python3, which `cargo xtask test` installs")
}

#[test]
fn public_readers_open_every_format_and_find_the_values_of_the_report() {
    let sandbox = Sandbox::new();
    sandbox.file("plan.toml", &plan());
    sandbox.file("slower.toml", &plan().replace("\"30ms\"", "\"45ms\""));
    let outputs = sandbox.path().join("outputs");
    fs::create_dir(&outputs).unwrap();
    let write = |name: &str, output: Output, code: i32| {
        assert_eq!(output.status.code(), Some(code), "{name}: {}", both(&output));
        fs::write(outputs.join(name), output.stdout).unwrap();
    };
    let run = |words: &[&str]| sandbox.dyno([]).args(words).output().unwrap();
    // A bound is crossed, which fails the run.
    write("run.junit.xml", run(&["run", "plan.toml", "--format=junit", "--name=main"]), 1);
    write("slower.txt", run(&["run", "slower.toml", "-q", "--name=slower"]), 1);
    let compare = ["compare", "results/main", "results/slower", "--format=junit", "--fail-if"];
    write("compare.junit.xml", run(&[&compare[..], &["p99 > +5%"]].concat()), 1);
    for (name, format) in [
        ("report.json", "json"),
        ("report.csv", "csv"),
        ("bigger.json", "bigger-is-better"),
        ("smaller.json", "smaller-is-better"),
    ] {
        write(name, run(&["report", "results/main", "--format", format]), 0);
    }
    for (name, plan) in MORE {
        let file = sandbox.file(&format!("{name}.toml"), plan);
        let words = ["run", file.to_str().unwrap(), "--format=json", "--out=more"];
        write(&format!("more-{name}.json"), run(&words), 0);
    }
    write("plan.schema.json", run(&["schema", "plan"]), 0);
    write("report.schema.json", run(&["schema", "report"]), 0);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = root.join("tests/it/readers.py");
    let main = sandbox.path().join("results/main");
    let read = python(&script, &[&outputs, &main, &root.join("../../plans")]);
    assert!(read.status.success(), "{}", both(&read));
    let told = String::from_utf8(read.stdout).unwrap();
    assert!(told.starts_with("4 logs, "), "{told}");
}
