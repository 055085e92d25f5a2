//! Tests by arithmetic: figures that are made of covariates with known coefficients.

use super::*;
use crate::compare::{Significance, geometric_mean};

const LEAST: f64 = 0.01;
/// Half of the differences of four turns; their sum is 0, and each is orthogonal to the other.
const ONE: [f64; 4] = [0.1, 0.1, -0.1, -0.1];
const OTHER: [f64; 4] = [0.1, -0.1, 0.1, -0.1];

/// What one of these differences is for the baseline and for the variant: they are as far from the middle.
fn half(differences: [f64; 4], side: u32, turn: usize) -> f64 {
    if side == 0 { -differences[turn] } else { differences[turn] }
}

/// A variant with the logarithms of the figure and of the covariates for each round and window.
fn variant<const N: usize>(rounds: u32, of: impl Fn(u32, usize) -> (f64, [f64; N])) -> Rounds {
    let (mut figures, mut windows) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let from = windows.len();
        windows.extend((0..4).map(|window| {
            let (value, covariates) = of(round, window);
            let (value, covariates) = (value.exp(), covariates.map(f64::exp).into());
            WindowFigure { round, turn: window as u32, value, covariates, previous: None }
        }));
        let values: Vec<f64> = windows[from..].iter().map(|it: &WindowFigure| it.value).collect();
        figures.push(RoundFigure::exact(round, 0, geometric_mean(&values).unwrap()));
    }
    (figures, windows)
}

/// The rounds of a variant, and their windows.
type Rounds = (Vec<RoundFigure>, Vec<WindowFigure>);

fn measured((rounds, windows): &Rounds) -> MeasuredVariant<'_> {
    MeasuredVariant { rounds, windows }
}

fn adjusted(timings: &[Timing], sides: [&Rounds; 2]) -> Option<Adjustment> {
    adjusted_at(0.0, timings, sides)
}

/// Where measuring took this part of the time.
fn adjusted_at(cost: f64, timings: &[Timing], sides: [&Rounds; 2]) -> Option<Adjustment> {
    let [baseline, variant] = sides.map(measured);
    adjust(timings, baseline, variant, Terms { least_difference: LEAST, cost })
}

fn assert_near(seen: f64, expected: f64) {
    assert!((seen - expected).abs() < 1e-9, "{seen} against {expected}");
}

/// How far the machine is from its mean in a round of each variant.
fn shift(round: u32, side: u32) -> f64 {
    [[0.07, -0.05], [-0.11, 0.02], [0.03, 0.13], [0.0, -0.09]][round as usize % 4][side as usize]
}

#[test]
fn without_noise_the_coefficients_and_the_ratio_are_exact() {
    let of = |side: u32| {
        variant(8, move |round, window| {
            let shift = shift(round, side);
            let covariates = [
                3.0 + shift + half(ONE, side, window),
                5.0 - 2.0 * shift + half(OTHER, side, window),
            ];
            let restart = 0.02 * f64::from(round);
            let level = 7.0 + restart + f64::from(side) * 1.03_f64.ln();
            (level - 1.5 * covariates[0] + 0.4 * covariates[1], covariates)
        })
    };
    let (baseline, variant) = (of(0), of(1));
    let raw = compare(&baseline.0, &variant.0, LEAST).unwrap();
    assert_eq!(raw.verdict, Significance::Undecided, "the machine hides the difference: {raw:?}");
    let found = adjusted(&[Timing::BeforeLoad; 2], [&baseline, &variant]).unwrap();
    for (covariate, expected) in found.covariates.iter().zip([-1.5, 0.4]) {
        assert_near(covariate.coefficient.unwrap(), expected);
        assert_eq!(covariate.role, CovariateRole::Used);
    }
    assert_near(found.explained.unwrap(), 1.0);
    let comparison = found.adjusted.unwrap().comparison;
    let ratio = comparison.ratio;
    [ratio.ratio, ratio.low, ratio.high].iter().for_each(|it| assert_near(*it, 1.03));
    assert_eq!(comparison.verdict, Significance::Higher);
    // The shifts of the variant less those of the baseline: -0.12, 0.13, 0.10, -0.09, twice; their mean is 0.005.
    assert_near(found.covariates[0].effect.ratio.ratio.ln(), 0.005);
    assert_near(found.covariates[1].effect.ratio.ratio.ln(), -0.01);
}

