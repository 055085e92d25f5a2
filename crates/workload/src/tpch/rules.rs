//! The scores of TPC-H, and where a load leaves the specification.

use measure::{Formula, OperationId, Rules, Score};

use super::parameters::QUERIES;
use super::settings::{Order, Parameters, Settings};

/// The scales of results (clause 4.1.3.1), each with the least number of streams of its throughput test (clause 5.3.4).
const SCALES: [(f64, usize); 10] = [
    (1.0, 2),
    (10.0, 3),
    (30.0, 4),
    (100.0, 5),
    (300.0, 6),
    (1_000.0, 7),
    (3_000.0, 8),
    (10_000.0, 9),
    (30_000.0, 10),
    (100_000.0, 11),
];
const HOUR_S: u64 = 3_600;

/// The score of a load of `clients` clients, when it is one of the specification's tests, and remarks.
pub(super) fn rules(settings: &Settings, clients: usize) -> Rules {
    let order = (settings.order == Order::Ascending).then(|| {
        "the queries run from Q1 to Q22, not in the order of appendix A, which keeps systems from preparing for the \
         next one"
            .to_owned()
    });
    Rules {
        scores: score(settings, clients).into_iter().collect(),
        // A stream that is through waits for the others.
        has_waits: clients > 1,
        remarks: order.into_iter().collect(),
        ..Rules::default()
    }
}

/// Power@Size of one client (clause 5.4.1), Throughput@Size of several (clause 5.4.2). A load that leaves anything of
/// the test out has no score.
fn score(settings: &Settings, clients: usize) -> Option<Score> {
    let scale = settings.scale;
    let (_, streams_min) = SCALES.into_iter().find(|(of, _)| *of == scale)?;
    let is_specified = settings.has_refresh
        && settings.parameters == Parameters::Random
        && settings.order == Order::Specified;
    let streams = settings.streams(clients);
    if !is_specified || (clients > 1 && streams < streams_min) {
        return None;
    }
    let all = |count: usize| (0..count as u16).map(OperationId).collect();
    let (name, operations, formula) = if clients == 1 {
        ("Power", all(QUERIES + 2), Formula::Power { scale })
    } else {
        let successes = (streams * QUERIES) as u64;
        ("Throughput", all(QUERIES), Formula::Throughput { scale, successes })
    };
    Some(Score {
        name: format!("{name}@{scale}"),
        meaning: "queries per hour times the scale, with the formula of TPC-H 3.0.1, clause 5.4; unaudited: no TPC \
                  result, and not comparable with one"
            .to_owned(),
        operations,
        period_s: HOUR_S,
        formula,
        most: None,
    })
}

#[cfg(test)]
mod tests {
    use plan::Options;

    use super::*;

    fn names(options: &str, clients: usize) -> Vec<String> {
        let options = Options::parse(options).unwrap();
        let rules = rules(&Settings::read(&mut options.reader()), clients);
        rules.scores.into_iter().map(|score| score.name).collect()
    }

    #[test]
    fn only_whole_tests_at_the_scales_of_the_specification_have_a_score() {
        let whole = "refresh = true\nparameters = \"random\"";
        assert_eq!(names(whole, 1), ["Power@1"]);
        assert_eq!(names(whole, 3), ["Throughput@1"], "two streams and the refresh stream");
        assert_eq!(names(whole, 2), [""; 0], "one stream");
        assert_eq!(names(&format!("scale = 10\n{whole}"), 3), [""; 0], "two streams");
        assert_eq!(names(&format!("scale = 10\n{whole}"), 4), ["Throughput@10"]);
        assert_eq!(names(&format!("scale = 2\n{whole}"), 1), [""; 0]);
        assert_eq!(names(&format!("{whole}\norder = \"ascending\""), 1), [""; 0]);
        assert_eq!(names("refresh = true", 1), [""; 0], "validation parameters");
        assert_eq!(names("parameters = \"random\"", 1), [""; 0], "no refresh");
    }
}
