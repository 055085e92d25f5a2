//! A workload's own figures: its scores and its mix.

use measure::{Formula, LatencyHistogram, LatencyLimit, Nanos, OperationId, Rules, Tally, sum};

use crate::latency::per;
use crate::measured::Measured;

/// A workload's own figure.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreSummary {
    pub name: String,
    /// Successful operations per period of the score.
    pub value: f64,
    /// Part of the highest possible value, if that is known.
    pub of_most: Option<f64>,
}

/// The share of some operations in all transactions that succeeded.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareSummary {
    pub name: String,
    pub percent: f64,
    pub least_percent: f64,
    /// Standard deviation of a share that is drawn at random with that probability, over the same number of
    /// transactions, percent: sqrt(p (1 - p) / n), of the binomial distribution.
    pub chance_percent: f64,
}

/// A shortfall of up to this number of standard deviations is chance: of a mix that is drawn with the least share
/// itself, one share in 740 falls short by more (normal distribution, one side).
const CHANCE_DEVIATIONS: f64 = 3.0;

impl ShareSummary {
    /// Whether the share is as high as required, or chance explains what is missing. A deck of cards is exact but for
    /// the part of it that each client has drawn at the end, which deviates less than independent draws.
    pub fn is_kept(&self) -> bool {
        self.percent + CHANCE_DEVIATIONS * self.chance_percent >= self.least_percent
    }
}

/// Whether a load is a set of operations that are not alike and run as often as the set says, not for a time: a
/// workload with a score of such a set, or without the score that its sets have.
pub fn is_set_of_operations(rules: &Rules) -> bool {
    rules.scores.iter().any(|score| !score.formula.is_rate()) || !rules.unscored.is_empty()
}

/// The workload's own figures over this number of seconds.
pub(crate) fn scores(measured: &Measured<'_>, seconds: f64) -> Vec<ScoreSummary> {
    let has_no_failure = measured.total.failed_transactions == 0;
    let score = |score: &measure::Score| {
        let count = successes(measured.total, &score.operations);
        let rate = per(count as f64 * score.period_s as f64, seconds);
        let value = match score.formula {
            Formula::Rate => rate,
            Formula::Power { scale } => {
                let mean_s = geometric_mean_s(measured.total, &score.operations)?;
                per(score.period_s as f64 * scale, mean_s)
            }
            Formula::Throughput { scale, successes } if count == successes && has_no_failure => {
                rate * scale
            }
            Formula::Throughput { .. } => return None,
        };
        let of_most = score.most.map(|most| per(value, most));
        Some(ScoreSummary { name: score.name.clone(), value, of_most })
    };
    measured.rules.scores.iter().filter_map(score).collect()
}

/// How far below the longest time a time may be before a geometric mean takes it as longer than it is: TPC-H 3.0.1,
/// clause 5.4.1.4.
const SHORTEST_PART: f64 = 1.0 / 1_000.0;

/// The geometric mean of the operations' mean times, s; `None` unless each of them succeeded and none failed.
fn geometric_mean_s(total: &Tally, operations: &[OperationId]) -> Option<f64> {
    let time = |id: &OperationId| {
        let tally = total.operations.get(usize::from(id.0))?;
        let is_whole = tally.failed.is_empty() && tally.timed_out.is_empty();
        (is_whole && !tally.succeeded.is_empty()).then(|| tally.succeeded.mean_ns() / 1e9)
    };
    let times = operations.iter().map(time).collect::<Option<Vec<f64>>>()?;
    let longest = times.iter().copied().fold(0.0, f64::max);
    let logarithms = times.iter().map(|time| time.max(longest * SHORTEST_PART).ln());
    let mean = logarithms.sum::<f64>() / times.len() as f64;
    (longest > 0.0).then(|| mean.exp())
}

/// What the power test and the throughput test of one system come to together: TPC-H 3.0.1, clause 5.4.3.1. Both are
/// scores of their trials, by name.
pub fn composite(power: f64, throughput: f64) -> f64 {
    (power * throughput).sqrt()
}

