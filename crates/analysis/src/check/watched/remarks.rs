//! What servers did beside a load that a reader must know, as their kinds say it.

use measure::{MetricQuery, Nanos, RemarkTest, Server, ServerKind, ServerRemark};

use crate::{Code, Finding, Subject, Value, Window, kind_of};

/// The remarks that hold for a server in the measured time.
pub(super) fn of<'a>(
    server: &'a Server,
    kinds: &'a [ServerKind],
    window: Window,
) -> impl Iterator<Item = Finding> + 'a {
    let remarks = kind_of(kinds, server).map_or(&[][..], |kind| &kind.remarks);
    let window = between_answers(server, window);
    remarks.iter().filter_map(move |remark| holds(remark, server, window))
}

/// The times of the answers that belong to the edges of a window: they are asked for at an edge and come after it.
fn between_answers(server: &Server, (from, to): Window) -> Window {
    let after = |edge: Nanos| {
        let at = server.answers_ns.partition_point(|answer| *answer < edge);
        server.answers_ns.get(at).copied().unwrap_or(edge)
    };
    (after(from), after(to))
}

fn holds(remark: &ServerRemark, server: &Server, (from, to): Window) -> Option<Finding> {
    let (name, value) = match &remark.test {
        RemarkTest::Grew(query) => {
            let grown = growth(query, server, (from, to)).filter(|grown| *grown >= 1.0)?;
            ("count", Value::Count(whole(grown)))
        }
        RemarkTest::GrewByPart { gauge, of, part } => {
            let grown = growth(gauge, server, (from, to))?;
            let all = at(of, server, to).filter(|all| *all > 0.0)?;
            (grown / all >= *part).then_some(("more", Value::Part(grown / all)))?
        }
        RemarkTest::IsMore { gauge, than } => {
            let (value, least) = (at(gauge, server, to)?, at(than, server, to)?);
            (least > 0.0 && value > least).then_some(("times", Value::Number(value / least)))?
        }
    };
    let about = Finding::about(Subject::Server(server.name.clone()), Code::SystemRemark);
    Some(about.with("text", Value::Text(remark.text.clone())).with(name, value))
}

/// How much the series of a query grew together; `None` where nothing is known of the begin.
fn growth(query: &MetricQuery, server: &Server, (from, to): Window) -> Option<f64> {
    Some(at(query, server, to)? - at(query, server, from)?)
}

/// The sum of the series of a query at a time.
fn at(query: &MetricQuery, server: &Server, at_ns: Nanos) -> Option<f64> {
    let has = |(label, value): &(String, String), series: &measure::Series| {
        series.label(label) == Some(value.as_str())
    };
    let of_query = server.series.iter().filter(|series| series.name == query.family);
    let taken = of_query.filter(|series| query.with.iter().all(|pair| has(pair, series)));
    taken.filter_map(|series| series.at(at_ns)).reduce(|sum, value| sum + value)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is at least 1")]
fn whole(count: f64) -> u64 {
    count as u64
}

#[cfg(test)]
mod tests {
    use measure::{MetricFunction, Series};

    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    fn query(family: &str) -> MetricQuery {
        MetricQuery::new(MetricFunction::Gauge, family)
    }

    /// A server with one figure that is `from` at the begin and `to` after two seconds, and one that stays.
    fn server(name: &str, (from, to): (f64, f64), other: f64) -> Server {
        let mut moving = Series::parse(name);
        moving.points = vec![(SECOND, from), (2 * SECOND, to)];
        let mut other_one = Series::parse("all");
        other_one.points = vec![(0, other)];
        Server {
            name: "db".to_owned(),
            families: vec![moving.name.clone()],
            answers_ns: vec![SECOND, 2 * SECOND, 3 * SECOND],
            series: vec![moving, other_one],
            ..Server::default()
        }
    }

    fn found(test: RemarkTest, server: &Server, window: Window) -> Option<Finding> {
        let remark = ServerRemark { text: "it did".to_owned(), test };
        let kind = ServerKind { remarks: vec![remark], ..ServerKind::default() };
        let kinds = [kind];
        of(server, &kinds, window).next()
    }

    #[test]
    fn a_counter_that_grew_in_the_measured_time_is_told_with_its_growth() {
        let test = || RemarkTest::Grew(query("jobs").with("why", "asked"));
        let server = server("jobs{why=\"asked\"}", (3.0, 5.0), 1.0);
        let finding = found(test(), &server, (0, 3 * SECOND)).unwrap();
        assert_eq!(finding.code, Code::SystemRemark);
        assert_eq!(finding.value("count"), Some(&Value::Count(2)));
        assert_eq!(finding.value("text"), Some(&Value::Text("it did".to_owned())));
        assert_eq!(found(test(), &server, (2 * SECOND, 3 * SECOND)), None);
        // The answer at the end of the window comes a little later.
        assert!(found(test(), &server, (SECOND / 2, 2 * SECOND - 1)).is_some());
        let other = RemarkTest::Grew(query("jobs").with("why", "timed"));
        assert_eq!(found(other, &server, (0, 3 * SECOND)), None);
    }

    #[test]
    fn a_gauge_that_grew_by_a_part_of_another_and_one_that_is_higher_are_told() {
        let window = (0, 3 * SECOND);
        let grew = |part| RemarkTest::GrewByPart { gauge: query("dead"), of: query("all"), part };
        let server = server("dead", (10.0, 30.0), 100.0);
        let finding = found(grew(0.2), &server, window).unwrap();
        assert_eq!(finding.value("more"), Some(&Value::Part(0.2)));
        assert_eq!(found(grew(0.21), &server, window), None);
        let is_more = |gauge, than| RemarkTest::IsMore { gauge: query(gauge), than: query(than) };
        assert_eq!(found(is_more("dead", "all"), &server, window), None);
        let finding = found(is_more("all", "dead"), &server, window).unwrap();
        assert_eq!(finding.value("times"), Some(&Value::Number(100.0 / 30.0)));
        assert_eq!(found(is_more("all", "nothing"), &server, window), None);
    }
}
