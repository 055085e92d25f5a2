//! What dyno says of its own build, and the pages that it writes of itself.

use std::env::consts::ARCH;
use std::fs;
use std::process::Command;

use crate::sandbox::{SIMULATED, Sandbox, json};

/// The commit that is checked out, as dyno shows it; nothing in a folder without git.
fn commit() -> Option<String> {
    let mut git = Command::new("git");
    git.args(["log", "-1", "--abbrev=12", "--format=%h of %cs"]);
    let output = git.current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    output.status.success().then(|| text.trim().to_owned())
}

#[test]
fn the_version_names_the_commit_the_processor_and_the_profile() {
    let sandbox = Sandbox::new();
    let text = String::from_utf8(sandbox.succeed(["--version"]).stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], concat!("dyno ", env!("CARGO_PKG_VERSION")));
    let shown = lines[1].strip_prefix("commit     ").unwrap();
    if let Some(commit) = commit() {
        assert!(shown.starts_with(&commit), "{text}");
    }
    assert!(lines[2].starts_with(&format!("processor  {ARCH}")), "{text}");
    assert!(lines[2].contains(" with "), "{text}");
    let profile = if cfg!(debug_assertions) { "debug" } else { "optimised" };
    assert_eq!(lines[3..], [format!("profile    {profile}")]);
    let short = String::from_utf8(sandbox.succeed(["-V"]).stdout).unwrap();
    assert_eq!(short, concat!("dyno ", env!("CARGO_PKG_VERSION"), "\n"));

    sandbox.file("plan.toml", SIMULATED);
    let report = json(&sandbox.succeed(["run", "plan.toml", "--format=json"]));
    assert_eq!(report["dyno"]["build"], format!("{profile}, {ARCH}-linux, commit {shown}"));
}

#[test]
fn every_subcommand_has_a_page_of_the_manual() {
    let sandbox = Sandbox::new();
    sandbox.succeed(["manual", "new/man"]);
    let folder = sandbox.path().join("new/man");
    let page = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert!(page("dyno.1").contains("Exit codes: 0 success"), "{}", page("dyno.1"));
    assert!(page("dyno-compare.1").contains("fail\\-if"), "{}", page("dyno-compare.1"));
    let help = String::from_utf8(sandbox.succeed(["--help"]).stdout).unwrap();
    // Groups of commands stand between the usage and the options.
    let commands = help.lines().skip_while(|line| *line != "Run:");
    let commands = commands.take_while(|line| *line != "Options:");
    let names = commands.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"run") && names.contains(&"manual"), "{help}");
    for name in names {
        assert!(page(&format!("dyno-{name}.1")).contains(".TH"), "{name}");
    }
}