/// The workload's mix; empty when no transaction succeeded.
pub(crate) fn shares(measured: &Measured<'_>) -> Vec<ShareSummary> {
    let all = measured.total.transactions;
    if all == 0 {
        return Vec::new();
    }
    let share = |share: &measure::Share| {
        let least = (share.least_percent / 100.0).clamp(0.0, 1.0);
        ShareSummary {
            name: share.name.clone(),
            percent: 100.0 * successes(measured.total, &share.operations) as f64 / all as f64,
            least_percent: share.least_percent,
            chance_percent: 100.0 * (least * (1.0 - least) / all as f64).sqrt(),
        }
    };
    measured.rules.shares.iter().map(share).collect()
}

/// The limits of response times that were missed, with the percentile's value, ns. Transactions that timed out count
/// with the time until then.
pub(crate) fn missed_limits<'a>(
    measured: &'a Measured<'_>,
) -> impl Iterator<Item = (&'a LatencyLimit, Nanos)> {
    measured.rules.latency_limits.iter().filter_map(|limit| {
        let mut latencies = LatencyHistogram::new();
        let of = |id: &OperationId| measured.total.operations.get(usize::from(id.0));
        for tally in limit.operations.iter().filter_map(of) {
            latencies.merge(&tally.succeeded);
            latencies.merge(&tally.timed_out);
        }
        let seen_ns = latencies.percentile_ns(limit.percentile);
        (!latencies.is_empty() && seen_ns > limit.most_ns).then_some((limit, seen_ns))
    })
}

fn successes(total: &Tally, operations: &[OperationId]) -> u64 {
    let of = |id: &OperationId| total.operations.get(usize::from(id.0));
    sum(operations.iter().filter_map(of).map(|tally| tally.succeeded.count()))
}

#[cfg(test)]
mod tests {
    use measure::{OperationKind, Rules, Score, Share};

    use super::*;
    use crate::summary::tests::seconds_of;
    use crate::{Code, Measured, Subject, Value, check, summarize};

    fn rules(least_percent: f64) -> Rules {
        let operations = vec![OperationId(0)];
        Rules {
            scores: vec![Score {
                name: "tpmC".to_owned(),
                meaning: String::new(),
                operations: operations.clone(),
                period_s: 60,
                formula: Formula::Rate,
                most: Some(2_400.0),
            }],
            shares: vec![Share { name: "payment".to_owned(), operations, least_percent }],
            has_waits: true,
            ..Rules::default()
        }
    }

    #[test]
    fn response_times_above_their_limit_and_remarks_are_findings() {
        let trial = seconds_of(&[20, 20, 20]);
        let seen_ns = trial.measured().total.operations[0].succeeded.percentile_ns(90.0);
        let limit = |most_ns| LatencyLimit {
            name: "payment".to_owned(),
            operations: vec![OperationId(0), OperationId(7)],
            percentile: 90.0,
            most_ns,
        };
        let remarks = vec!["half of the warehouses have no client".to_owned()];
        let rules = |most_ns| Rules {
            latency_limits: vec![limit(most_ns)],
            remarks: remarks.clone(),
            ..Rules::default()
        };
        let found = |rules: &Rules| {
            let measured = Measured { rules, percentiles: &[50.0], ..trial.measured() };
            check(&measured, &summarize(&measured))
        };
        let kept = found(&rules(seen_ns));
        assert_eq!((kept.len(), kept[0].code), (1, Code::WorkloadRemark), "{kept:?}");
        assert_eq!(kept[0].value("text"), Some(&Value::Text(remarks[0].clone())));
        let missed = found(&rules(seen_ns - 1));
        assert_eq!((missed.len(), missed[0].code), (2, Code::LatencyLimitMissed), "{missed:?}");
        assert_eq!(missed[0].subject, Subject::Operations("payment".to_owned()));
        assert_eq!(missed[0].value("seen_ns"), Some(&Value::Nanos(seen_ns)));
    }

