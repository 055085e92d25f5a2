//! Plans are read into clusters; errors in plans come with a correction.

use super::*;
use crate::testing::{all_problems, write_program};

#[test]
fn errors_are_reported_for_each_role() {
    let wrong = [
        "stores = 0",
        "tidbs = 65",
        "tikv_config = \"nowhere.toml\"",
        "tidb_cpus = \"3-1\"",
        "pd_env = \"GOGC\"",
        "tikv_argument = \"-L\"",
        "tikv_arguments = [\"--addr=127.0.0.1:20160\"]\ntidb_arguments = [\"-P\", \"4000\"]",
        "pd_arguments = [\"--client-urls=http://127.0.0.1:2379\"]",
        "on_member_exit = \"restart\"",
    ];
    insta::assert_snapshot!(all_problems(read, &wrong), @r#"
    `stores` is 0, out of range | allowed: 1 to 64
    `tidbs` is 65, out of range | allowed: 1 to 64
    there is no file /plans/nowhere.toml | create it first, or give another path
    `3-1` counts backwards | write a set such as "0", "0-3" or "0,2-3"
    `pd_env` is "GOGC", not a table | write pd_env = { name = "value" }
    unknown key `tikv_argument` | did you mean `tikv_arguments`? allowed: env, on_member_exit, pd, pd_arguments, pd_config, pd_cpus, pd_env, pds, ps, settings, stores, tidb, tidb_arguments, tidb_config, tidb_cpus, tidb_env, tidbs, tikv, tikv_arguments, tikv_config, tikv_cpus, tikv_env
    `--addr` is set by dyno itself | remove it: dyno chooses free ports, a folder and an account for a server that it starts; give the URL of a server that is already running
    `-P` is set by dyno itself | remove it: dyno chooses free ports, a folder and an account for a server that it starts; give the URL of a server that is already running
    `--client-urls` is set by dyno itself | remove it: dyno chooses free ports, a folder and an account for a server that it starts; give the URL of a server that is already running
    `on_member_exit` is "restart", not one of the choices | allowed: continue, crash
    "#);
}

#[test]
fn missing_programs_are_named_before_the_start() {
    let options = "pd = \"/opt/none/pd-server\"\ntikv = \"/bin/true\"\ntidb = \"/bin/true\"";
    let system = read(&Options::parse(options).unwrap(), Path::new("/")).unwrap();
    let error = system.provide(&mut |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(error.to_string(), "`pd`: /opt/none/pd-server is not a program that can be run");
}

#[test]
fn a_debug_build_is_reported_before_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let tikv = folder.path().join("tikv-server");
    let script = "#!/bin/sh\necho TiKV; echo 'Release Version: 7.5.0'; echo 'Profile: dev'\n";
    write_program(&tikv, script);
    let options = "pd = \"/bin/true\"\ntikv = \"tikv-server\"\ntidb = \"/bin/true\"";
    let system = read(&Options::parse(options).unwrap(), folder.path()).unwrap();
    let mut notes = Vec::new();
    let mut listener = |step: ProgressEvent<'_>| {
        if let ProgressEvent::Note(note) = step {
            notes.push(note.to_owned());
        }
        ControlFlow::Continue(())
    };
    system.provide(&mut listener).unwrap();
    let [note] = &notes[..] else { panic!("{notes:?}") };
    assert!(note.starts_with("tikv-server ("), "{note}");
    assert!(note.contains("is built for debugging: its profile is `dev`"), "{note}");
}

#[test]
fn settings_that_no_server_reports_are_added() {
    let options = Options::parse(
        "env = { TZ = \"UTC\" }\ntidb_env = { GOGC = 200 }\ntikv_arguments = [\"-L\", \"warn\"]\n\
         pd_cpus = \"0\"",
    );
    let options = options.unwrap();
    let mut reader = options.reader();
    let environment = reader.settings("env");
    let members = [Role::Pd, Role::TiKv, Role::TiDb]
        .map(|role| Member::read(role, &mut reader, &environment, Path::new("/")));
    reader.finish().unwrap();
    let unreported_settings = members.iter().flat_map(|member| &member.unreported_settings);
    let unreported_settings: Vec<String> =
        unreported_settings.map(|(name, value)| format!("{name} = {value}")).collect();
    assert_eq!(unreported_settings, ["pd_cpus = 0", "tikv_arguments = -L warn", "tidb_GOGC = 200"]);
    let of_tidb = &members[2].settings.environment;
    assert_eq!(of_tidb, &[("TZ", "UTC"), ("GOGC", "200")].map(|(a, b)| (a.into(), b.into())));
}