#[test]
fn of_noise_that_covariates_explain_by_half_the_other_half_stays() {
    let of = |side: u32| {
        variant(4, move |round, window| {
            let shift = shift(round, side);
            (
                7.0 + shift + half(ONE, side, window) + half(OTHER, side, window),
                [3.0 + shift + half(ONE, side, window)],
            )
        })
    };
    let found = adjusted(&[Timing::BeforeLoad], [&of(0), &of(1)]).unwrap();
    assert_near(found.covariates[0].coefficient.unwrap(), 1.0);
    assert_near(found.explained.unwrap(), 0.5);
    assert_near(found.adjusted.unwrap().comparison.ratio.ratio, 1.0);
    // Half of the variance is worth less than half of the time.
    for (cost, role) in [(0.49, CovariateRole::Used), (0.51, CovariateRole::NotWorthIt)] {
        let found = adjusted_at(cost, &[Timing::BeforeLoad], [&of(0), &of(1)]).unwrap();
        assert_near(found.explained.unwrap(), 0.5);
        assert_eq!(found.covariates[0].role, role, "{cost}");
        assert_eq!(found.adjusted.is_some(), role == CovariateRole::Used, "{cost}");
    }
}

#[test]
fn what_only_seems_to_explain_changes_nothing() {
    // The coefficient is 1 and -1 in turn. Of the three rounds beside each it is -1/3 of its own: 1 - (4/3)^2.
    let of = |side: u32| {
        variant(4, move |round, window| {
            let sign = if round % 2 == 0 { 1.0 } else { -1.0 };
            (
                7.0 + sign * half(ONE, side, window),
                [3.0 + shift(round, side) + half(ONE, side, window)],
            )
        })
    };
    let found = adjusted(&[Timing::BeforeLoad], [&of(0), &of(1)]).unwrap();
    assert_near(found.explained.unwrap(), -7.0 / 9.0);
    assert_eq!(found.covariates[0].role, CovariateRole::ExplainsNothing);
    assert_eq!(found.adjusted, None);
}

/// The variant takes this much less of what the figure depends on, and is as much faster.
fn saving(part: f64) -> [Rounds; 2] {
    [0, 1].map(|side| {
        variant(4, move |round, window| {
            let saved = part * f64::from(side);
            let covariate = 3.0 + 0.01 * f64::from(round) + half(ONE, side, window) - saved;
            (7.0 - covariate, [covariate])
        })
    })
}

#[test]
fn what_the_variant_moves_is_not_taken_for_noise() {
    let [baseline, variant] = saving(1.02_f64.ln());
    let of = |timing| adjusted(&[timing], [&baseline, &variant]).unwrap();
    let found = of(Timing::DuringLoad);
    assert_eq!(found.covariates[0].role, CovariateRole::MayBeMoved);
    assert_near(found.covariates[0].coefficient.unwrap(), -1.0);
    assert_near(found.covariates[0].effect.ratio.ratio, 1.0 / 1.02);
    assert_eq!((found.explained, found.adjusted), (None, None));
    assert_near(found.explained_by_all.unwrap(), 1.0);
    // If it were used, it would hide what the variant is for.
    let hidden = adjust_regardless(
        &[0],
        &[Timing::DuringLoad],
        measured(&baseline),
        measured(&variant),
        LEAST,
    )
    .unwrap();
    assert_near(hidden.comparison.ratio.ratio, 1.0);
}

/// After the variant's load the machine is 5 % slower, and when a round begins 20 %. The baseline has the load first in each
/// turn, so that it always has it after the variant or after a start.
#[test]
fn what_the_variant_before_has_left_is_taken_out() {
    // What follows the windows of a turn is the same in the mean of all turns, and in the first one as before it.
    const MACHINE: [f64; 4] = [0.05, 0.15, -0.15, -0.05];
    let [left, started] = [1.05_f64, 1.2].map(f64::ln);
    let of = |side: u32| {
        let (rounds, mut windows) = variant(4, move |round, window| {
            let machine = 0.01 * f64::from(round) + half(MACHINE, side, window);
            let left = match (side, window) {
                (0, 0) => started,
                (0, _) => left,
                _ => 0.0,
            };
            (7.0 + f64::from(side) * 1.03_f64.ln() - machine, [3.0 + machine + left])
        });
        for window in &mut windows {
            let turn = (window.turn + side).checked_sub(1);
            window.previous = turn.map(|turn| Previous { variant: 1 - side, turn });
        }
        (rounds, windows)
    };
    let known = [of(0), of(1)];
    let found = adjusted(&[Timing::BeforeLoad], known.each_ref()).unwrap();
    assert_eq!(found.covariates[0].role, CovariateRole::Used);
    assert_near(found.covariates[0].coefficient.unwrap(), -1.0);
    assert_near(found.adjusted.unwrap().comparison.ratio.ratio, 1.03);
    // Where nothing is known of the variants before, it is taken for a machine that is slower for the baseline.
    let mut unknown = known;
    unknown.iter_mut().flat_map(|(_, windows)| windows).for_each(|it| it.previous = None);
    let found = adjusted(&[Timing::BeforeLoad], unknown.each_ref()).unwrap();
    let bias = found.covariates[0].coefficient.unwrap() * (3.0 * left + started) / 4.0;
    assert_near(found.adjusted.unwrap().comparison.ratio.ratio, 1.03 * bias.exp());
    assert!(bias < -0.03, "{bias}");
}