    #[test]
    fn power_is_a_geometric_mean_that_lifts_the_shortest_times_and_needs_every_operation() {
        let second = 1_000_000_000;
        let mut total = Tally::new(3);
        for (operation, latency_ns) in [(0, 8 * second), (1, second / 1_000), (2, 2 * second)] {
            total.success(OperationId(operation), OperationKind::Transaction, latency_ns);
        }
        let of = |count: u16| (0..count).map(OperationId).collect::<Vec<_>>();
        let mean_s = geometric_mean_s(&total, &of(3)).unwrap();
        // The time of 1 ms counts as a thousandth of the longest: 8 ms.
        assert!((mean_s / (8.0f64 * 0.008 * 2.0).cbrt() - 1.0).abs() < 1e-3, "{mean_s}");
        let mean_s = geometric_mean_s(&total, &of(1)).unwrap();
        assert!((mean_s / 8.0 - 1.0).abs() < 1e-3, "{mean_s}");
        assert_eq!(geometric_mean_s(&total, &of(4)), None, "one never ran");
        total.failure(OperationId(2), OperationKind::Transaction, second);
        assert_eq!(geometric_mean_s(&total, &of(3)), None, "one failed");
        assert!((composite(400.0, 100.0) - 200.0).abs() < 1e-12);
    }

    #[test]
    fn a_throughput_of_a_load_that_is_not_whole_is_none() {
        let trial = seconds_of(&[18, 22]);
        let scored = |successes| {
            let mut rules = rules(43.0);
            rules.scores[0].formula = Formula::Throughput { scale: 10.0, successes };
            summarize(&Measured { rules: &rules, ..trial.measured() }).scores
        };
        assert_eq!(scored(40)[0].value, 12_000.0);
        assert_eq!(scored(41), []);
    }

    #[test]
    fn a_score_is_a_rate_in_its_period() {
        let (trial, rules) = (seconds_of(&[18, 22]), rules(43.0));
        let summary = summarize(&Measured { rules: &rules, ..trial.measured() });
        // 40 in 2 s are 1,200 a minute.
        let wanted = ScoreSummary { name: "tpmC".to_owned(), value: 1_200.0, of_most: Some(0.5) };
        assert_eq!(summary.scores, [wanted]);
        assert!(summary.shares[0].is_kept() && summary.shares[0].percent == 100.0);
        assert_eq!(summary.littles_law, None);
    }

    #[test]
    fn share_tolerance_is_the_binomial_deviation() {
        let (trial, rules) = (seconds_of(&[18, 18]), rules(10.0));
        let summary = summarize(&Measured { rules: &rules, ..trial.measured() });
        // sqrt(0.1 x 0.9 / 36) = 0.05.
        assert!((summary.shares[0].chance_percent - 5.0).abs() < 1e-9, "{:?}", summary.shares);
    }

    #[test]
    fn a_shortfall_that_chance_explains_keeps_the_mix() {
        let share = |percent, transactions: f64| ShareSummary {
            name: "payment".to_owned(),
            percent,
            least_percent: 43.0,
            chance_percent: 100.0 * (0.43 * 0.57 / transactions).sqrt(),
        };
        // The standard deviation is 0.495 % over 10,000 transactions, and 0.0495 % over a million.
        assert!(share(42.9995, 10_000.0).is_kept());
        assert!(share(41.6, 10_000.0).is_kept());
        assert!(!share(41.5, 10_000.0).is_kept());
        assert!(!share(42.8, 1_000_000.0).is_kept());
        assert!(share(43.0, 1_000_000.0).is_kept());
    }

    #[test]
    fn a_missed_mix_is_a_finding() {
        let (trial, rules) = (seconds_of(&[20, 20, 20]), rules(101.0));
        let measured = Measured { rules: &rules, percentiles: &[50.0], ..trial.measured() };
        let found = check(&measured, &summarize(&measured));
        assert_eq!((found.len(), found[0].code), (1, Code::MixMissed), "{found:?}");
        assert_eq!(found[0].subject, Subject::Operations("payment".to_owned()));
        assert_eq!(found[0].value("percent"), Some(&Value::Percent(100.0)));
        assert_eq!(found[0].value("least_percent"), Some(&Value::PercentSet(101.0)));
    }
}
