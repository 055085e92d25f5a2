//! Metrics with known rates and quantiles.

use measure::MetricFunction::{CountRate, Gauge, Mean, Quantile, Rate};

use super::*;

const SECOND: Nanos = 1_000_000_000;

fn series(key: &str, values: &[f64]) -> Series {
    let mut series = Series::parse(key);
    let points = values.iter().enumerate();
    series.points = points.map(|(at, value)| (at as Nanos * 2 * SECOND, *value)).collect();
    series
}

/// Three answers two seconds apart.
fn server(series: Vec<Series>) -> Server {
    Server { answers_ns: vec![0, 2 * SECOND, 4 * SECOND], series, ..Server::default() }
}

fn values(groups: &BTreeMap<String, Vec<SampleWindow>>) -> Vec<(&str, Vec<f64>)> {
    let of = |sample_windows: &[SampleWindow]| {
        sample_windows.iter().map(|sample_window| sample_window.mean).collect()
    };
    groups.iter().map(|(name, sample_windows)| (name.as_str(), of(sample_windows))).collect()
}

fn figures(
    function: MetricFunction,
    family: &str,
    server: &Server,
) -> BTreeMap<String, Vec<SampleWindow>> {
    evaluate(&MetricQuery::new(function, family), server)
}

fn by_instance(
    function: MetricFunction,
    family: &str,
    server: &Server,
) -> BTreeMap<String, Vec<SampleWindow>> {
    evaluate(&MetricQuery::new(function, family).by(INSTANCE), server)
}

#[test]
fn a_server_has_the_first_kind_whose_metrics_it_reports() {
    let kind = |name: &str, mark: Option<&str>| ServerKind {
        name: name.to_owned(),
        marks: mark.map(str::to_owned).into_iter().collect(),
        ..ServerKind::default()
    };
    let kinds = [kind("any", None), kind("db", Some("db_server_")), kind("store", Some("store_"))];
    let name = |kinds: &[ServerKind], family: &str| {
        let server = Server { families: vec![family.to_owned()], ..Server::default() };
        kind_of(kinds, &server).map(|kind| kind.name.clone())
    };
    assert_eq!(name(&kinds, "store_messages").as_deref(), Some("store"));
    assert_eq!(name(&kinds, "db_store_requests").as_deref(), Some("any"));
    assert_eq!(name(&kinds, "node_cpu_seconds_total"), None);
    assert_eq!(name(&kinds[1..], "process_cpu_seconds_total"), None);
}

#[test]
fn counters_become_rates_by_label() {
    let server = server(vec![
        series("q_total{type=\"Select\",db=\"a\"}", &[10.0, 30.0, 70.0]),
        series("q_total{type=\"Select\",db=\"b\"}", &[0.0, 2.0, 2.0]),
        series("q_total{type=\"Insert\",db=\"a\"}", &[5.0, 5.0, 6.0]),
        series("q_total_other{type=\"Insert\"}", &[5.0, 500.0, 600.0]),
    ]);
    let all = MetricQuery::new(Rate, "q_total");
    assert_eq!(values(&evaluate(&all, &server)), [("", vec![11.0, 20.5])]);
    let by_type = [("Insert", vec![0.0, 0.5]), ("Select", vec![11.0, 20.0])];
    assert_eq!(values(&evaluate(&all.clone().by("type"), &server)), by_type);
    let of_b = all.clone().with("db", "b");
    assert_eq!(values(&evaluate(&of_b, &server)), [("", vec![1.0, 0.0])]);
    let but_b = all.without("db", "b");
    assert_eq!(values(&evaluate(&but_b, &server)), [("", vec![10.0, 20.5])]);
    assert_eq!(values(&figures(Rate, "none", &server)), []);
}

#[test]
fn values_hold_until_they_change_and_restarts_leave_a_gap() {
    let mut held = series("a", &[1.0]);
    held.points.push((4 * SECOND, 5.0));
    assert_eq!(values(&figures(Rate, "a", &server(vec![held]))), [("", vec![0.0, 2.0])]);
    let set_back = server(vec![series("a", &[100.0, 3.0, 7.0])]);
    let rates = figures(Rate, "a", &set_back);
    assert_eq!(values(&rates), [("", vec![2.0])]);
    assert_eq!(rates[""][0].from_ns, 2 * SECOND);
}

#[test]
fn gauges_are_summed() {
    let server = server(vec![
        series("conns{group=\"a\"}", &[1.0, 2.0, 3.0]),
        series("conns{group=\"b\"}", &[10.0, 10.0, 0.0]),
    ]);
    assert_eq!(values(&figures(Gauge, "conns", &server)), [("", vec![12.0, 3.0])]);
}

/// 100 values in the first sample window: 50 up to 1 ms, 40 up to 2 ms, 10 above; none in the second.
fn histogram() -> Server {
    server(vec![
        series("t_bucket{le=\"0.002\"}", &[7.0, 97.0, 97.0]),
        series("t_bucket{le=\"0.001\"}", &[5.0, 55.0, 55.0]),
        series("t_bucket{le=\"+Inf\"}", &[7.0, 107.0, 107.0]),
        series("t_sum", &[1.0, 1.2, 1.2]),
        series("t_count", &[7.0, 107.0, 107.0]),
    ])
}

#[test]
fn quantiles_lie_within_their_bucket_and_need_values() {
    let server = histogram();
    let quantile = |q| values(&figures(Quantile(q), "t", &server))[0].1.clone();
    assert_eq!(quantile(0.25), [0.000_5]);
    assert_eq!(quantile(0.5), [0.001]);
    assert!((quantile(0.7)[0] - 0.001_5).abs() < 1e-12);
    assert_eq!(quantile(0.99), [0.002], "the last end is all that is known");
}

