//! How the shares of the places that hold the systems back moved from the baseline to the candidate.

use analysis::{PlaceEffect, Ranged95};
use serde_json::{Value, json};

use super::RunComparison;
use super::sides::{Matched, RunPoint};
use crate::document::{Section, Weight};
use crate::number::{percent, signed_percent};
use crate::table::Table;
use crate::why::{self, Answer};

/// The share of one place on both sides, at one load.
struct Moved {
    code: &'static str,
    name: &'static str,
    shares: [Ranged95; 2],
}

impl Moved {
    /// The change, with the ends of its 95 % interval: the experiments of both sides are independent.
    fn change(&self) -> [f64; 3] {
        let [one, other] = self.shares;
        let change = other.value - one.value;
        let half = |it: Ranged95| (it.high - it.low) / 2.0;
        let width = half(one).hypot(half(other));
        [change, change - width, change + width]
    }
}

/// The newest answer of each side; `None` unless both have one.
fn answers<'a>(matched: &Matched<'_, 'a>) -> Option<[Answer<'a>; 2]> {
    let newest = |points: &[RunPoint<'_, 'a>]| {
        points.iter().flat_map(|point| point.trials()).filter_map(Answer::of).last()
    };
    let [one, other] = &matched.points;
    Some([newest(one)?, newest(other)?])
}

fn moved(answers: &[Answer<'_>; 2]) -> Vec<Moved> {
    let [Some(one), Some(other)] = answers.each_ref().map(|it| it.effects.as_ref()) else {
        return Vec::new();
    };
    let of_place = |it: &PlaceEffect| {
        let shares = [it.share?, other.place(it.place)?.share?];
        let (code, name) = why::place(it.place);
        Some(Moved { code, name, shares })
    };
    let rest = Moved { code: "rest", name: why::REST, shares: [one.rest, other.rest] };
    one.places.iter().filter_map(of_place).chain([rest]).collect()
}

pub(super) fn section(compared: &RunComparison<'_, '_>) -> Section<'static> {
    let mut table = Table::new().words("workload").words("load").words("place");
    table = table.numbers("baseline").numbers("candidate").numbers("change").numbers("95 %");
    let mut sentences = Vec::new();
    for matched in &compared.sides.matched {
        let Some(answers) = answers(matched) else { continue };
        for (at, moved) in moved(&answers).iter().enumerate() {
            let name = |name: String| if at == 0 { name } else { String::new() };
            let [change, low, high] = moved.change();
            let [one, other] = moved.shares.map(|it| percent(it.value));
            table.row(vec![
                name(matched.workload.to_owned()),
                name(matched.load()),
                moved.name.to_owned(),
                one,
                other,
                signed_percent(change),
                why::between(low, high, signed_percent),
            ]);
        }
        let [one, other] = answers.map(|it| it.sentence());
        let of = format!("{}, {}", matched.workload, matched.load());
        sentences.push(format!("{of}: baseline: {one}. Candidate: {other}."));
    }
    Section::new("limits", why::TITLE).table(Weight::Report, table).facts(Weight::Report, sentences)
}

/// The same for programs; `None` where a side has no experiment.
pub(super) fn json(matched: &Matched<'_, '_>) -> Option<Value> {
    let answers = answers(matched)?;
    let shares = moved(&answers).into_iter().map(|it| {
        let [change, low, high] = it.change();
        json!({
            "place": it.code,
            "baseline": it.shares[0].value,
            "candidate": it.shares[1].value,
            "change": { "value": change, "low_95": low, "high_95": high },
        })
    });
    let shares: Vec<Value> = shares.collect();
    let [baseline, candidate] = answers.map(|it| it.code());
    Some(json!({ "baseline": baseline, "candidate": candidate, "shares": shares }))
}
