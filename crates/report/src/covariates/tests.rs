//! Tests of the views: windows that are made of the machine's speed and of what distinguishes the variants.

use measure::MachineSpeed;
use record::{ClientUsage, Run};

use super::*;
use crate::comparison::groups;
use crate::sample;

/// How fast the machine is in each window of the second variant beside the others of its round, as logarithms, and how slow
/// in those of the first.
const WINDOWS: [f64; 9] = [0.1, -0.1, 0.2, -0.2, 0.05, -0.05, 0.1, -0.1, 0.0];
/// What dyno's own CPU time for a transaction is, likewise: orthogonal to the above.
const OWN: [f64; 9] = [0.106, -0.106, -0.053, 0.053, 0.0, 0.0, 0.0, 0.0, 0.0];
/// How fast the machine is in each round of each variant.
const ROUNDS: [[f64; 2]; 3] = [[0.08, -0.08], [-0.1, 0.07], [0.06, -0.09]];

/// Two variants in three rounds of nine windows. The second is 3 % faster; for a transaction it takes this many times
/// the CPU time of dyno.
pub(crate) fn in_windows(cpu: f64) -> Run {
    windows_of([1.0, cpu], [-1.0, 1.0])
}

/// The same without what distinguishes the windows of a turn.
pub(crate) fn in_equal_windows() -> Run {
    windows_of([1.0, 1.0], [1.0, 1.0])
}

/// What the variants take of dyno's CPU time, and the signs of what their windows differ by.
fn windows_of(cpu: [f64; 2], signs: [f64; 2]) -> Run {
    let mut run = sample::variants();
    run.trials.retain(|trial| trial.header.clients == 4);
    run.header.trials_planned = run.trials.len();
    run.header.windows = Some(WINDOWS.len() as u32);
    for trial in &mut run.trials {
        trial.header.is_embedded = false;
        let place = trial.header.variant.as_ref().unwrap().place;
        let round = ROUNDS[trial.header.repetition as usize][place];
        let (faster, cpu, sign) = ([1.0, 1.03][place], cpu[place], signs[place]);
        let window = |window: usize| {
            let (speed, own) = ((round + sign * WINDOWS[window]).exp(), (sign * OWN[window]).exp());
            let (mut it, per_s) = (trial.clone(), 1e9 * speed / own * faster);
            it.header.window = Some(window as u32);
            it.total.transactions = per_s.round() as u64;
            it.speed = Some(MachineSpeed {
                arithmetic_ns: 40_000.0 / speed,
                round_trip_ns: 2_000.0,
                cpus: 2,
                length_ns: 100_000_000,
                cost_ns: 200_000_000,
            });
            let user_ns = (0.1 * per_s * own * cpu).round() as u64;
            it.end.as_mut().unwrap().usage =
                Some(ClientUsage { user_ns, ..ClientUsage::default() });
            it
        };
        let windows: Vec<TrialRecord> = (0..WINDOWS.len()).map(window).collect();
        trial.total.transactions = windows.iter().map(|it| it.total.transactions).sum();
        trial.windows = windows;
    }
    run
}

#[test]
fn the_machines_speed_is_taken_out_of_the_ratio_that_counts() {
    let run = in_windows(1.0);
    let digest = Digest::new(&run);
    let group = &groups(&digest)[0];
    // The shifts of the second variant less those of the first: -0.16, 0.17 and -0.15, -0.0467 in the mean; with ln
    // 1.03 that is -0.0171.
    let table = ratios(group).text();
    assert_eq!(table.lines().count(), 2, "{table}");
    assert!(table.contains("adjusted") && table.contains("0.983"), "{table}");
    let json: Value = serde_json::from_str(&crate::json(&digest)).unwrap();
    let throughput = &json["variants"][0]["compared"][0]["throughput"];
    let near = |seen: &Value, expected: f64| {
        assert!((seen.as_f64().unwrap() - expected).abs() < 1e-6, "{seen} against {expected}");
    };
    ["ratio", "low_95", "high_95"].iter().for_each(|key| near(&throughput[key], 1.03));
    assert_eq!(json["variants"][0]["compared"][0]["verdict"], "faster");
    let told = "v3 is faster than v1: throughput +3.0 % (95 % interval +3.0 % to +3.0 %), 3 rounds, adjusted for the \
                machine's speed";
    let text = json["conclusions"][0]["text"].as_str().unwrap();
    assert!(text.contains(told), "{text}");
    let control = &throughput["control"];
    near(&control["measured"]["ratio"], (-0.14_f64 / 3.0).exp() * 1.03);
    near(&control["adjusted"]["ratio"], 1.03);
    near(&control["explained"], 1.0);
    let of =
        |at: usize| (&control["covariates"][at]["covariate"], &control["covariates"][at]["role"]);
    assert_eq!(of(0), (&json!("arithmetic"), &json!("used")));
    assert_eq!(of(1), (&json!("round_trip"), &json!("redundant")), "it does not vary");
    assert_eq!(of(2), (&json!("own_cpu"), &json!("used")), "both variants have the same");
    [0, 2].iter().for_each(|at| near(&control["covariates"][*at]["coefficient"], -1.0));
    near(&control["covariates"][0]["effect"]["ratio"], (0.14_f64 / 3.0).exp());
    // Latencies do not vary: the ratio stays as it is measured.
    let latency = &json["variants"][0]["compared"][0]["latency"]["control"];
    assert_eq!((&latency["adjusted"], &latency["explained"]), (&Value::Null, &Value::Null));
}

