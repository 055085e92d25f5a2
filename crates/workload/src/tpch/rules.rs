//! The scores of TPC-H, and where a load leaves the specification.

use measure::{Formula, OperationId, Rules, Score};

use super::parameters::QUERIES;
use super::settings::{Order, Parameters, Settings};
use super::workload::listed;

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
    let order = (settings.asked.is_none() && settings.order == Order::Ascending).then(|| {
        "the queries run from Q1 to Q22, not in the order of appendix A, which keeps systems from preparing for the \
         next one"
            .to_owned()
    });
    let unscored = unscored(settings, clients);
    Rules {
        scores: if unscored.is_empty() { vec![score(settings, clients)] } else { Vec::new() },
        // A stream that is through waits for the others.
        has_waits: clients > 1,
        remarks: order.into_iter().collect(),
        unscored,
        ..Rules::default()
    }
}

/// What a load lacks of the power test (one client) or the throughput test (several).
fn unscored(settings: &Settings, clients: usize) -> Vec<String> {
    let Settings { scale, asked, order, parameters, has_refresh, .. } = settings;
    let streams = settings.streams(clients);
    let mut missing = Vec::new();
    match SCALES.iter().find(|(of, _)| of == scale) {
        None => missing.push(format!(
            "scale {scale} is none of the specification's, which are 1, 10, 30, 100 and so on (clause 4.1.3.1)"
        )),
        Some((_, least)) if clients > 1 && streams < *least => missing.push(format!(
            "a throughput test at scale {scale} has {least} streams of queries or more (clause 5.3.4), and this \
             load {}",
            if streams == 1 { "one".to_owned() } else { streams.to_string() }
        )),
        Some(_) => {}
    }
    if let Some(asked) = asked {
        missing.push(format!("{} alone ran, in this order", listed(asked)));
    } else if *order == Order::Ascending {
        missing.push("the queries did not run in the order of appendix A".to_owned());
    }
    if *parameters == Parameters::Validation {
        missing.push(
            "the parameters were those of the validation (`parameters = \"random\"` draws them)"
                .to_owned(),
        );
    }
    if !has_refresh {
        missing.push("the refresh functions did not run (`refresh = true`)".to_owned());
    }
    missing
}

/// Power@Size of one client (clause 5.4.1), Throughput@Size of several (clause 5.4.2).
fn score(settings: &Settings, clients: usize) -> Score {
    let scale = settings.scale;
    let streams = settings.streams(clients);
    let all = |count: usize| (0..count as u16).map(OperationId).collect();
    let (name, operations, formula) = if clients == 1 {
        ("Power", all(QUERIES + 2), Formula::Power { scale })
    } else {
        let successes = (streams * QUERIES) as u64;
        ("Throughput", all(QUERIES), Formula::Throughput { scale, successes })
    };
    Score {
        name: format!("{name}@{scale}"),
        meaning: "queries per hour times the scale, with the formula of TPC-H 3.0.1, clause 5.4; unaudited: no TPC \
                  result, and not comparable with one"
            .to_owned(),
        operations,
        period_s: HOUR_S,
        formula,
        most: None,
    }
}

#[cfg(test)]
mod tests {
    use plan::Options;

    use super::*;

    fn rules_of(options: &str, clients: usize) -> Rules {
        let options = Options::parse(options).unwrap();
        rules(&Settings::read(&mut options.reader()), clients)
    }

    fn names(options: &str, clients: usize) -> Vec<String> {
        rules_of(options, clients).scores.into_iter().map(|score| score.name).collect()
    }

    /// Why a load has no score; asserts that it has none.
    fn missing(options: &str, clients: usize) -> String {
        let rules = rules_of(options, clients);
        assert_eq!(rules.scores, []);
        rules.unscored.join("; ")
    }

    const WHOLE: &str = "refresh = true\nparameters = \"random\"";

    #[test]
    fn only_whole_tests_at_the_scales_of_the_specification_have_a_score() {
        assert_eq!(names(WHOLE, 1), ["Power@1"]);
        assert_eq!(names(WHOLE, 3), ["Throughput@1"], "two streams and the refresh stream");
        assert_eq!(names(&format!("scale = 10\n{WHOLE}"), 4), ["Throughput@10"]);
        assert_eq!(names(&format!("scale = 30\n{WHOLE}"), 1), ["Power@30"]);
        assert!(rules_of(WHOLE, 1).scores[0].meaning.contains("unaudited"));
    }

    #[test]
    fn throughput_needs_the_streams_of_its_scale() {
        // Clause 5.3.4.
        let least = [(1, 2), (10, 3), (30, 4), (100, 5), (300, 6), (1_000, 7), (3_000, 8)];
        let more = [(10_000, 9), (30_000, 10), (100_000, 11)];
        for (scale, streams) in least.into_iter().chain(more) {
            let options = format!("scale = {scale}\n{WHOLE}");
            // One client more is the refresh stream.
            assert_eq!(names(&options, streams + 1), [format!("Throughput@{scale}")]);
            assert_eq!(names(&options, streams + 2), [format!("Throughput@{scale}")]);
            let told = missing(&options, streams);
            assert!(told.contains(&format!("has {streams} streams of queries or more")), "{told}");
        }
    }

    #[test]
    fn a_load_without_a_score_says_what_it_lacks() {
        let told = missing("", 1);
        assert_eq!(
            told,
            "the parameters were those of the validation (`parameters = \"random\"` draws them); the refresh \
             functions did not run (`refresh = true`)"
        );
        let told = missing(&format!("scale = 2\n{WHOLE}"), 1);
        assert!(told.starts_with("scale 2 is none of the specification's"), "{told}");
        assert!(!told.contains(';'), "{told}");
        let told = missing(&format!("{WHOLE}\norder = \"ascending\""), 1);
        assert_eq!(told, "the queries did not run in the order of appendix A");
        let told = missing(&format!("{WHOLE}\nqueries = [14, 2, 9]"), 1);
        assert_eq!(told, "Q14, Q2 and Q9 alone ran, in this order");
        let every: Vec<String> = (1..=22).map(|query| query.to_string()).collect();
        let told = missing(&format!("{WHOLE}\nqueries = \"{}\"", every.join(",")), 1);
        assert!(told.contains("in this order"), "{told}");
        let told = missing(WHOLE, 2);
        assert!(told.ends_with("and this load one"), "{told}");
    }
}
