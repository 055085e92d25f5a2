//! Tests of the views: windows that are made of the machine's speed and of what distinguishes the variants.

use measure::{MachineSpeed, SpeedSample};
use record::{ClientUsage, Run};

use super::*;
use crate::comparison::groups;
use crate::sample;

/// How fast the machine is in each window beside the others of its round, as logarithms.
const WINDOWS: [f64; 6] = [0.1, -0.2, 0.05, 0.2, -0.1, -0.05];
/// What dyno's own CPU time for a transaction is in each window, as logarithms: orthogonal to the above.
const OWN: [f64; 6] = [0.1, 0.05, -0.075, 0.0, 0.0, -0.075];
/// How fast the machine is in each round of each variant.
const ROUNDS: [[f64; 2]; 3] = [[0.08, -0.08], [-0.1, 0.07], [0.06, -0.09]];

/// Two variants in three rounds of six windows. The second is 3 % faster; for a transaction it takes this many times
/// the CPU time of dyno.
pub(crate) fn in_windows(cpu: f64) -> Run {
    let mut run = sample::variants();
    run.trials.retain(|trial| trial.header.clients == 4);
    run.header.trials_planned = run.trials.len();
    run.header.windows = Some(WINDOWS.len() as u32);
    for trial in &mut run.trials {
        trial.header.is_embedded = false;
        let place = trial.header.variant.as_ref().unwrap().place;
        let round = ROUNDS[trial.header.repetition as usize][place];
        let factors = [[1.0, 1.0], [1.03, cpu]][place];
        let window = |window: usize| {
            let (speed, own) = ((round + WINDOWS[window]).exp(), OWN[window].exp());
            let (mut it, per_s) = (trial.clone(), 1e9 * speed / own * factors[0]);
            it.header.window = Some(window as u32);
            it.total.transactions = per_s.round() as u64;
            let sample = |arithmetic_ns| SpeedSample {
                arithmetic_ns,
                round_trip_ns: 2_000.0,
                cpus: 2,
                length_ns: 50_000_000,
                cost_ns: 100_000_000,
            };
            // The geometric mean of both is 40,000 ns where the speed is 1.
            let [before, after] = [30_000.0, 160_000.0 / 3.0].map(|ns| sample(ns / speed));
            it.speed = Some(MachineSpeed { before, after });
            let user_ns = (0.1 * per_s * own * factors[1]).round() as u64;
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
    // 2 samples for each of 2 x 3 x 6 windows, of 50 ms each on 2 CPUs.
    let note = note(group).unwrap();
    assert!(
        // Beside warm-ups and measured times of 72 s.
        note.contains(
            "72 samples on up to 2 CPUs took 3.60 s, 4.8 % of the time of windows with them, and 7.20 s of CPU time"
        ),
        "{note}"
    );
    for view in [crate::terminal(&digest), crate::markdown(&digest), crate::html(&digest)] {
        assert!(view.contains(RATIOS) && view.contains(COVARIATES), "{view}");
        assert!(view.contains("72 samples on up to 2 CPUs"), "{view}");
    }
}

/// What is explained of the throughput is what the load's covariate leaves: 18 % of the variance, as the squares of the
/// logarithms within a round are 0.105 and 0.02375.
#[test]
fn covariates_count_only_where_they_explain_more_than_they_cost() {
    let mut run = in_windows(1.0);
    let of = |run: &mut Run, length_ns: u64, makes_noise: bool| {
        for window in run.trials.iter_mut().flat_map(|it| &mut it.windows) {
            let speed = window.speed.as_mut().unwrap();
            for sample in [&mut speed.before, &mut speed.after] {
                sample.length_ns = length_ns;
            }
            if makes_noise {
                // The machine is said to be as fast all the time: dyno's own CPU time is left.
                (speed.before.arithmetic_ns, speed.after.arithmetic_ns) = (1.0, 1.0);
            }
        }
        let digest = Digest::new(run);
        let json: Value = serde_json::from_str(&crate::json(&digest)).unwrap();
        let told = json["conclusions"][0]["text"].as_str().unwrap().to_owned();
        let text = ratios(&groups(&digest)[0]).text();
        (json["variants"][0]["compared"][0]["throughput"].clone(), told, text)
    };
    // Two seconds of load beside each window: 2 x 0.2 s are a sixth of the time, and all noise is worth that.
    let (throughput, told, _) = of(&mut run, 200_000_000, false);
    let cost = throughput["control"]["cost"].as_f64().unwrap();
    assert!((cost - 0.4 / 2.4).abs() < 1e-9, "{throughput}");
    assert!(
        !throughput["control"]["adjusted"].is_null() && told.contains("adjusted for"),
        "{told}"
    );
    let (throughput, ..) = of(&mut run, 200_000_000, true);
    let explained = throughput["control"]["explained"].as_f64().unwrap();
    assert!(explained > 0.17 && explained < 0.19, "{throughput}");
    assert!(!throughput["control"]["adjusted"].is_null(), "more than a sixth: {throughput}");
    // 2 x 0.25 s of 2.5 s are a fifth.
    let (throughput, told, text) = of(&mut run, 250_000_000, true);
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

#[test]
fn what_the_variant_moves_between_loads_and_too_few_windows_are_said() {
    let rows = |run: &Run| {
        let digest = Digest::new(run);
        let group = &groups(&digest)[0];
        (covariates(group).text(), ratios(group).text())
    };
    // After each window of the second variant the machine takes 16 times as long, which makes 4 times of both ends. It moves
    // dyno's own CPU time as well.
    let mut run = in_windows(0.98);
    for trial in run.trials.iter_mut().filter(|it| it.header.system == "tidb.v3") {
        trial
            .windows
            .iter_mut()
            .for_each(|it| it.speed.as_mut().unwrap().after.arithmetic_ns *= 16.0);
    }
    let (text, counted) = rows(&run);
    let moved =
        text.lines().filter(|line| line.contains("no, the variant moves the machine's speed"));
    assert_eq!(moved.count(), 2, "{text}");
    assert!(counted.lines().nth(1).unwrap().contains("as measured"), "{counted}");
    let mut run = in_windows(1.0);
    run.trials.iter_mut().for_each(|trial| trial.windows.truncate(2));
    let (text, counted) = rows(&run);
    assert!(
        text.contains("no, too few windows") && !text.contains("nothing is explained"),
        "{text}"
    );
    assert!(counted.lines().nth(1).unwrap().contains("as measured"), "{counted}");
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
    // The squares of the logarithms within a round are 0.105 of the machine's speed, and 0.02375 of the other.
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
