//! The comparison as JSON, for programs: figures in full, verdicts as codes.

use analysis::Cases;
use serde_json::{Value, json};

use super::blocks::remarks;
use super::crashes::CrashRow;
use super::sides::{Matched, SIDES};
use super::thresholds::Check;
use super::{Outcome, Row, RunComparison, conclusion, damaged, limits};
use crate::conclusion::Conclusion;
use crate::visible::pretty_json;

const VERSION: u32 = 1;

impl RunComparison<'_, '_> {
    pub fn json(&self) -> String {
        let differences = self.differences.iter().map(|it| {
            json!({ "of": it.of, "fact": it.fact, SIDES[0]: it.values[0], SIDES[1]: it.values[1] })
        });
        let value = json!({
            "format": "dyno-comparison",
            "version": VERSION,
            SIDES[0]: runs(self, 0),
            SIDES[1]: runs(self, 1),
            "differences": differences.collect::<Vec<_>>(),
            "margin": self.criteria.margin,
            "correction": { "method": "holm", "family": self.family() },
            "compared": self.rows.iter().map(|it| row(self, it)).collect::<Vec<_>>(),
            "limits": self.sides.matched.iter().filter_map(limit).collect::<Vec<_>>(),
            "crashes": self.crashes.iter().map(crashes).collect::<Vec<_>>(),
            "thresholds": self.checks.iter().map(|it| check(self, it)).collect::<Vec<_>>(),
            "only_on_one_side": self.sides.unmatched,
            "conclusions": conclusion::all(self).iter().map(Conclusion::json).collect::<Vec<_>>(),
            "strict": self.criteria.is_strict,
            "passed": self.outcome() == Outcome::Passed,
        });
        pretty_json(&value)
    }
}

fn runs(compared: &RunComparison<'_, '_>, side: usize) -> Vec<Value> {
    let run = |digest: &&crate::Digest<'_>| {
        let run = digest.run;
        json!({
            "folder": run.folder.display().to_string(),
            "plan": run.header.plan_name,
            "started": run.header.started.to_string(),
            "status": run.status.name(),
            "dyno": { "version": run.header.dyno.version, "build": run.header.dyno.build },
            "damaged": damaged::json(&compared.sides, side, digest),
        })
    };
    compared.sides.runs[side].iter().map(run).collect()
}

fn place(matched: &Matched<'_, '_>) -> Value {
    json!({
        "systems": { SIDES[0]: matched.systems[0], SIDES[1]: matched.systems[1] },
        "workload": matched.workload,
        "clients": matched.clients,
        "rate": matched.rate.map(ToString::to_string),
    })
}

/// What holds both sides back; `None` where one of them was not asked.
fn limit(matched: &Matched<'_, '_>) -> Option<Value> {
    let found = limits::json(matched)?;
    let mut value = place(matched);
    value["limit"] = found;
    Some(value)
}

fn row(compared: &RunComparison<'_, '_>, row: &Row) -> Value {
    let matched = compared.place(row);
    let mut value = place(matched);
    value["figure"] = row.figure.key().into();
    value["verdict"] = row.code().into();
    value["text"] = row.text().into();
    value["remarks"] = remarks(matched).into();
    let found = match &row.found {
        Ok(found) => found,
        Err(reason) => {
            value["reason"] = reason.as_str().into();
            return value;
        }
    };
    let has_interval = found.contrast.has_interval();
    let known = |number: f64| has_interval.then_some(number);
    let [low_95, high_95] = found.interval(0.95).map(known);
    let [low_90, high_90] = found.interval(0.90).map(known);
    value[SIDES[0]] = found.values[0].into();
    value[SIDES[1]] = found.values[1].into();
    value["ratio"] = (!found.is_part).then(|| found.contrast.difference.exp()).into();
    value["change"] = json!({
        "value": found.change(),
        "low_95": low_95,
        "high_95": high_95,
        "low_90": low_90,
        "high_90": high_90,
    });
    let [baseline, candidate] = found.contrast.counts;
    value["repetitions"] =
        json!({ "of": found.unit.name(), SIDES[0]: baseline, SIDES[1]: candidate });
    value["noise_floor"] = row.noise_floor.into();
    value["within_noise_floor"] = row.is_within_noise().into();
    value["repetitions_needed"] = row.needed.into();
    value["p_values"] = json!({
        "difference": known(row.tests.difference),
        "equality": known(row.tests.equality),
        "difference_corrected": known(row.corrected.difference),
        "equality_corrected": known(row.corrected.equality),
    });
    value
}

fn crashes(row: &CrashRow<'_>) -> Value {
    let cases = |it: Cases| json!({ "crashed": it.failed, "trials": it.all });
    json!({
        "systems": { SIDES[0]: row.systems[0], SIDES[1]: row.systems[1] },
        SIDES[0]: cases(row.cases[0]),
        SIDES[1]: cases(row.cases[1]),
        "p_value": row.p_value,
        "p_value_corrected": row.corrected,
        "verdict": row.code(),
    })
}

fn check(compared: &RunComparison<'_, '_>, check: &Check) -> Value {
    let mut value = place(&compared.sides.matched[check.matched]);
    value["fails_if"] = check.threshold.text().into();
    value["result"] = check.result.code().into();
    value["text"] = check.detail.as_str().into();
    value
}