#[test]
fn histograms_have_means_and_counts() {
    let server = histogram();
    let mean = figures(Mean, "t", &server);
    assert_eq!(mean[""].len(), 1);
    assert!((mean[""][0].mean - 0.002).abs() < 1e-12);
    assert_eq!(values(&figures(CountRate, "t", &server)), [("", vec![50.0, 0.0])]);
}

#[test]
fn buckets_of_several_histograms_add_up() {
    let server = server(vec![
        series("t_bucket{type=\"a\",le=\"1\"}", &[0.0, 10.0, 10.0]),
        series("t_bucket{type=\"a\",le=\"2\"}", &[0.0, 10.0, 10.0]),
        series("t_bucket{type=\"b\",le=\"1\"}", &[0.0, 0.0, 0.0]),
        series("t_bucket{type=\"b\",le=\"2\"}", &[0.0, 10.0, 10.0]),
        series("t_bucket{type=\"b\",le=\"wrong\"}", &[0.0, 10.0, 10.0]),
    ]);
    assert_eq!(values(&figures(Quantile(0.75), "t", &server)), [("", vec![1.5])]);
    let by_type = evaluate(&MetricQuery::new(Quantile(0.5), "t").by("type"), &server);
    assert_eq!(values(&by_type), [("a", vec![0.5]), ("b", vec![1.5])]);
}

#[test]
fn constant_series_are_known() {
    let told = Server { families: vec!["a_total".to_owned()], ..Server::default() };
    assert!(is_reported(&MetricQuery::new(Rate, "a_total"), &told));
    assert!(!is_reported(&MetricQuery::new(Rate, "b_total"), &told));
}

#[test]
fn servers_are_distinguished_by_name() {
    let one = server(vec![series("q_total{instance=\"mine\"}", &[0.0, 2.0, 6.0])]);
    let mut other = server(vec![series("q_total", &[0.0, 20.0, 60.0])]);
    other.name = "other".to_owned();
    let all = merged(&[&other, &one]);
    let expected = [("", vec![1.0, 2.0]), ("other", vec![10.0, 20.0])];
    assert_eq!(values(&by_instance(Rate, "q_total", &all)), expected);
}

/// The second server is asked at the same times, and answers a little earlier or later than the first.
#[test]
fn growth_is_assigned_to_windows_when_servers_answer_at_different_times() {
    let first = Server {
        answers_ns: (0..=5).map(|at| at * SECOND).collect(),
        series: vec![Series { points: vec![(0, 0.0), (SECOND, 1.0)], ..Series::parse("q_total") }],
        name: "first".to_owned(),
        ..Server::default()
    };
    let millis = [5, 1_200, 1_990, 3_010, 4_300];
    let mut counter = Series::parse("q_total");
    let mut gauge = Series::parse("connections");
    counter.points = millis.iter().map(|at| (at * SECOND / 1_000, *at as f64)).collect();
    gauge.points = millis.iter().map(|at| (at * SECOND / 1_000, 8.0)).collect();
    let answers_ns = millis.iter().map(|at| at * SECOND / 1_000).collect();
    let series = vec![counter, gauge];
    let second = Server { answers_ns, series, name: "second".to_owned(), ..Server::default() };
    let all = merged(&[&first, &second]);
    let rates = by_instance(Rate, "q_total", &all);
    let of_second = &rates["second"];
    // 1,000 each second; there is no figure for the time before its first answer.
    assert_eq!((of_second[0].from_ns, of_second[0].to_ns), (SECOND, 2 * SECOND));
    for sample_window in &of_second[..3] {
        assert!((sample_window.mean - 1_000.0).abs() < 1e-6, "{of_second:?}");
    }
    let levels = by_instance(Gauge, "connections", &all);
    assert_eq!(values(&levels), [("second", vec![8.0; 5])]);
}

#[test]
fn a_server_has_no_figures_before_its_first_answer() {
    let early = server(vec![series("q_total", &[0.0, 20.0, 60.0])]);
    let late_points =
        |key: &str, value: f64| Series { points: vec![(4 * SECOND, value)], ..Series::parse(key) };
    let late = Server {
        name: "late".to_owned(),
        answers_ns: vec![4 * SECOND],
        series: vec![late_points("q_total", 70.0), late_points("connections", 3.0)],
        ..Server::default()
    };
    let all = merged(&[&early, &late]);
    let rates = by_instance(Rate, "q_total", &all);
    assert_eq!(values(&rates), [("", vec![10.0, 20.0]), ("late", vec![])]);
    let levels = by_instance(Gauge, "connections", &all);
    assert_eq!(values(&levels), [("late", vec![3.0])]);
}

#[test]
fn a_counter_reset_between_other_servers_answers_leaves_a_gap() {
    let first = server(vec![series("other_total", &[0.0, 1.0, 2.0])]);
    let mut back = Series::parse("q_total");
    back.points = vec![(0, 100.0), (SECOND, 110.0), (3 * SECOND, 7.0), (5 * SECOND, 27.0)];
    let answers_ns = vec![0, SECOND, 3 * SECOND, 5 * SECOND];
    let second = Server { answers_ns, series: vec![back], ..Server::default() };
    // The first server has fewer answers, so the second server's times are used, in either order.
    let alone = figures(Rate, "q_total", &merged(&[&first, &second]));
    assert_eq!(values(&alone), [("", vec![10.0, 10.0])]);
    let more = Server { answers_ns: (0..=5).map(|at| at * SECOND).collect(), ..first };
    let rates = figures(Rate, "q_total", &merged(&[&more, &second]));
    assert_eq!(values(&rates), [("", vec![10.0, 0.0, 10.0, 10.0])]);
    assert_eq!(rates[""][2].from_ns, 3 * SECOND, "a hole from 2 s to 3 s: {rates:?}");
}
