//! Windows of a plan: their number, their order, their warm-ups, and what does not go with them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::fuzz::source;
use crate::{Plan, SystemInstance, Trial};

const TWO: &str = "[systems.s]\nkind = \"sqlite\"\n[systems.s.variants.a]\n[systems.s.variants.b]";

fn parse(top: &str, rest: &str) -> Result<Plan, String> {
    let text = format!("workload = \"w\"\n{top}\n{TWO}\n{rest}\n");
    Plan::parse(source(&text)).map_err(|problems| problems.rendered)
}

fn plan(top: &str, rest: &str) -> Plan {
    parse(top, rest).unwrap_or_else(|problems| panic!("{problems}"))
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn windows_have_a_number_and_four_rounds_by_default() {
    for (line, windows, rounds) in [
        ("", None, 1),
        ("interleave = \"rounds\"", None, 1),
        ("interleave = \"windows\"", Some(10), 4),
        ("interleave = { windows = 3 }", Some(3), 4),
        ("interleave = \"windows\"\nrepetitions = 6", Some(10), 6),
    ] {
        let plan = plan(line, "");
        assert_eq!((plan.windows, plan.repetitions), (windows, rounds), "{line}");
    }
}

#[test]
fn in_each_round_the_variants_take_turns_under_each_load() {
    let plan = plan("interleave = { windows = 4 }\nrepetitions = 2", "[load]\nclients = [1, 8]");
    let trials = plan.trials();
    assert_eq!((trials.len(), plan.pooled_trials()), (2 * 2 * 4 * 2, 2 * 2 * 2));
    for (at, trial) in trials.iter().enumerate() {
        let place = (at / 16, [1, 8][at / 8 % 2], at / 2 % 4);
        let told = (trial.repetition as usize, trial.clients, trial.window as usize);
        assert_eq!((trial.index, told), (at, place));
    }
    // Each second turn is the one before backwards, and each variant has one window in each turn.
    for two in trials.chunks(4) {
        let systems: Vec<usize> = two.iter().map(|trial| trial.system).collect();
        assert!(systems == [0, 1, 1, 0] || systems == [1, 0, 0, 1], "{systems:?}");
    }
    let mut keys: Vec<_> =
        trials.iter().map(|it| (it.system, it.repetition, it.clients, it.ordinal())).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), trials.len(), "each window makes draws of its own");
}

#[test]
fn the_order_of_windows_is_drawn_anew_for_each_round_and_repeated_by_the_seed() {
    let order = |seed: u64| -> Vec<usize> {
        let top = format!("interleave = {{ windows = 2 }}\nrepetitions = 40\nseed = {seed}");
        plan(&top, "").trials().iter().map(|trial| trial.system).collect()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    let mut first = BTreeMap::new();
    order(1).chunks(4).for_each(|round| *first.entry(round[0]).or_insert(0) += 1);
    assert_eq!(first.len(), 2, "one variant is always first");
}

#[test]
fn all_variants_of_a_round_are_up_together() {
    let instance = |system| SystemInstance { system, round: 2 };
    let windows = plan("interleave = \"windows\"\nnoise = true", "");
    assert_eq!(windows.up_together(instance(1)), [instance(0), instance(1), instance(2)]);
    assert_eq!(plan("", "").up_together(instance(1)), [instance(1)]);
}

#[test]
fn windows_after_the_first_have_a_short_warm_up() {
    let lengths = |load: &str| {
        let plan = plan("interleave = \"windows\"", &format!("[load]\n{load}"));
        let of = |window, is_first| {
            let trial = Trial { window, ..plan.trials()[0] };
            plan.warm_up_of(trial, is_first).at_most
        };
        [of(0, true), of(0, false), of(1, false)]
    };
    assert_eq!(lengths("time = \"2s\""), [ms(1_000), ms(1_000), ms(200)]);
    assert_eq!(lengths("time = \"500ms\""), [ms(1_000), ms(1_000), ms(50)]);
    assert_eq!(lengths("time = \"100ms\""), [ms(1_000), ms(1_000), ms(20)]);
    assert_eq!(lengths("time = \"1m\""), [ms(1_000), ms(1_000), ms(1_000)]);
    assert_eq!(lengths("events = 50"), [ms(1_000), ms(1_000), ms(20)]);
    assert_eq!(lengths("time = \"2s\"\nwarm_up = \"3s\""), [ms(3_000); 3]);
    let steady = "time = \"2s\"\nprewarm = \"40s\"\nwarm_up = \"steady\"";
    assert_eq!(lengths(steady), [ms(300_000), ms(300_000), ms(200)]);
}

#[test]
fn the_estimate_counts_a_first_warm_up_for_each_start() {
    let load = "[load]\ntime = \"2s\"\nprewarm = \"10s\"";
    let plan = plan("interleave = { windows = 3 }\nrepetitions = 2", load);
    // In each of two rounds and for each of two variants 10 s, 200 ms and 200 ms before 2 s each.
    assert_eq!(plan.estimate(), Some(4 * ms(10_000 + 400 + 6_000)));
}

#[test]
fn what_does_not_go_with_windows_is_refused() {
    for (top, rest, told) in [
        ("interleave = \"turns\"", "", "one of the choices"),
        ("interleave = {}", "", "a table without `windows`"),
        ("interleave = { windows = 1 }", "", "windows"),
        ("interleave = { window = 4 }", "", "unknown key `window`"),
        ("interleave = \"windows\"\nbetween = \"reload\"", "", "`between` changes the data"),
        ("interleave = \"windows\"\nbetween = \"restore\"", "", "`between` changes the data"),
        ("interleave = \"windows\"", "[load]\nuntil = \"mean within 5%\"", "together with `until`"),
        ("interleave = \"windows\"", "[seek]\nbounds = \"p99 < 1s\"", "together with [seek]"),
        ("interleave = \"windows\"", "[systems.lite]\nkind = \"sqlite\"", "`lite` has no variants"),
        ("", "[load]\ninterleave = \"windows\"", "at the top of the plan"),
    ] {
        let problems = parse(top, rest).err().unwrap_or_else(|| panic!("{top} {rest} is accepted"));
        assert!(problems.contains(told), "{top} {rest}: {problems}");
    }
    let text = "workload = \"w\"\nsystem = \"sqlite\"\ninterleave = \"windows\"\n";
    let problems = Plan::parse(source(text)).unwrap_err().rendered;
    assert!(problems.contains("no system has variants"), "{problems}");
    assert!(problems.contains("| interleave = \"windows\""), "{problems}");
}
