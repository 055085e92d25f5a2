//! Plans are read into servers; errors in plans come with a correction.

use super::*;
use crate::testing::all_problems;

fn chosen(options: &str) -> Choice {
    let options = Options::parse(options).unwrap();
    let mut reader = options.reader();
    let choice = choice(&mut reader, Path::new("/plans"));
    reader.finish().unwrap();
    choice
}

#[test]
fn the_options_decide_where_the_server_comes_from() {
    assert_eq!(chosen(""), Choice::default());
    assert_eq!(chosen("source = \"tiup\"").source, Source::TiUp);
    assert_eq!(chosen("binary = \"mine/tidb\"").binary, Some("/plans/mine/tidb".into()));
    let built = chosen("goamd64 = \"v3\"");
    assert_eq!(built.source, Source::Build);
    assert_eq!(built.build.goamd64.as_deref(), Some("v3"));
}

#[test]
fn contradictory_options_are_refused() {
    let wrong = [
        "binary = \"tidb-server\"\nsource = \"build\"",
        "source = \"path\"\ngoamd64 = \"v3\"",
        "goamd64 = \"v9\"",
        "config = \"nowhere.toml\"",
        "cpus = \"3-1\"",
    ];
    insta::assert_snapshot!(all_problems(read, &wrong), @r#"
    `binary` names a server, so nothing is looked for or built | take out `binary`, or `source` and `goamd64`
    `goamd64` is about a build, and `source` wants none | set source = "build", or leave it out
    `goamd64` is "v9", not one of the choices | did you mean `v1`? allowed: v1, v2, v3, v4
    there is no file /plans/nowhere.toml | create it first, or give another path
    `3-1` counts backwards | write a set such as "0", "0-3" or "0,2-3"
    "#);
}

#[test]
fn a_port_argument_is_refused() {
    let wrong = ["arguments = [\"-P\", \"4000\"]", "arguments = [\"--status=10080\"]"];
    insta::assert_snapshot!(all_problems(read, &wrong), @r"
    `-P` is set by dyno itself | remove it: dyno chooses free ports, a folder and an account for a server that it starts; give the URL of a server that is already running
    `--status` is set by dyno itself | remove it: dyno chooses free ports, a folder and an account for a server that it starts; give the URL of a server that is already running
    ");
    let right = Options::parse("arguments = [\"-L\", \"warn\", \"-report-status=false\"]").unwrap();
    assert!(read(&right, Path::new("/")).is_ok());
}

#[test]
fn settings_that_the_server_does_not_report_are_added() {
    let options =
        "goamd64 = \"v2\"\nenv = { GOGC = 200 }\narguments = [\"-L\", \"warn\"]\ncpus = \"0\"";
    let options = Options::parse(options).unwrap();
    let mut reader = options.reader();
    let choice = choice(&mut reader, Path::new("/"));
    let settings = Settings {
        arguments: reader.texts("arguments"),
        environment: reader.settings("env"),
        ..Settings::default()
    };
    let unreported_settings = unreported_settings(&choice, &settings, reader.text("cpus"));
    let unreported_settings: Vec<String> =
        unreported_settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    assert_eq!(
        unreported_settings,
        ["GOAMD64 = v2", "GOGC = 200", "arguments = -L warn", "cpus = 0"]
    );
}
