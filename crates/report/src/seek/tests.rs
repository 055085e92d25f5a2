//! Views of seeks.

use measure::TrialStatus;
use record::Run;

use super::*;
use crate::Reading;
use crate::sample;

const MS: f64 = 1e6;

fn told(run: &Run) -> String {
    let digest = Digest::new(run);
    let seeks = all(&digest);
    assert_eq!(seeks.len(), 1);
    seeks[0].sentences()
}

#[test]
fn a_seek_in_a_terminal() {
    insta::assert_snapshot!(crate::terminal(&Reading::new(&sample::sought(
        20.0 * MS,
        1.0,
        1_024.0
    ))));
}

#[test]
fn every_probe_is_in_a_table() {
    let run = sample::sought(20.0 * MS, 1.0, 1_024.0);
    let digest = Digest::new(&run);
    insta::assert_snapshot!(probes(&all(&digest)[0]).text());
}

#[test]
fn probes_are_not_repetitions_of_one_measurement() {
    let run = sample::sought(20.0 * MS, 1.0, 1_024.0);
    let digest = Digest::new(&run);
    assert!(digest.trials.len() > 12);
    assert!(!digest.is_repeated());
    let confirming = |at: &usize| digest.run.trials[*at].header.probe.unwrap().is_confirming;
    assert!(digest.points.iter().flat_map(|point| &point.trials).all(confirming));
    assert!(!digest.points.is_empty());
}

#[test]
fn every_view_has_the_capacity_and_the_page_has_a_plot_of_each_bound() {
    let run = sample::sought(20.0 * MS, 1.0, 1_024.0);
    let reading = Reading::new(&run);
    let value: Value = serde_json::from_str(&crate::json(&reading)).unwrap();
    let seek = &value["seek"]["seeks"][0];
    let capacity = &seek["capacity"];
    let [low, per_s, high] =
        ["low_95", "per_s", "high_95"].map(|key| capacity[key].as_f64().unwrap());
    assert!(low < per_s && per_s < high, "{capacity}");
    assert_eq!(seek["outcome"], "found");
    assert_eq!(seek["probes"].as_array().unwrap().len(), run.trials.len());
    let html = crate::whole_html(&reading);
    assert!(html.contains("p99 of each probe") && html.contains("shade capacity"), "no plot");
    assert!(crate::markdown(&reading).contains("## Capacity"));
    let csv = crate::csv(&reading);
    let ends = |line: &str, end: &str| line.trim_end().ends_with(end);
    assert!(ends(csv.lines().next().unwrap(), "probe,confirming,kept"));
    assert!(csv.lines().any(|line| ends(line, ",1,false,true")), "{csv}");
}

#[test]
fn a_range_without_the_capacity_is_told_plainly() {
    let below = told(&sample::sought(1.0 * MS, 1.0, 64.0));
    assert!(below.starts_with("Even the smallest load, 1 client, breaks p99 ≤ 1.00 ms"), "{below}");
    assert!(
        below.ends_with("the capacity is unknown and lies below the range of the seek."),
        "{below}"
    );
    let above = told(&sample::sought(1_000.0 * MS, 1.0, 4.0));
    assert!(above.starts_with("Even the largest load, 4 clients, keeps p99 ≤ 1.00 s"), "{above}");
    assert!(above.contains("A trial of 6.00 s at 4 clients kept them"), "{above}");
}

/// It was said that 8 clients broke the bounds, which had kept them once, and so had more.
#[test]
fn loads_that_kept_and_broke_the_bounds_are_told_with_both() {
    let run = sample::sought(20.0 * MS, 1.0, 1_024.0);
    let digest = Digest::new(&run);
    let sought = &all(&digest)[0];
    let (_, broken) = sought.seek.bracket();
    let told = sought.contradictions(broken.unwrap());
    assert_eq!(told, " in 1 of 5 probes; 1 of 9 probes with more load kept them");
    assert_eq!(sought.contradictions(1_024.0), "", "no probe has this load");
}

#[test]
fn a_seek_that_ends_early_tells_between_which_loads_the_capacity_lies() {
    let mut run = sample::sought(20.0 * MS, 1.0, 1_024.0);
    let is_broken = |it: &record::TrialRecord| {
        crate::digest::probe::judged(&run, it).is_some_and(|it| !it.is_kept)
    };
    let first = run.trials.iter().position(is_broken).unwrap();
    run.trials.truncate(first + 1);
    let [low, high] = [first - 1, first].map(|at| run.trials[at].header.clients);
    let told = told(&run);
    assert!(
        told.starts_with("Between ") && told.contains(&format!(", with {low} to {high} clients")),
        "{told}"
    );
    assert!(
        told.contains(": no probe with less load broke them, and none with more kept them."),
        "{told}"
    );
}

#[test]
fn an_interrupted_seek_tells_what_is_known() {
    let mut run = sample::sought(20.0 * MS, 1.0, 1_024.0);
    run.trials.truncate(4);
    run.trials[3].end.as_mut().unwrap().status = TrialStatus::Interrupted;
    let told = told(&run);
    assert_eq!(
        told,
        "The capacity is unknown: the probes are too few, or contradict each other. Every load up to 4 clients kept \
         the bounds. The seek was interrupted."
    );
    assert!(crate::terminal(&Reading::new(&run)).contains("3 of 4 trials"));
}

#[test]
fn probes_that_fail_are_results_and_no_warnings() {
    let mut run = sample::sought(20.0 * MS, 1.0, 1_024.0);
    let end = run.trials[4].end.as_mut().unwrap();
    end.status = TrialStatus::Failed("overloaded: 9 waited".to_owned());
    let text = crate::terminal(&Reading::new(&run));
    assert!(!text.contains("overloaded") && !text.contains("1 failed"), "{text}");
    run.trials[4].end.as_mut().unwrap().status = TrialStatus::Crashed("killed".to_owned());
    run.trials.truncate(5);
    let text = crate::terminal(&Reading::new(&run));
    assert!(text.contains("The server crashed, which ended the seek."), "{text}");
    assert!(text.contains("4 of 5 trials, 1 crashed"), "{text}");
}