#[test]
fn every_view_has_both_ratios_and_what_the_measurement_took() {
    let run = in_windows(1.0);
    let digest = Digest::new(&run);
    let group = &groups(&digest)[0];
    insta::assert_snapshot!(format!("{}\n{}", ratios(group).text(), covariates(group).text()));
    // A sample for each of 2 x 3 x 9 windows, of 100 ms each on 2 CPUs.
    let note = note(group).unwrap();
    assert!(
        // Beside warm-ups and measured times of 108 s.
        note.contains(
            "54 samples on up to 2 CPUs took 5.40 s, 4.8 % of the time of windows with them, and 10.8 s of CPU time"
        ),
        "{note}"
    );
    for view in [crate::terminal(&digest), crate::markdown(&digest), crate::html(&digest)] {
        assert!(view.contains(RATIOS) && view.contains(COVARIATES), "{view}");
        assert!(view.contains("54 samples on up to 2 CPUs"), "{view}");
    }
}

/// What is explained of the throughput is what the load's covariate leaves: 18 % of the variance, as the squares of the
/// logarithms within a round are 0.125 and 0.02809.
#[test]
fn covariates_count_only_where_they_explain_more_than_they_cost() {
    let mut run = in_windows(1.0);
    let of = |run: &mut Run, length_ns: u64, makes_noise: bool| {
        for window in run.trials.iter_mut().flat_map(|it| &mut it.windows) {
            let speed = window.speed.as_mut().unwrap();
            speed.length_ns = length_ns;
            if makes_noise {
                // The machine is said to be as fast all the time: dyno's own CPU time is left.
                speed.arithmetic_ns = 1.0;
            }
        }
        let digest = Digest::new(run);
        let json: Value = serde_json::from_str(&crate::json(&digest)).unwrap();
        let told = json["conclusions"][0]["text"].as_str().unwrap().to_owned();
        let text = ratios(&groups(&digest)[0]).text();
        (json["variants"][0]["compared"][0]["throughput"].clone(), told, text)
    };
    // Two seconds of load beside each window: 0.4 s are a sixth of the time, and all noise is worth that.
    let (throughput, told, _) = of(&mut run, 400_000_000, false);
    let cost = throughput["control"]["cost"].as_f64().unwrap();
    assert!((cost - 0.4 / 2.4).abs() < 1e-9, "{throughput}");
    assert!(
        !throughput["control"]["adjusted"].is_null() && told.contains("adjusted for"),
        "{told}"
    );
    let (throughput, ..) = of(&mut run, 400_000_000, true);
    let explained = throughput["control"]["explained"].as_f64().unwrap();
    assert!(explained > 0.17 && explained < 0.19, "{throughput}");
    assert!(!throughput["control"]["adjusted"].is_null(), "more than a sixth: {throughput}");
    // 0.5 s of 2.5 s are a fifth.
    let (throughput, told, text) = of(&mut run, 500_000_000, true);
    let control = &throughput["control"];
    assert!(control["adjusted"].is_null() && !told.contains("adjusted for"), "{told}");
    assert_eq!(control["covariates"][2]["role"], "not-worth-it");
    let row = text.lines().nth(1).unwrap();
    assert!(row.contains("as measured") && row.contains("20 %") && row.contains("18 %"), "{text}");
    assert_eq!(throughput["ratio"], control["measured"]["ratio"]);
}

/// Their rule has ended the rounds by the ratios as measured.
#[test]
fn rounds_that_ended_by_themselves_are_not_adjusted() {
    let mut run = in_windows(1.0);
    run.header.rounds = Some(measure::RoundsRule {
        goal: measure::RoundsGoal::Width(0.02),
        figure: measure::PreciseFigure::Throughput,
        at_least: 4,
        at_most: 40,
    });
    let digest = Digest::new(&run);
    assert!(ratios(&groups(&digest)[0]).is_empty());
}

