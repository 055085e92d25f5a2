//! Tests that valid plans are read and wrong plans are explained.

use proptest::prelude::*;

use super::*;
use crate::fuzz::{PLAN, source};
use crate::{Arrivals, Color, CpuList, OnGeneratorLoss, Place, RateStep};

fn parse(text: &str) -> Plan {
    Plan::parse(source(text)).unwrap_or_else(|problems| panic!("{problems}"))
}

fn wrong(text: &str) -> String {
    Plan::parse(source(text)).unwrap_err().rendered
}

/// The message for a valid plan with these lines instead of its `[load]`.
fn wrong_load(load: &str) -> String {
    wrong(&format!("system = \"sqlite\"\nworkload = \"w\"\n[load]\n{load}\n"))
}

/// The message for a valid plan with these lines at its top.
fn wrong_top(top: &str) -> String {
    wrong(&format!("{top}\nsystem = \"sqlite\"\nworkload = \"w\"\n"))
}

#[test]
fn control_is_refused_as_a_key_that_was_removed() {
    insta::assert_snapshot!(wrong_top("interleave = \"rounds\"\ncontrol = false"), @r"
    error: `control` was removed: dyno does not measure the machine's speed between windows
     --> plans/x.toml:2:11
      |
    2 | control = false
      |           ^^^^^
      |
      = help: delete the line
    ");
}

#[test]
fn reads_a_whole_plan() {
    let plan = parse(PLAN);
    assert_eq!((plan.name.as_str(), plan.seed, plan.repetitions), ("whole", 7, 3));
    assert_eq!(plan.title.as_deref(), Some("Everything said"));
    assert_eq!((plan.between, plan.existing), (Between::Restore, Existing::Replace));
    assert!(plan.cleanup);
    assert_eq!(plan.percentiles, [50.0, 99.9]);
    assert_eq!(plan.sql.after_prepare, ["ANALYZE TABLE sbtest1"]);
    assert_eq!(plan.sql_for(&plan.systems[0]).run_session, ["SET a = 1", "SET b = 2"]);
    let [lite, far] = plan.systems.as_slice() else { panic!("two systems") };
    assert_eq!((lite.name.as_str(), lite.kind.as_str()), ("lite", "sqlite"));
    assert_eq!(lite.options, Options::parse("cache_size = \"64MiB\"").unwrap());
    assert_eq!((far.name.as_str(), far.kind.as_str()), ("far", "mysql"));
    assert_eq!(far.options, Options::parse("url = 'mysql://root:pw@127.0.0.1:3306/test'").unwrap());
    assert_eq!(plan.sql_for(far).run_session, ["SET a = 1", "SET b = 2", "SET c = 3"]);
    let [points] = plan.workloads.as_slice() else { panic!("one workload") };
    assert_eq!(
        (points.name.as_str(), points.kind.as_str()),
        ("points", "sysbench/oltp_point_select",)
    );
    assert_eq!(points.options, Options::parse("tables = 4\ntable_size = '100k'").unwrap());
    let expected = LoadPlan {
        prewarm: Duration::ZERO,
        clients: vec![1, 8],
        warm_up: Duration::from_secs(1),
        steady: None,
        limit: Limit::time(Duration::from_secs(5)),
        precision: None,
        is_limit_given: true,
        is_warm_up_given: true,
        is_clients_given: true,
        interval: Duration::from_millis(500),
        think_time: Duration::from_millis(10),
        generators: vec![Place::Local, Place::Local],
        on_generator_loss: OnGeneratorLoss::Continue,
        keep_copies: true,
        workers: Some(2),
        cpus: Some(CpuList::parse("0,2-3").unwrap()),
        open: None,
        bounds: crate::Bounds::default(),
    };
    assert_eq!(plan.load, expected);
    assert_eq!(plan.trials().len(), 2 * 3 * 2);
    assert_eq!(plan.estimate(), Some(Duration::from_secs(12 * 6)));
}

#[test]
fn the_short_form_takes_every_default() {
    let plan = parse("system = \"sqlite\"\nworkload = \"sysbench/oltp_read_only\"");
    assert_eq!((plan.name.as_str(), plan.title.as_deref()), ("x", None));
    assert_eq!((plan.seed, plan.repetitions, plan.cleanup), (1, 1, false));
    assert_eq!((plan.between, plan.existing), (Between::Keep, Existing::Match));
    assert_eq!(plan.percentiles, [50.0, 95.0, 99.0, 99.9]);
    assert_eq!(plan.sql, PhaseSql::default());
    assert_eq!(plan.systems[0].name, "sqlite");
    assert_eq!(plan.systems[0].kind, "sqlite");
    assert!(plan.systems[0].options.is_empty());
    assert_eq!(plan.workloads[0].name, "oltp_read_only");
    assert_eq!(plan.workloads[0].kind, "sysbench/oltp_read_only");
    assert_eq!(plan.load.clients, [1]);
    assert_eq!(plan.load.limit, Limit::time(Duration::from_secs(10)));
    assert_eq!(plan.load.warm_up, Duration::from_secs(1));
    assert_eq!(plan.load.interval, Duration::from_secs(1));
    assert_eq!(plan.load.workers, None);
}

#[test]
fn systems_and_workloads_have_several_spellings() {
    let lite = |text: &str| {
        let plan = parse(&format!("{text}\n[workloads]\norders = \"sql/orders.sql\""));
        assert_eq!(
            (plan.workloads[0].name.as_str(), plan.workloads[0].kind.as_str()),
            ("orders", "sql/orders.sql",)
        );
        let system = &plan.systems[0];
        (system.name.clone(), system.kind.clone(), format!("{:?}", system.options))
    };
    let expected =
        |name: &str, options: &str| (name.to_owned(), "sqlite".to_owned(), options.to_owned());
    assert_eq!(lite("system = \"sqlite\""), expected("sqlite", "{}"));
    assert_eq!(lite("system.use = \"sqlite\""), expected("sqlite", "{}"));
    assert_eq!(lite("[systems.sqlite]"), expected("sqlite", "{}"));
    assert_eq!(lite("[systems]\na-b = \"sqlite\""), expected("a-b", "{}"));
    assert_eq!(lite("[systems.a]\nkind = \"sqlite\"\nfile = 1"), expected("a", "{\"file\": 1}"));
    assert_eq!(lite("systems.a = { kind = \"sqlite\" }"), expected("a", "{}"));
    let url = "{\"url\": \"mysql://u:***@h/d\"}".to_owned();
    let far = |name: &str| (name.to_owned(), "mysql".to_owned(), url.clone());
    assert_eq!(lite("[systems.db]\nurl = \"mysql://u:p@h/d\""), far("db"));
    assert_eq!(lite("[systems.db]\nurl = [\"tidb://h/d\", \"tidb://i/d\"]").1, "mysql");
    assert_eq!(lite("[systems.db]\nkind = \"mariadb://u:p@h/d\"").1, "mysql");
    assert_eq!(lite("system = \"mysql://u:p@h/d\""), far("mysql"));
}

#[test]
fn deep_tables_are_shown_with_single_marks() {
    let plan = parse(&format!(
        "workload = \"w\"\n[systems.sqlite.{}]\nb = \"\\\"\"\nc = 1",
        ["x"; 60].join(".")
    ));
    let shown = format!("{:?}", plan.systems[0].options);
    assert_eq!(
        shown,
        format!("{}{{\"b\": \"\\\"\", \"c\": 1}}{}", "{\"x\": ".repeat(60), "}".repeat(60))
    );
}

#[test]
fn a_workload_is_called_after_its_files() {
    let name = |kind: &str| {
        parse(&format!("system = \"a\"\nworkload = \"{kind}\"")).workloads[0].name.clone()
    };
    assert_eq!(name("sql/my orders.sql"), "my_orders");
    assert_eq!(name("sql/pay.sql@3"), "pay");
    assert_eq!(name("sql/pay.sql@3,sql/look.sql"), "pay+look");
}

#[test]
fn events_end_a_trial_instead_of_time() {
    let plan = parse("system = \"a\"\nworkload = \"b\"\nload.events = \"10k\"");
    assert_eq!(plan.load.limit, Limit::events(10_000));
    assert_eq!(plan.estimate(), None);
}

/// A valid plan with these lines in its `[load]`.
fn load(lines: &str) -> LoadPlan {
    parse(&format!("system = \"a\"\nworkload = \"b\"\n[load]\n{lines}\n")).load
}

#[test]
fn a_rate_makes_an_open_loop() {
    assert_eq!(load("clients = 4").open, None);
    let open = load("rate = \"5k\"").open.unwrap();
    assert_eq!(open.rates, [Rate::constant(5000.0)]);
    assert_eq!((open.arrivals, open.backlog_max), (Arrivals::Poisson, 100_000));
    let open = load("rate = 0.5\narrivals = \"constant\"\nbacklog = 10").open.unwrap();
    assert_eq!(open.rates, [Rate::constant(0.5)]);
    assert_eq!((open.arrivals, open.backlog_max), (Arrivals::Constant, 10));
}

#[test]
fn rates_are_a_sweep_as_clients_are() {
    let text =
        "system = \"a\"\nworkload = \"b\"\n[load]\nclients = [8, 64]\nrate = [100, \"1k\"]\n";
    let plan = parse(text);
    let trials = plan.trials();
    let seen: Vec<(usize, String)> = trials
        .iter()
        .map(|trial| (trial.clients, plan.rate(*trial).unwrap().to_string()))
        .collect();
    let expected = [(8, "100/s"), (8, "1000/s"), (64, "100/s"), (64, "1000/s")];
    assert_eq!(seen, expected.map(|(clients, rate)| (clients, rate.to_owned())));
}

#[test]
fn steps_and_ramps_take_their_time() {
    let ramp = "steps = [{ for = \"10s\", rate = 1000 }, { for = \"30s\", from = \"1k\", to = 0 }]";
    let same = "[[load.steps]]\nfor = \"10s\"\nrate = 1000\n[[load.steps]]\nfor = \"30s\"\nfrom = 1000\nto = 0";
    for text in [ramp, same] {
        let load = load(text);
        assert_eq!(load.limit, Limit::time(Duration::from_secs(40)));
        let [rate] = &load.open.unwrap().rates[..] else { panic!("one rate over time") };
        let step = |seconds, from_per_s, to_per_s| RateStep {
            length: Duration::from_secs(seconds),
            from_per_s,
            to_per_s,
        };
        assert_eq!(rate.steps(), [step(10, 1000.0, 1000.0), step(30, 1000.0, 0.0)]);
    }
    assert_eq!(load(&format!("time = \"5s\"\n{ramp}")).limit, Limit::time(Duration::from_secs(5)));
}

#[test]
fn wrong_rates() {
    let mut all = String::new();
    for lines in [
        "rate = 0",
        "rate = \"fast\"",
        "rate = [100, 100]",
        "rate = []",
        "rate = [{ for = \"1s\", rate = 5 }]",
        "rate = 10\nthink_time = \"1ms\"",
        "rate = 10\nsteps = [{ for = \"1s\", rate = 5 }]",
        "rate = 10\narrivals = \"random\"",
        "rate = 10\nbacklog = 0",
        "arrivals = \"constant\"",
    ] {
        all += &format!("{}\n\n", wrong_load(lines));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn wrong_steps() {
    let mut all = String::new();
    for lines in [
        "steps = 5",
        "steps = []",
        "steps = [5]",
        "steps = [{ rate = 5 }]",
        "steps = [{ for = \"0s\", rate = 5 }]",
        "steps = [{ for = \"1s\" }]",
        "steps = [{ for = \"1s\", from = 5 }]",
        "steps = [{ for = \"1s\", rate = 5, to = 6 }]",
        "steps = [{ for = \"1s\", rate = 0 }]",
        "steps = [{ for = \"1s\", rate = -1, colour = 3 }]",
        "events = 10\nsteps = [{ for = \"1s\", rate = 5 }]",
    ] {
        all += &format!("{}\n\n", wrong_load(lines));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_short_time_shortens_the_default_interval() {
    let plan = parse("system = \"a\"\nworkload = \"b\"\nload.time = \"200ms\"");
    assert_eq!(plan.load.interval, Duration::from_millis(200));
}

#[test]
fn a_list_may_be_a_text_with_commas() {
    let plan = parse("system = \"a\"\nworkload = \"b\"\nload.clients = \"1, 4,8\"");
    assert_eq!(plan.load.clients, [1, 4, 8]);
}

#[test]
fn the_name_defaults_to_the_stem_of_the_file() {
    let name = |file: &str| {
        let text = "system = \"a\"\nworkload = \"b\"".to_owned();
        Plan::parse(Source { name: file.to_owned(), text, folder: std::path::PathBuf::new() })
            .unwrap()
            .name
    };
    assert_eq!(name("plans/quickstart.toml"), "quickstart");
    assert_eq!(name("my plan.toml"), "my_plan");
    assert_eq!(name("command line"), "command_line");
    assert_eq!(name(""), "unnamed");
}

const UNKNOWN_KEYS: &str = r#"
repetition = 3
[systms.sqlite]
[system]
kind = "sqlite"
[sql]
before_perpare = "SELECT 1"
[workloads.w]
[load]
cleints = 4
colour = "red"
"#;

const WRONG_KINDS: &str = r#"
seed = "four"
title = ["a"]
cleanup = "perhaps"
percentiles = [50, "many", 101]
between = "nothing"
existing = 3
system = "a"
workload = "b"
"#;

#[test]
fn wrong_plans_are_explained() {
    let explained = [
        ("an_empty_plan", wrong("")),
        ("no_toml", wrong("seed = 1\n[load\nclients = 4\n")),
        ("a_value_without_quotes", wrong("[load]\ntime = 5s\n")),
        ("a_key_twice", wrong("seed = 1\nseed = 2\n")),
        ("a_key_twice_in_two_spellings", wrong_load("warm_up = \"1s\"\nwarm-up = \"2s\"")),
        ("unknown_keys_get_the_nearest_spelling", wrong(UNKNOWN_KEYS)),
        (
            "keys_in_the_wrong_table",
            wrong("clients = 4\nsystem = \"a\"\nworkload = \"b\"\n[load]\nseed = 3\n"),
        ),
        ("no_clients", wrong_load("clients = []")),
        ("zeroes", wrong_load("clients = [0, 1]\ntime = \"0s\"\ninterval = \"0s\"\nworkers = 0")),
        (
            "zero_events_and_repetitions",
            wrong("repetitions = 0\nsystem = \"a\"\nworkload = \"b\"\n[load]\nevents = 0\n"),
        ),
        ("clients_twice", wrong_load("clients = [1, 2, 1]")),
        ("an_interval_longer_than_the_time", wrong_load("time = \"5s\"\ninterval = \"1m\"")),
        ("wrong_kinds_of_values", wrong(WRONG_KINDS)),
        (
            "wrong_kinds_of_values_in_place_of_tables",
            wrong("sql = \"ANALYZE\"\nsystems = 1\n[workloads]\na = 4\n"),
        ),
        (
            "wrong_kinds_of_values_in_a_load",
            wrong_load("clients = { low = 1 }\ntime = 5\nthink_time = \"a while\""),
        ),
        ("percentiles_twice", wrong_top("percentiles = [50, 99, 50.0]")),
        ("percentiles_as_fractions", wrong_top("percentiles = [0.5, 0.99]")),
        ("an_empty_statement", wrong_top("sql.run_session = [\"SET a = 1\", \" \"]")),
        (
            "names_that_are_invalid_as_folder_names",
            wrong("name = \"../up\"\nworkload = \"w\"\n[systems.\"a b\"]\nkind = \"sqlite\"\n"),
        ),
        (
            "two_parts_of_one_name",
            wrong(
                "system = \"a\"\n[workloads.oltp_insert]\n[workloads.\"sysbench/oltp_insert\"]\n",
            ),
        ),
        ("a_part_without_its_kind", wrong("[system]\nfile = \"a\"\n[workloads.w]\n")),
        (
            "kind_and_use",
            wrong("workload = \"w\"\n[systems.a]\nkind = \"sqlite\"\nuse = \"sqlite\"\n"),
        ),
    ];
    let sections = explained.map(|(mistake, message)| format!("## {mistake}\n{}", message.trim()));
    insta::assert_snapshot!(sections.join("\n\n"));
}

#[test]
fn time_and_events_limit_a_trial_together() {
    let load = load("time = \"5s\"\nevents = 100");
    assert_eq!(load.limit, Limit { time: Some(Duration::from_secs(5)), events: Some(100) });
}

#[test]
fn passwords_are_never_shown() {
    let text = "tite = \"mysql://u:hush@h\"\nseed = \"mysql://u:hush@h/d\" # mysql://u:hush@h\n";
    let problems = Plan::parse(source(text)).unwrap_err();
    assert!(!format!("{problems:?}").contains("hush"), "{problems:?}");
    assert!(!problems.render(Color::Always).contains("hush"));
    insta::assert_snapshot!(problems.rendered, @r#"
    error: the plan has no system
    --> plans/x.toml
     = help: add a [systems.NAME] table with its `kind`, or set system = "sqlite" at the top

    error: the plan has no workload
    --> plans/x.toml
     = help: add a [workloads.NAME] table with its `kind`, or set workload = "sysbench/oltp_read_write" at the top

    error: unknown key `tite`
     --> plans/x.toml:1:1
      |
    1 | tite = "mysql://u:***@h"
      | ^^^^
      |
      = help: did you mean `title`? allowed: between, ceiling, cleanup, existing, fail_if, interleave, least_difference, load, name, noise, percentiles, repetitions, rounds, seed, seek, sql, system, systems, title, watch, why, workload, workloads

    error: `seed` is "mysql://u:***@h/d", not a whole number
     --> plans/x.toml:2:8
      |
    2 | seed = "mysql://u:***@h/d" # mysql://u:***@h
      |        ^^^^^^^^^^^^^^^^^^^
      |
      = help: allowed: 0 or more
    "#);
    let plan = parse("system = \"mysql://u:hush@h/d\"\nworkload = \"w\"");
    assert!(!format!("{plan:?}").contains("hush"), "{plan:?}");
    assert_eq!(plan.systems[0].options.reader().text("url").unwrap(), "mysql://u:hush@h/d");
}

#[test]
fn other_crates_can_report_problems_at_kinds_and_options() {
    let plan = parse("workload = \"w\"\n[systems.a]\nkind = \"sqlit\"\nfile = \"x\"\n");
    let options = &plan.systems[0].options;
    let problems = vec![
        options.problem("file", "`file` is \"x\", which is not there", "make it"),
        options.problem("kind", "unknown kind `sqlit`", "did you mean `sqlite`?"),
        options.problem("port", "no port is said", "say `port`"),
    ];
    insta::assert_snapshot!(Problems::new(&plan.source, problems), @r#"
    error: no port is said
     --> plans/x.toml:2:1
      |
    2 | [systems.a]
      | ^^^^^^^^^^^
      |
      = help: say `port`

    error: unknown kind `sqlit`
     --> plans/x.toml:3:8
      |
    3 | kind = "sqlit"
      |        ^^^^^^^
      |
      = help: did you mean `sqlite`?

    error: `file` is "x", which is not there
     --> plans/x.toml:4:8
      |
    4 | file = "x"
      |        ^^^
      |
      = help: make it
    "#);
}

#[test]
fn output_is_coloured_on_request() {
    let problems = Plan::parse(source("")).unwrap_err();
    assert!(problems.render(Color::Always).contains("\u{1b}["));
    assert_eq!(problems.render(Color::Never), problems.to_string());
}

#[test]
fn the_shipped_plans_are_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let plan = Plan::read(&path).unwrap_or_else(|problems| panic!("{problems}"));
            assert!(plan.title.is_some(), "{}: a ready-made plan has a title", plan.name);
            names.push(plan.name);
        }
    }
    assert!(names.contains(&"quickstart".to_owned()), "{names:?}");
}

#[test]
fn the_documented_examples_are_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut examples = 0;
    for document in ["docs/ci.md", "docs/plan.md"] {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let blocks = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
        for block in blocks.filter(|block| block.contains("workload")) {
            Plan::parse(source(block)).unwrap_or_else(|problems| panic!("{document}: {problems}"));
            examples += 1;
        }
    }
    assert_eq!(examples, 4);
}

#[test]
fn a_plan_that_is_not_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans");
    let problems = Plan::read(&folder.join("quikstart.toml")).unwrap_err();
    let help = problems.problems[0].help.clone().unwrap();
    assert!(problems.problems[0].message.starts_with("cannot read this plan: "));
    assert!(help.starts_with("did you mean `quickstart.toml`? here are: "), "{help}");
    // Other plans do not help against one that is not a text.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("near.toml"), "[workloads.a]\n").unwrap();
    std::fs::write(folder.path().join("bear.toml"), [0xff, 0xfe]).unwrap();
    let problem = Plan::read(&folder.path().join("bear.toml")).unwrap_err().problems.remove(0);
    assert!(problem.message.contains("UTF-8") && problem.help.is_none(), "{problem:?}");
}

#[test]
fn a_folder_in_the_place_of_a_plan_is_answered_with_the_plans_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    file("second.toml", "system = \"sqlite\"\n");
    file("first.toml", "[workloads.a]\n");
    file("clippy.toml", "msrv = \"1.90\"\n");
    file("broken.toml", "[");
    let problem = Plan::read(folder.path()).unwrap_err().problems.remove(0);
    assert_eq!(problem.message, "this is a folder, not a plan");
    let shown = folder.path().display();
    let expected = format!("in it are: {shown}/first.toml, {shown}/second.toml");
    assert_eq!(problem.help, Some(expected));
    let problem =
        Plan::read(&folder.path().join("zzzzzzzzzz.toml")).unwrap_err().problems.remove(0);
    assert_eq!(problem.help.unwrap(), "here are: first.toml, second.toml");
}

/// A text similar to a valid plan: some bytes removed, some inserted.
fn mutated() -> impl Strategy<Value = String> {
    let chunks = "[a-z0-9=\\[\\]\\{\\}\"'.,\n#é_:/@ -]{0,6}";
    let edits = prop::collection::vec((0..PLAN.len(), 0..12_usize, chunks), 1..4);
    edits.prop_map(|edits| {
        let mut text = PLAN.to_owned();
        for (at, length, piece) in edits {
            let start = floor(&text, at);
            let end = floor(&text, start + length);
            text.replace_range(start..end, &piece);
        }
        text
    })
}

fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        let _ = Plan::parse(source(&text));
    }

    #[test]
    fn text_with_the_letters_of_toml_never_panics(text in "[a-z=\\[\\]{}\"'.,\n\r\t#é1_]{0,80}") {
        if let Err(problems) = Plan::parse(source(&text)) {
            prop_assert!(!problems.rendered.is_empty());
        }
    }

    #[test]
    fn plans_with_typing_errors_never_panic(text in mutated()) {
        if let Err(problems) = Plan::parse(source(&text)) {
            prop_assert!(!problems.problems.is_empty());
            prop_assert!(problems.rendered.contains("plans/x.toml"));
        }
    }
}

#[test]
fn the_cpus_of_the_load_are_a_set() {
    assert_eq!(load("cpus = \"3,0-1\"").cpus.unwrap().to_string(), "0-1,3");
    assert_eq!(load("cpus = 2").cpus.unwrap().to_string(), "2");
    assert_eq!(load("").cpus, None);
    let wrong = wrong_load("cpus = '0-x'");
    assert!(wrong.contains("`x` is not the number of a CPU"), "{wrong}");
}
