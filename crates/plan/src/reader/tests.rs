//! Tests of reading options and reporting their problems.

use super::*;

fn options(text: &str) -> Options {
    Options::parse(text).unwrap()
}

/// Problems as lines of text: the marked place, the observation, the remedy.
fn lines(text: &str, problems: &[Problem]) -> String {
    let line = |problem: &Problem| {
        let place = problem.span.clone().map_or("(nowhere)", |span| &text[span]);
        format!("{place} | {} | {}", problem.message, problem.help.as_deref().unwrap_or(""))
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn reads_every_kind() {
    let options = options(
        r#"
        tables = 4
        table-size = "100k"
        share = 0.25
        ps = "off"
        trx = true
        pause = "1h30m"
        cache = "64MiB"
        mode = "Read-Committed"
        engine = "innodb"
        version = 10.11
        addresses = ["a:1", "b:2"]
        address = "c:3"
        settings = { max_connections = 500, log_bin = false }
        "#,
    );
    let mut reader = options.reader();
    assert_eq!(reader.integer("tables", 1, 1..=100), 4);
    assert_eq!(reader.integer("table_size", 10_000, 1..=u64::MAX), 100_000);
    assert!((reader.float("share", 1.0, 0.0..=1.0) - 0.25).abs() < 1e-12);
    assert!(!reader.boolean("ps", true));
    assert!(reader.boolean("trx", false));
    assert_eq!(reader.duration("pause", Duration::ZERO), Duration::from_secs(5400));
    assert_eq!(reader.bytes("cache", 0), 64 << 20);
    assert_eq!(reader.choice("mode", 0, &[("serializable", 1), ("read_committed", 2)]), 2);
    assert_eq!(reader.text("engine").as_deref(), Some("innodb"));
    assert_eq!(reader.text("version").as_deref(), Some("10.11"));
    assert_eq!(reader.texts("addresses"), ["a:1", "b:2"]);
    assert_eq!(reader.texts("address"), ["c:3"]);
    let settings = reader.settings("settings");
    assert_eq!(settings[0], ("max_connections".to_owned(), "500".to_owned()));
    assert_eq!(settings[1], ("log_bin".to_owned(), "OFF".to_owned()));
    assert_eq!(reader.finish(), Ok(()));
}

#[test]
fn absent_keys_take_their_defaults() {
    let options = Options::empty();
    let mut reader = options.reader();
    assert_eq!(reader.integer("a", 7, 1..=10), 7);
    assert_eq!(reader.integer_given("a", 1..=10), None);
    assert!(reader.boolean("b", true));
    assert_eq!(reader.duration("c", Duration::from_secs(1)), Duration::from_secs(1));
    assert_eq!(reader.text("d"), None);
    assert!(reader.texts("e").is_empty());
    assert!(!reader.is_given("f"));
    assert_eq!(reader.finish(), Ok(()));
}

#[test]
fn reports_everything_wrong_at_once() {
    let text = r#"
tabels = 4
range_size = 0
share = 1.5
ps = "perhaps"
pause = 5
cache = "64M"
mode = "serialisable"
engine = ["a"]
addresses = [1, true]
trx = 1
"#;
    let options = options(text);
    let mut reader = options.reader();
    assert_eq!(reader.integer("tables", 1, 1..=100), 1);
    assert_eq!(reader.integer("range_size", 100, 1..=u64::MAX), 100);
    assert!((reader.float("share", 0.5, 0.0..=1.0) - 0.5).abs() < 1e-12);
    assert!(reader.boolean("ps", true));
    reader.duration("pause", Duration::ZERO);
    reader.bytes("cache", 0);
    reader.choice("mode", 0, &[("serializable", 1), ("read_committed", 2)]);
    reader.text("engine");
    reader.texts("addresses");
    assert!(reader.boolean("trx", false));
    let problems = reader.finish().unwrap_err();
    insta::assert_snapshot!(lines(text, &problems), @r#"
    tabels | unknown key `tabels` | did you mean `tables`? allowed: addresses, cache, engine, mode, pause, ps, range_size, share, tables, trx
    0 | `range_size` is 0, out of range | allowed: 1 or more
    1.5 | `share` is 1.5, out of range | allowed: 0 to 1
    "perhaps" | `ps` is "perhaps", not true or false | allowed: true, false, "on", "off"
    5 | `pause` is 5, not a length of time | add its unit, such as "5s" or "5ms"
    "64M" | `cache` is "64M", not a size in bytes | write it such as 4096, "64MiB" or "1GB"
    "serialisable" | `mode` is "serialisable", not one of the choices | did you mean `serializable`? allowed: serializable, read_committed
    ["a"] | `engine` is ["a"], not a text | put it in quotes
    [1, true] | `addresses` is [1, true], not a text or a list of texts | write "text" or ["text", "another"]
    "#);
}

#[test]
fn the_owner_can_reject() {
    let text = "range_size = 100";
    let options = options(text);
    let mut reader = options.reader();
    reader.integer("range_size", 100, 1..=1000);
    reader.reject("range_size", "more than the table holds", "at most 10");
    let problems = reader.finish().unwrap_err();
    assert_eq!(lines(text, &problems), "100 | more than the table holds | at most 10");
}

#[test]
fn a_key_given_twice_in_two_spellings_is_reported() {
    let text = "table_size = 1\ntable-size = 2";
    let options = options(text);
    let mut reader = options.reader();
    assert_eq!(reader.integer("table_size", 0, 0..=9), 1);
    let problems = reader.finish().unwrap_err();
    assert_eq!(lines(text, &problems), "table-size | `table_size` is set twice | keep one");
}

#[test]
fn secrets_are_never_shown() {
    let options =
        options("url = \"mysql://u:hush@h\"\npassword = \"hush\"\nn = [\"m://u:hush@h\"]");
    assert!(!format!("{options:?}").contains("hush"), "{options:?}");
    let mut reader = options.reader();
    reader.integer("url", 0, 0..=1);
    reader.integer("password", 0, 0..=1);
    reader.integer("n", 0, 0..=1);
    let problems = reader.finish().unwrap_err();
    assert!(!format!("{problems:?}").contains("hush"), "{problems:?}");
    assert_eq!(problems.len(), 3);
}

#[test]
fn equal_wherever_they_stand() {
    assert_eq!(options("a = 1\nb = \"x\""), options("\n\n  a   = 1\nb = 'x'"));
    assert_ne!(options("a = 1"), options("a = 2"));
    assert_ne!(options("a = 1"), options("a = 1\nb = 2"));
}

#[test]
fn a_key_without_effect_is_accepted_with_a_note_and_not_offered_to_others() {
    let options = Options::parse("status = true\nstatsu = 1").unwrap();
    let mut reader = options.reader();
    assert_eq!(reader.peek("status").as_deref(), Some("true"));
    let note = reader.disregard("status", "progress is always shown");
    assert_eq!(note, "`status` changes nothing here (progress is always shown)");
    let problems = reader.finish().unwrap_err();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].help.as_deref(), Some("nothing is allowed here"));
}

#[test]
fn tables_are_names_with_dots() {
    let options = Options::parse("a.b.c = 1\nx = 2\n[a.d]\ne = 3").unwrap().with_dotted_names();
    let shown: Vec<String> = options.shown().into_iter().map(|(key, _)| key).collect();
    assert_eq!(shown, ["a.b.c", "a.d.e", "x"]);
    let problem = options.problem("a.b.c", "wrong", "");
    assert_eq!(problem.span, Some(8..9), "the place of the value");
}