/// The variants take turns, and after each window of the second one the machine takes this many times as long.
fn in_turns(left: f64) -> Run {
    let mut run = in_windows(1.0);
    for trial in &mut run.trials {
        let is_second = trial.header.system == "tidb.v3";
        let round = trial.header.repetition as usize;
        for (window, number) in trial.windows.iter_mut().zip(0..) {
            // A B, B A.
            let is_later = is_second == (number % 2 == 0);
            window.header.index = 2 * (WINDOWS.len() * round + number) + usize::from(is_later);
            let is_after_second = if is_later { !is_second } else { is_second && number > 0 };
            if is_after_second {
                window.speed.as_mut().unwrap().arithmetic_ns *= left;
            }
        }
    }
    run
}

#[test]
fn what_the_variant_before_has_left_does_not_change_the_adjusted_ratio() {
    let control = |left: f64| {
        let run = in_turns(left);
        let json: Value = serde_json::from_str(&crate::json(&Digest::new(&run))).unwrap();
        json["variants"][0]["compared"][0]["throughput"]["control"].clone()
    };
    let [none, much] = [1.0, 16.0].map(control);
    for key in ["ratio", "low_95", "high_95"] {
        let [none, much] = [&none, &much].map(|it| it["adjusted"][key].as_f64().unwrap());
        assert!((none - much).abs() < 1e-9, "{none} and {much}");
    }
    assert!(none["explained"].as_f64().unwrap() > 0.5, "{none}");
}

/// Before each load of a round the variants had another one, or none: that is no turn of this load.
#[test]
fn the_first_window_under_a_load_follows_no_other() {
    let mut run = in_turns(16.0);
    let windows_of_round = 2 * WINDOWS.len();
    let other_load = |trial: &TrialRecord| {
        let mut trial = trial.clone();
        trial.header.clients = 8;
        for window in &mut trial.windows {
            window.header.clients = 8;
            window.header.index += windows_of_round;
        }
        trial
    };
    // Each round has both loads.
    for window in run.trials.iter_mut().flat_map(|it| &mut it.windows) {
        window.header.index += window.header.repetition as usize * windows_of_round;
    }
    let others: Vec<TrialRecord> = run.trials.iter().map(other_load).collect();
    let compared = |run: &Run, load: usize| {
        let json: Value = serde_json::from_str(&crate::json(&Digest::new(run))).unwrap();
        json["variants"][0]["compared"][load]["throughput"]["control"].clone()
    };
    let alone = Run { trials: others.clone(), ..run.clone() };
    run.trials.extend(others);
    assert!(compared(&alone, 0)["adjusted"]["ratio"].is_f64());
    assert_eq!(compared(&run, 1), compared(&alone, 0));
}

#[test]
fn too_few_windows_are_said() {
    let mut run = in_windows(1.0);
    run.trials.iter_mut().for_each(|trial| trial.windows.truncate(2));
    let digest = Digest::new(&run);
    let group = &groups(&digest)[0];
    let text = covariates(group).text();
    assert!(
        text.contains("no, too few windows") && !text.contains("nothing is explained"),
        "{text}"
    );
    assert!(ratios(group).text().lines().nth(1).unwrap().contains("as measured"));
}

#[test]
fn a_covariate_that_the_variant_moves_is_shown_and_not_used() {
    let run = in_windows(0.98);
    let digest = Digest::new(&run);
    let text = covariates(&groups(&digest)[0]).text();
    let row = text.lines().find(|line| line.contains("dyno's CPU")).unwrap();
    assert!(
        row.contains("no, the variant may move it") && row.contains("during the load"),
        "{row}"
    );
    // The squares of the logarithms within a round are 0.125 of the machine's speed, and 0.02809 of the other.
    let text = ratios(&groups(&digest)[0]).text();
    let row = text.lines().nth(1).unwrap();
    assert!(row.contains("1.030") && row.contains("82 %") && row.contains("100 %"), "{text}");
}

#[test]
fn a_run_without_windows_has_no_covariates() {
    let run = sample::variants();
    let digest = Digest::new(&run);
    let group = &groups(&digest)[0];
    assert!(ratios(group).is_empty() && covariates(group).is_empty());
    assert_eq!(note(group), None);
}

#[test]
fn without_the_machines_speed_dynos_own_cpu_is_no_covariate() {
    let mut run = in_windows(1.0);
    run.trials.iter_mut().flat_map(|it| &mut it.windows).for_each(|window| window.speed = None);
    let digest = Digest::new(&run);
    assert!(ratios(&groups(&digest)[0]).is_empty());
}
