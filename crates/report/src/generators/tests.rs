//! Views of runs with two generators.

use measure::LatencyHistogram;
use serde_json::Value;

use super::*;
use crate::Reading;
use crate::sample;

#[test]
fn generators_stand_side_by_side_and_together() {
    let run = sample::generators();
    let digest = Digest::new(&run);
    insta::assert_snapshot!(by_point(&digest).text());
    insta::assert_snapshot!(hosts(&digest).text());
}

#[test]
fn percentiles_of_all_generators_are_of_all_values_and_no_means() {
    let mut run = sample::generators();
    run.trials.truncate(1);
    // 990 transactions of 1 ms on one generator, ten of 100 ms on the other: the p99 of all is 1 ms.
    let [mut fast, mut slow] = [LatencyHistogram::new(), LatencyHistogram::new()];
    (0..990).for_each(|_| fast.record(1_000_000));
    (0..10).for_each(|_| slow.record(100_000_000));
    let trial = &mut run.trials[0];
    let all = LatencyHistogram::sum([&fast, &slow]);
    trial.total.operations[0].succeeded = all;
    let end = trial.end.as_mut().unwrap();
    [end.generators[0].latencies, end.generators[1].latencies] = [fast, slow];
    let digest = Digest::new(&run);
    let p99 = |latency: &analysis::Latency| latency.percentile_ns(99.0).unwrap() as f64 / 1e6;
    let parts = Part::of_trial(&digest.trials[0]);
    let [one, other] = [p99(parts[0].latency), p99(parts[1].latency)];
    let together = p99(Part::together(&digest.trials[0]).latency);
    assert!((one - 1.0).abs() < 0.001 && (other - 100.0).abs() < 0.1, "{one} {other}");
    assert!((together - 1.0).abs() < 0.001, "{together}, where the mean of both is 50.5");
}

#[test]
fn every_view_has_the_generators_and_the_loss_of_one() {
    let run = sample::lost_generator();
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    let page = crate::whole_html(&reading);
    for text in [
        "<h2>Generators</h2>",
        ">ssh://bench1 lost<",
        "throughput of each generator",
        "generator ssh://bench1 lost at 3.200 s: its connection &lt;closed&gt;",
        "<td class=\"w\">lost at 3.200 s</td>",
        "ssh://bench1 at 3.20 s, 1.80 s before the end of the measured time, 45 % of it: its connection",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("<closed>"));
    let codes: Vec<_> = digest.trials[0].findings.iter().map(|finding| finding.code).collect();
    assert!(codes.contains(&analysis::Code::GeneratorLost), "{codes:?}");
    assert!(
        !codes.contains(&analysis::Code::ClientsLeft),
        "its clients are told with it: {codes:?}"
    );
    for view in [crate::markdown(&reading), crate::terminal(&reading)] {
        assert!(view.contains("Generators") && view.contains("lost at 3.200 s"), "{view}");
        assert!(view.contains("A generator of the load was lost (doubtful)"), "{view}");
    }
}

#[test]
fn programs_get_each_generator_in_full() {
    let mut run = sample::generators();
    run.trials.truncate(1);
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    let report: Value = serde_json::from_str(&crate::json(&reading)).unwrap();
    let generators = &report["trials"][0]["generators"];
    let counts = [0, 1].map(|at| generators[at]["transactions"].as_u64().unwrap());
    assert_eq!(Some(counts[0] + counts[1]), report["trials"][0]["transactions"].as_u64());
    let interval = &report["trials"][0]["intervals"][1];
    let each = [0, 1].map(|at| interval["generators"][at].as_u64().unwrap());
    assert_eq!(Some(each[0] + each[1]), interval["transactions"].as_u64());
    insta::assert_snapshot!(serde_json::to_string_pretty(&generators[1]).unwrap());
    insta::assert_snapshot!(csv(digest).unwrap().replace("\r\n", "\n"));
}

#[test]
fn a_stall_names_its_generator() {
    let mut run = sample::generators();
    run.trials.truncate(1);
    let far = &mut run.trials[0].end.as_mut().unwrap().generators[1];
    let (start_ns, end_ns) = (2_000_000_000, 4_000_000_000);
    far.generator.as_mut().unwrap().stalls = vec![measure::GeneratorStall { start_ns, end_ns }];
    let reading = Reading::new(&run);
    let page = crate::whole_html(&reading);
    for text in [
        "<title>ssh://bench1 was stalled for 2.00 s</title>",
        "2.000 s</td><td class=\"n\">2.00 s</td><td class=\"w\">ssh://bench1</td>",
        "ssh://bench1: from 2.00 s to 4.00 s, 50 % of the measured time",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn a_load_of_one_process_has_no_generators() {
    let run = sample::run();
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    assert!(by_point(digest).is_empty() && hosts(digest).is_empty());
    assert_eq!(csv(digest), None);
    assert_eq!(json(&digest.trials[0]), None);
    assert!(moments(&digest.trials[0], 5.0).is_empty());
    assert!(!crate::whole_html(&reading).contains("<h2>Generators</h2>"));
}

#[test]
fn a_file_of_generators_is_written_where_there_are_some() {
    let folder = tempfile::tempdir().unwrap();
    let run = sample::generators();
    crate::write_all(&crate::Reading::new(&run), folder.path(), &run.header.dyno).unwrap();
    let text = std::fs::read_to_string(folder.path().join("report-generators.csv")).unwrap();
    // The heads, and two trials with two generators each.
    assert_eq!(text.lines().count(), 5);
}
