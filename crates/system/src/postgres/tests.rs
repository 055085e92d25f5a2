//! Tests on an external server, which `cargo xtask test` provides.

use super::*;
use crate::daemon::ignore_progress;
use crate::testing::started;

fn server() -> String {
    let name = "DYNO_TEST_POSTGRES";
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run `cargo xtask test`"))
}

fn problems(options: &str) -> String {
    let Err(problems) = read(&Options::parse(options).unwrap(), Path::new("/")) else {
        panic!("{options} was accepted")
    };
    problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_reachable_postgresql_is_identified() {
    let options = format!("url = \"{}\"", server());
    let running = started(read, &options, Path::new("/")).unwrap();
    let identity = running.identity();
    assert_eq!(identity.product, "PostgreSQL");
    assert!(identity.version.starts_with(|first: char| first.is_ascii_digit()), "{identity:?}");
    let setting = |name| identity.settings.iter().find(|(it, _)| it == name).map(|(_, it)| it);
    assert_eq!(setting("statements").map(String::as_str), Some("prepared by name"));
    assert!(setting("shared_buffers").is_some() && setting("collation").is_some());
    assert!(running.limits().connections.unwrap().max >= 1);
    running.stop(&mut ignore_progress).unwrap();
}

#[test]
fn a_missing_database_is_created_once_and_named_otherwise() {
    let url = server();
    let (place, _) = url.rsplit_once('/').unwrap();
    let url = format!("{place}/dyno created");
    let run = |options: &str| {
        let started = started(read, &format!("url = \"{url}\"\n{options}"), Path::new("/"));
        started.map(|running| running.stop(&mut ignore_progress).unwrap())
    };
    let told = format!("{:#}", run("").unwrap_err());
    assert!(told.contains("3D000") && told.contains("--create-database"), "{told}");
    run("create_database = true").unwrap();
    run("create_database = true").unwrap();
    let options = format!("url = \"{}\"", server());
    let running = started(read, &options, Path::new("/")).unwrap();
    let crate::Access::Database(target) = running.access() else { panic!() };
    rows(target, "DROP DATABASE \"dyno created\"", &mut ignore_progress).unwrap();
}

#[test]
fn a_valid_url_is_required_and_options_go_before_it() {
    assert_eq!(problems(""), "`url` is missing: where is the server?");
    let wrong = problems("url = \"mysql://me:secret@h/d\"");
    assert!(wrong.starts_with("`url` is wrong: "), "{wrong}");
    assert!(!wrong.contains("secret"), "{wrong}");
    let url = "url = \"postgres://u@h/d?sslmode=disable&ps=text\"";
    for given in ["ps = \"off\"", "ssl_mode = \"verify-full\""] {
        assert!(read(&Options::parse(&format!("{url}\n{given}")).unwrap(), Path::new("/")).is_ok());
    }
    let wrong = problems(&format!("{url}\nps = \"perhaps\""));
    assert!(wrong.contains("perhaps"), "{wrong}");
}