#[test]
fn a_covariate_of_the_load_is_used_when_it_can_bias_by_a_quarter_of_the_margin_at_most() {
    // A quarter of ln 1.01 is 0.002488; without spread the end of the interval is the effect itself.
    for (part, role) in [
        (0.002_48, CovariateRole::Used),
        (-0.002_48, CovariateRole::Used),
        (0.002_50, CovariateRole::MayBeMoved),
        (-0.002_50, CovariateRole::MayBeMoved),
    ] {
        let [baseline, variant] = saving(part);
        let found = adjusted(&[Timing::DuringLoad], [&baseline, &variant]).unwrap();
        assert_eq!(found.covariates[0].role, role, "{part}");
    }
    // One round shows nothing, however small the effect is.
    let one = |(rounds, windows): &Rounds| (rounds[..1].to_vec(), windows[..4].to_vec());
    let [baseline, variant] = saving(0.0).each_ref().map(one);
    let found = adjusted(&[Timing::DuringLoad], [&baseline, &variant]).unwrap();
    assert_eq!(found.covariates[0].role, CovariateRole::MayBeMoved);
}

#[test]
fn covariates_that_say_nothing_new_are_left_out() {
    let of = |side: u32| {
        variant(8, move |round, window| {
            let covariate = 3.0 + shift(round, side) + half(ONE, side, window);
            (7.0 + covariate, [covariate, 2.0 * covariate + 1.0, 4.0])
        })
    };
    let found = adjusted(&[Timing::BeforeLoad; 3], [&of(0), &of(1)]).unwrap();
    use CovariateRole::{Redundant, Used};
    let roles: Vec<CovariateRole> = found.covariates.iter().map(|it| it.role).collect();
    assert_eq!(roles, [Used, Redundant, Redundant]);
    assert_near(found.adjusted.unwrap().comparison.ratio.ratio, 1.0);
}

#[test]
fn few_windows_and_rounds_without_covariates_adjust_nothing() {
    let of = |side: u32| {
        variant(4, move |round, window| {
            (7.0 + half(ONE, side, window), [shift(round, side) + half(ONE, side, window)])
        })
    };
    let (baseline, whole) = (of(0), of(1));
    let (mut rounds, mut windows) = whole.clone();
    let of_round = |round: u32| windows.iter().filter(move |it| it.round != round).cloned();
    let missing = (rounds.clone(), of_round(2).collect());
    assert_eq!(adjusted(&[Timing::BeforeLoad], [&baseline, &missing]), None);
    // A window whose covariate is not known is left out, not its round.
    windows[5].covariates[0] = f64::NAN;
    let found = adjusted(&[Timing::BeforeLoad], [&baseline, &(rounds.clone(), windows.clone())]);
    assert!(found.unwrap().adjusted.is_some());
    // Two rounds of two windows: beside each, 2 x (2 - 1) deviations are free, and 5 are needed.
    rounds.truncate(2);
    let two = |windows: &[WindowFigure]| {
        let of_round = |round: u32| windows.iter().filter(move |it| it.round == round).take(2);
        of_round(0).chain(of_round(1)).cloned().collect::<Vec<_>>()
    };
    let few = [&baseline.1, &whole.1].map(|windows| (rounds.clone(), two(windows)));
    let found = adjusted(&[Timing::BeforeLoad], [&few[0], &few[1]]).unwrap();
    assert_eq!((found.explained, found.adjusted), (None, None));
    assert_eq!(found.covariates[0].role, CovariateRole::TooFewWindows);
}
