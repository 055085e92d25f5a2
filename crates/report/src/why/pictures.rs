//! The shares of all places at each load as bars that end at 100 %, and what a microsecond costs at each place.

use analysis::WhyEffects;

use super::{each, with_interval, words};
use crate::digest::Digest;
use crate::number::{number, percent};
use crate::svg::{Axis, Band, BandFill, Chart, Dot, Scale, Series, Size, Unit, Width};

/// More loads are in the tables.
const LOADS_MAX: usize = 8;
/// Height of a bar with the gap below it, and of what is around all.
const LANE: f64 = 34.0;
const AROUND: f64 = 70.0;
const LADDER_HEIGHT: f64 = 300.0;
/// Part of the room of a place in which the loads stand side by side.
const FILLED: f64 = 0.6;

pub(crate) fn charts(digest: &Digest<'_>) -> Vec<Chart> {
    let all: Vec<(String, WhyEffects)> =
        each(digest).map(|(trial, effects)| (trial.name(), effects)).take(LOADS_MAX).collect();
    [bars(&all, digest), ladder(&all, digest)].into_iter().flatten().collect()
}

/// A bar for each load, from the first place to what was not reached.
fn bars(all: &[(String, WhyEffects)], digest: &Digest<'_>) -> Option<Chart> {
    let known: Vec<_> = all.iter().filter(|(_, it)| it.rest.value < 1.0).rev().collect();
    let lanes = known.iter().enumerate();
    let bands: Vec<Band> = lanes.flat_map(|(lane, (_, effects))| lane_of(lane, effects)).collect();
    let names: Vec<String> = known.iter().map(|(name, _)| name.clone()).collect();
    let height = LANE * names.len() as f64 + AROUND;
    (!bands.is_empty()).then(|| Chart {
        title: "Where the time for a transaction goes".to_owned(),
        subtitle: digest.under_test(),
        description: bands.iter().map(|band| band.note.as_str()).collect::<Vec<_>>().join("; "),
        x: Axis::new(
            "share of the time for a transaction, %",
            Scale::Linear,
            Unit::Percent,
            [100.0],
        ),
        y: Axis::names("load", names),
        bands,
        size: Size { width: Width::Row, height },
        ..Chart::default()
    })
}

/// The places of one load one after another; what is below 0 is drawn as 0.
fn lane_of(lane: usize, effects: &WhyEffects) -> Vec<Band> {
    let known = effects.places.iter().filter_map(|it| Some((words::place(it.place).1, it.share?)));
    let parts: Vec<_> = known.chain([(words::REST, effects.rest)]).collect();
    let sum: f64 = parts.iter().map(|(_, share)| share.value.max(0.0)).sum();
    let mut from = 0.0;
    let band = |(at, (name, share)): (usize, (&str, analysis::Ranged95))| {
        let to = from + 100.0 * share.value.max(0.0) / sum;
        let short = name.split(':').next().unwrap_or(name);
        let band = Band {
            from,
            to,
            lane: Some(lane as f64),
            fill: if at % 2 == 0 { BandFill::Even } else { BandFill::Odd },
            label: format!("{short} {}", percent(share.value.max(0.0))),
            note: format!("{name}: {}", with_interval(share, percent)),
        };
        from = to;
        band
    };
    parts.into_iter().enumerate().map(band).collect()
}

/// What a microsecond for each transaction costs at each place, from the client inwards.
fn ladder(all: &[(String, WhyEffects)], digest: &Digest<'_>) -> Option<Chart> {
    let mut places = Vec::new();
    for place in all.iter().flat_map(|(_, effects)| effects.places.iter().map(|it| it.place)) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let step = FILLED / all.len().max(1) as f64;
    let series = all.iter().enumerate().map(|(at, (name, effects))| {
        let dot = |it: &analysis::PlaceEffect| {
            let place = places.iter().position(|place| *place == it.place)?;
            let beta = it.beta;
            Some(Dot {
                error: beta.low.is_finite().then_some((beta.low.max(0.0), beta.high.max(0.0))),
                note: Some(format!(
                    "{name}, {}: {}",
                    words::place(it.place).1,
                    with_interval(beta, number)
                )),
                ..Dot::at(
                    place as f64 - FILLED / 2.0 + step * (at as f64 + 0.5),
                    beta.value.max(0.0),
                )
            })
        };
        Series {
            has_line: false,
            has_markers: true,
            ..Series::line(name.clone(), at, effects.places.iter().filter_map(dot).collect())
        }
    });
    let series: Vec<Series> = series.collect();
    let dots = || series.iter().flat_map(|series| &series.dots);
    let values: Vec<f64> =
        dots().flat_map(|dot| [dot.y, dot.error.map_or(dot.y, |it| it.1)]).collect();
    let notes: Vec<String> = dots().filter_map(|dot| dot.note.clone()).collect();
    (!values.is_empty()).then(|| Chart {
        title: "What a microsecond costs at each place".to_owned(),
        subtitle: digest.under_test(),
        description: notes.join("; "),
        x: Axis::names(
            "place of the microsecond",
            places.into_iter().map(|place| words::place(place).1.to_owned()).collect(),
        ),
        y: Axis::new("cost of each transaction, µs", Scale::Linear, Unit::Number, values),
        size: Size { width: Width::Row, height: LADDER_HEIGHT },
        series,
        ..Chart::default()
    })
}
