//! Rules of a workload, and what was found of the conditions on its data.

use measure::{Condition, OperationId, Rules, Score, Share, Verdict};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RulesFile {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scores: Vec<ScoreFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shares: Vec<ShareFile>,
    has_waits: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct ScoreFile {
    name: String,
    meaning: String,
    /// Places in `operations`.
    operations: Vec<u16>,
    period_s: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    most: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ShareFile {
    name: String,
    operations: Vec<u16>,
    least_percent: f64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ConditionFile {
    name: String,
    meaning: String,
    verdict: VerdictName,
    /// Where it is broken, or why it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    detail: String,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum VerdictName {
    Holds,
    Broken,
    Unknown,
}

/// Most workloads have none, and then their record says nothing of them.
pub(super) fn rules_file(rules: &Rules) -> Option<RulesFile> {
    let places = |operations: &[OperationId]| operations.iter().map(|id| id.0).collect();
    (*rules != Rules::default()).then(|| RulesFile {
        scores: rules
            .scores
            .iter()
            .map(|score| ScoreFile {
                name: score.name.clone(),
                meaning: score.meaning.clone(),
                operations: places(&score.operations),
                period_s: score.period_s,
                most: score.most,
            })
            .collect(),
        shares: rules
            .shares
            .iter()
            .map(|share| ShareFile {
                name: share.name.clone(),
                operations: places(&share.operations),
                least_percent: share.least_percent,
            })
            .collect(),
        has_waits: rules.has_waits,
    })
}

impl From<RulesFile> for Rules {
    fn from(file: RulesFile) -> Self {
        let ids = |places: Vec<u16>| places.into_iter().map(OperationId).collect();
        Self {
            scores: file
                .scores
                .into_iter()
                .map(|score| Score {
                    name: score.name,
                    meaning: score.meaning,
                    operations: ids(score.operations),
                    period_s: score.period_s,
                    most: score.most,
                })
                .collect(),
            shares: file
                .shares
                .into_iter()
                .map(|share| Share {
                    name: share.name,
                    operations: ids(share.operations),
                    least_percent: share.least_percent,
                })
                .collect(),
            has_waits: file.has_waits,
        }
    }
}

impl From<&Condition> for ConditionFile {
    fn from(condition: &Condition) -> Self {
        let (verdict, detail) = match &condition.verdict {
            Verdict::Holds => (VerdictName::Holds, String::new()),
            Verdict::Broken(place) => (VerdictName::Broken, place.clone()),
            Verdict::Unknown(reason) => (VerdictName::Unknown, reason.clone()),
        };
        Self { name: condition.name.clone(), meaning: condition.meaning.clone(), verdict, detail }
    }
}

impl From<ConditionFile> for Condition {
    fn from(file: ConditionFile) -> Self {
        let verdict = match file.verdict {
            VerdictName::Holds => Verdict::Holds,
            VerdictName::Broken => Verdict::Broken(file.detail),
            VerdictName::Unknown => Verdict::Unknown(file.detail),
        };
        Self { name: file.name, meaning: file.meaning, verdict }
    }
}
