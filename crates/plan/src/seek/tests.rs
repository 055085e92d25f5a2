//! Plans with a seek, right and wrong ones.

use super::*;
use crate::{Limit, Plan, Problems, Source};

fn plan(load: &str, seek: &str) -> Result<Plan, Problems> {
    let text = format!(
        "system = \"simulated\"\nworkload = \"simulated\"\n[load]\n{load}\n[seek]\n{seek}\n"
    );
    Plan::parse(Source { name: "x".to_owned(), text, folder: std::path::PathBuf::new() })
}

#[test]
fn bounds_are_read_and_shown_as_plans_write_them() {
    let written = ["p99 < 10ms", "p99.9 < 1.5s", "mean < 250us", "max < 1m", "errors < 0.1%"];
    for text in written {
        assert_eq!(Bound::parse(text).unwrap().to_string(), text);
    }
    let p99 = Bound { figure: BoundFigure::Percentile(99.0), most: 1e7 };
    for text in ["p99<10ms", " p99 <= 10ms ", "p99.0 < 10000us"] {
        assert_eq!(Bound::parse(text), Ok(p99), "{text}");
    }
    assert_eq!(Bound::parse("errors < 0.001").unwrap().to_string(), "errors < 0.1%");
}

#[test]
fn nonsense_is_not_a_bound() {
    let cases = [
        ("p99 > 10ms", "it has no `<`"),
        ("p100 < 10ms", "above 0 and below 100"),
        ("p0 < 10ms", "above 0 and below 100"),
        ("pNaN < 10ms", "above 0 and below 100"),
        ("latency < 10ms", "no figure has that name"),
        ("p99 < 10", "a latency has a unit"),
        ("p99 < 1%", "a latency has a unit"),
        ("p99 < 0s", "nothing is below 0"),
        ("errors < 0%", "nothing is below 0"),
        ("errors < 10ms", "errors are a part of all"),
        ("errors < 200%", "errors are a part of all"),
        ("<", "no figure has that name"),
    ];
    for (text, why) in cases {
        let told = Bound::parse(text).unwrap_err();
        assert!(told.contains(why), "{text}: {told}");
    }
}

#[test]
fn a_seek_has_defaults_and_sets_the_limit_of_its_probes() {
    let plan = plan("", "bounds = \"p99 < 10ms, errors < 0.1%\"").unwrap();
    let seek = plan.seek.clone().unwrap();
    assert_eq!((seek.bounds.len(), seek.over, seek.from, seek.to), (2, Over::Clients, 1.0, 1024.0));
    assert_eq!((seek.probe_time, seek.confirm_time), (PROBE_TIME, CONFIRM_TIME));
    assert_eq!(plan.load.limit, Limit::time(PROBE_TIME));
    assert!(plan.load.open.is_none());
    let trials = plan.trials();
    assert_eq!((trials.len(), trials[0].clients), (1, 1), "one seek begins there");
}

#[test]
fn a_seek_over_rates_is_an_open_loop() {
    let load = "clients = 64\narrivals = \"constant\"\nbacklog = \"1k\"";
    let plan = plan(load, "bounds = [\"p50 < 1ms\"]\nover = \"rate\"\nfrom = 500").unwrap();
    let open = plan.load.open.as_ref().unwrap();
    assert_eq!((open.arrivals, open.backlog_max), (crate::Arrivals::Constant, 1_000));
    let mut trial = plan.trials()[0];
    assert_eq!((plan.trials().len(), trial.clients, plan.rate(trial)), (1, 64, None));
    let (number, rate_per_s, time) = (3, Some(700.0), CONFIRM_TIME);
    trial.seek = Some(SeekTrial { number, rate_per_s, time, is_confirming: true });
    assert_eq!(plan.rate(trial), Some(crate::Rate::constant(700.0)));
    assert_eq!(plan.limit(trial), Limit::time(CONFIRM_TIME));
}

#[test]
fn two_systems_and_rounds_of_variants_each_have_a_seek() {
    let text = "repetitions = 2\nworkload = \"simulated\"\n[seek]\nbounds = \"p99 < 1s\"\n\
                [systems.a]\nkind = \"simulated\"\n[systems.b]\nkind = \"simulated\"\n\
                [systems.b.variants.x]\n[systems.b.variants.y]\n";
    let (name, folder) = ("x".to_owned(), std::path::PathBuf::new());
    let plan = Plan::parse(Source { name, text: text.to_owned(), folder }).unwrap();
    assert_eq!(plan.trials().len(), 2 + 2 * 2);
}

#[test]
fn a_load_that_contradicts_the_seek_is_refused() {
    let told = |load: &str, seek: &str| {
        plan(load, &format!("bounds = \"p99 < 10ms\"\n{seek}")).unwrap_err().to_string()
    };
    insta::assert_snapshot!(told("clients = 8\ntime = \"3s\"", ""), @r#"
    error: `clients` is set together with a seek over clients
     --> x:4:11
      |
    4 | clients = 8
      |           ^
      |
      = help: set `from` and `to` under [seek], or over = "rate" to keep the clients

    error: `time` is set together with [seek]
     --> x:5:8
      |
    5 | time = "3s"
      |        ^^^^
      |
      = help: a seek has its own times: `probe_time` and `confirm_time` under [seek]
    "#);
    for (load, seek, why) in [
        ("rate = 5", "", "`rate` is set together with [seek]"),
        ("", "over = \"rate\"", "a seek over rates has no `clients`"),
        ("clients = [1, 2]", "over = \"rate\"", "has one number of clients"),
        ("clients = 4\nthink_time = \"1s\"", "over = \"rate\"", "`think_time` is set together"),
        ("arrivals = \"constant\"", "", "`arrivals` is set without a `rate`"),
        ("", "from = 8\nto = 8", "the seek goes from 8 to 8"),
        ("", "from = 1.5", "`from` is 1.5 clients"),
        ("", "probe_time = \"0s\"", "`probe_time` is nothing"),
        ("", "confirm_time = \"1s\"", "`confirm_time` is shorter than `probe_time`"),
        ("", "precision = 2", "out of range"),
        ("", "probs = 20", "unknown key `probs`"),
    ] {
        let told = told(load, seek);
        assert!(told.contains(why), "{load} {seek}: {told}");
    }
}

#[test]
fn bounds_that_are_missing_or_doubled_are_refused() {
    let told = |bounds: &str| plan("", bounds).unwrap_err().to_string();
    for none in ["", "bounds = []", "bounds = \"\""] {
        assert!(told(none).contains("the seek has no bounds"), "{none}: {}", told(none));
    }
    assert!(told("bounds = \"p99 < 1s, p99 < 2s\"").contains("a figure has two bounds"));
    let both = told("bounds = \"p99 > 1s, q < 2s\"");
    assert!(both.contains("`p99 > 1s` is not a bound") && both.contains("`q < 2s` is not a bound"));
}
