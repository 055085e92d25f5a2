//! A workload's own figures: its scores and its mix.

use measure::{OperationId, Tally};

use crate::latency::per;
use crate::measured::Measured;

/// A workload's own figure.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreSummary {
    /// Its name, such as tpmC.
    pub name: String,
    /// Successful operations per period of the score.
    pub value: f64,
    /// Part of the highest possible value, if that is known.
    pub of_most: Option<f64>,
}

/// The share of some operations in all transactions that succeeded.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareSummary {
    /// Common name of the operations.
    pub name: String,
    /// Their share, percent.
    pub percent: f64,
    /// Required minimum, percent.
    pub least_percent: f64,
    /// Standard deviation of a share that is drawn at random with that probability, over the same number of
    /// transactions, percent: sqrt(p (1 - p) / n), of the binomial distribution.
    pub chance_percent: f64,
}

impl ShareSummary {
    /// Whether the share is as high as required.
    pub fn is_kept(&self) -> bool {
        self.percent >= self.least_percent
    }
}

/// The workload's own figures over this number of seconds.
pub(crate) fn scores(measured: &Measured<'_>, seconds: f64) -> Vec<ScoreSummary> {
    let score = |score: &measure::Score| {
        let count = successes(measured.total, &score.operations) as f64;
        let value = per(count * score.period_s as f64, seconds);
        let of_most = score.most.map(|most| per(value, most));
        ScoreSummary { name: score.name.clone(), value, of_most }
    };
    measured.rules.scores.iter().map(score).collect()
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

fn successes(total: &Tally, operations: &[OperationId]) -> u64 {
    let of = |id: &OperationId| total.operations.get(usize::from(id.0));
    operations.iter().filter_map(of).map(|tally| tally.succeeded.count()).sum()
}

#[cfg(test)]
mod tests {
    use measure::{Rules, Score, Share};

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
                most: Some(2_400.0),
            }],
            shares: vec![Share { name: "payment".to_owned(), operations, least_percent }],
            has_waits: true,
        }
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
