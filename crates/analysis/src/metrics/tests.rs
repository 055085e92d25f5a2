//! Metrics whose rates and quantiles are known.

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

fn means(groups: &BTreeMap<String, Vec<Spell>>) -> Vec<(&str, Vec<f64>)> {
    let of = |spells: &[Spell]| spells.iter().map(|spell| spell.mean).collect();
    groups.iter().map(|(name, spells)| (name.as_str(), of(spells))).collect()
}

#[test]
fn counters_become_rates_by_label() {
    let server = server(vec![
        series("q_total{type=\"Select\",db=\"a\"}", &[10.0, 30.0, 70.0]),
        series("q_total{type=\"Select\",db=\"b\"}", &[0.0, 2.0, 2.0]),
        series("q_total{type=\"Insert\",db=\"a\"}", &[5.0, 5.0, 6.0]),
        series("q_total_other{type=\"Insert\"}", &[5.0, 500.0, 600.0]),
    ]);
    let all = Selection::of("q_total");
    assert_eq!(means(&all.rates(&server)), [("", vec![11.0, 20.5])]);
    let by_type = [("Insert", vec![0.0, 0.5]), ("Select", vec![11.0, 20.0])];
    assert_eq!(means(&all.by("type").rates(&server)), by_type);
    let of_b = all.with(&[("db", "b")]);
    assert_eq!(means(&of_b.rates(&server)), [("", vec![1.0, 0.0])]);
    let but_b = all.without(&[("db", "b")]);
    assert_eq!(means(&but_b.rates(&server)), [("", vec![10.0, 20.5])]);
    assert_eq!(means(&Selection::of("none").rates(&server)), []);
}

#[test]
fn a_value_holds_until_it_changes_and_a_new_start_makes_a_hole() {
    let mut held = series("a", &[1.0]);
    held.points.push((4 * SECOND, 5.0));
    assert_eq!(means(&Selection::of("a").rates(&server(vec![held]))), [("", vec![0.0, 2.0])]);
    let set_back = server(vec![series("a", &[100.0, 3.0, 7.0])]);
    let rates = Selection::of("a").rates(&set_back);
    assert_eq!(means(&rates), [("", vec![2.0])]);
    assert_eq!(rates[""][0].from_ns, 2 * SECOND);
}

#[test]
fn gauges_are_added_up() {
    let server = server(vec![
        series("conns{group=\"a\"}", &[1.0, 2.0, 3.0]),
        series("conns{group=\"b\"}", &[10.0, 10.0, 0.0]),
    ]);
    assert_eq!(means(&Selection::of("conns").levels(&server)), [("", vec![12.0, 3.0])]);
}

/// 100 values in the first spell: 50 up to 1 ms, 40 up to 2 ms, 10 beyond; none in the second.
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
    let quantile = |q| means(&Selection::of("t").quantiles(&server, q))[0].1.clone();
    assert_eq!(quantile(0.25), [0.000_5]);
    assert_eq!(quantile(0.5), [0.001]);
    assert!((quantile(0.7)[0] - 0.001_5).abs() < 1e-12);
    assert_eq!(quantile(0.99), [0.002], "the last end is all that is known");
}

#[test]
fn histograms_have_means_and_counts() {
    let server = histogram();
    let mean = Selection::of("t").means(&server);
    assert_eq!(mean[""].len(), 1);
    assert!((mean[""][0].mean - 0.002).abs() < 1e-12);
    assert_eq!(means(&Selection::of("t").counts(&server)), [("", vec![50.0, 0.0])]);
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
    assert_eq!(means(&Selection::of("t").quantiles(&server, 0.75)), [("", vec![1.5])]);
    let by_type = Selection::of("t").by("type").quantiles(&server, 0.5);
    assert_eq!(means(&by_type), [("a", vec![0.5]), ("b", vec![1.5])]);
}

#[test]
fn what_is_told_is_known_though_it_never_changed() {
    let told = Server { families: vec!["a_total".to_owned()], ..Server::default() };
    assert!(Selection::of("a_total").is_told_by(&told));
    assert!(!Selection::of("b_total").is_told_by(&told));
}

#[test]
fn several_servers_are_told_apart_by_their_names() {
    let one = server(vec![series("q_total{instance=\"mine\"}", &[0.0, 2.0, 6.0])]);
    let mut other = server(vec![series("q_total", &[0.0, 20.0, 60.0])]);
    other.name = "other".to_owned();
    other.answers_ns.pop();
    let all = merged(&[&other, &one]);
    let by_instance = Selection::of("q_total").by(INSTANCE);
    let expected = [("", vec![1.0, 2.0]), ("other", vec![10.0, 20.0])];
    assert_eq!(means(&by_instance.rates(&all)), expected);
}
