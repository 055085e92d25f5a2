//! Tests on an external server, which `cargo xtask test` provides.

use super::*;
use crate::daemon::ignore_progress;
use crate::testing::started;

fn server() -> String {
    std::env::var("DYNO_TEST_MYSQL").expect("DYNO_TEST_MYSQL is not set: run `cargo xtask test`")
}

fn problems(options: &str) -> String {
    let Err(problems) = read(&Options::parse(options).unwrap(), Path::new("/")) else {
        panic!("{options} was accepted")
    };
    problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_reachable_server_is_identified() {
    let options = format!("url = \"{}\"", server());
    let mut running = started(read, &options, Path::new("/")).unwrap();
    let identity = running.identity();
    assert!(["MariaDB", "MySQL", "TiDB"].contains(&identity.product.as_str()), "{identity:?}");
    assert!(identity.version.starts_with(|first: char| first.is_ascii_digit() || first == 'v'));
    assert!(!identity.settings.is_empty());
    assert!(running.limits().connections.unwrap().max >= 1);
    assert_eq!(running.exited(), None);
    assert!(running.snapshot(&mut ignore_progress).unwrap_err().to_string().contains("reload"));
    assert!(running.restore(&mut ignore_progress).unwrap_err().to_string().contains("reload"));
    running.stop(&mut ignore_progress).unwrap();
}

#[test]
fn an_unreachable_server_is_reported() {
    let options = "url = \"mysql://root@127.0.0.1:1/test\"";
    let Err(error) = started(read, options, Path::new("/")) else {
        panic!("something answers on port 1")
    };
    assert!(format!("{error:#}").contains("127.0.0.1:1"), "{error:#}");
}

#[test]
fn a_valid_url_is_required() {
    assert_eq!(problems(""), "`url` is missing: where is the server?");
    let wrong = problems("url = \"postgres://me:secret@h/d\"");
    assert!(wrong.starts_with("`url` is wrong: "), "{wrong}");
    assert!(!wrong.contains("secret"), "{wrong}");
}

#[test]
fn the_plan_says_how_a_password_may_be_sent_and_goes_before_the_url() {
    let parse = |text: &str| {
        let options = Options::parse(text).unwrap();
        let mut reader = options.reader();
        let read = with_table(url(&mut reader).unwrap(), &mut reader, Path::new("/plans"));
        reader.finish().unwrap();
        read
    };
    let plain = "url = \"mysql://u@a/d\"";
    assert_eq!(parse(plain).enable_cleartext_plugin, None);
    let url = "url = \"mysql://u@a/d?enable-cleartext-plugin=1&get-server-public-key=1\"";
    let silent = parse(url);
    assert_eq!((silent.enable_cleartext_plugin, silent.rsa_key.get), (Some(true), Some(true)));
    let stricter =
        parse(&format!("{url}\nenable_cleartext_plugin = false\nget_server_public_key = false"));
    assert_eq!(
        (stricter.enable_cleartext_plugin, stricter.rsa_key.get),
        (Some(false), Some(false))
    );
    let looser = parse(&format!(
        "{plain}\nenable-cleartext-plugin = true\n\
                                 server-public-key-path = \"key.pem\""
    ));
    assert_eq!(looser.enable_cleartext_plugin, Some(true));
    assert_eq!(looser.rsa_key.path.as_deref(), Some(Path::new("/plans/key.pem")));
    let wrong = problems(&format!("{plain}\nenable_cleartext_plugin = \"perhaps\""));
    assert!(wrong.contains("true or false"), "{wrong}");
}

#[test]
fn several_urls_are_one_system_with_several_hosts() {
    let options = Options::parse("url = [\"mysql://u@a:4000/d\", \"mysql://u@b:4001/d\"]").unwrap();
    let mut reader = options.reader();
    let hosts = url(&mut reader).unwrap().hosts;
    let names: Vec<String> = hosts.iter().map(|host| host.with_port(3306)).collect();
    assert_eq!(names, ["a:4000", "b:4001"]);
    let wrong = problems("url = [\"mysql://u@a:4000/d\", \"mysql://u@b:4001/other\"]");
    assert_eq!(wrong, "the URLs differ in more than their hosts");
}

/// As MariaDB 10.11 answers to `SELECT PASSWORD('secret')`.
#[test]
fn the_hash_is_that_of_the_server() {
    let hash = native_hash(&Password::new("secret"));
    assert_eq!(hash, "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7");
}
