//! Covariates of a comparison: figures of the machine from beside the load. What they explain of the noise is taken
//! out of the ratio.
//!
//! In each turn of a round every variant has a window, and the turns of a round differ by noise alone. How the differences
//! between two variants vary with those of the covariates gives a coefficient for each; what changes more slowly than turns
//! is in no difference. Then the figure of every round is moved to where the covariates have their mean. The ratio
//! has no bias as long as the variant does not move the covariates, whatever the coefficients are: so it matters
//! when a covariate was measured ([`Timing`]), and whether it is used does not depend on which of the two ratios is
//! nearer to what was hoped for. What is measured before the load of a window cannot depend on the variant that gets the
//! load next; it can depend on the one that had it before, and that is taken out (`previous`).
//!
//! Sources: the analysis of covariance, R. A. Fisher, Statistical Methods for Research Workers, 1932, section 49.1;
//! control variates with estimated coefficients, S. S. Lavenberg and P. D. Welch, A perspective on the use of control
//! variables to increase the efficiency of Monte Carlo simulations, Management Science 27 (1981); that the covariate
//! must be from before the treatment, A. Deng, Y. Xu, R. Kohavi and T. Walker, Improving the sensitivity of online
//! controlled experiments by utilizing pre-experiment data, WSDM 2013.

mod previous;
mod turns;

#[cfg(test)]
mod tests;

use previous::without_previous;
use turns::{Coefficients, Turns};

use crate::compare::{Comparison, RoundFigure, compare};

/// The bias that a covariate may leave, as a part of the least difference that matters.
const BIAS_MAX: f64 = 0.25;

/// When a covariate is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Before the load of its window, while none runs: the variant of the window cannot move it.
    BeforeLoad,
    /// While the load runs: the variant may move it.
    DuringLoad,
}

/// One window of a variant in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowFigure {
    /// Number of the round.
    pub round: u32,
    /// Number of the turn within the round: every variant has a window in it.
    pub turn: u32,
    /// The figure that is compared.
    pub value: f64,
    /// A value for each covariate. A window in which one of its numbers is not positive is left out.
    pub covariates: Vec<f64>,
    /// Who had the load before this window; `None` for the first window of a round.
    pub previous: Option<Previous>,
}

/// The window that had the load before another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Previous {
    /// Its variant, by any number for each.
    pub variant: u32,
    /// Its turn.
    pub turn: u32,
}

/// A variant under one load.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredVariant<'a> {
    /// Its figure in each round.
    pub rounds: &'a [RoundFigure],
    /// The windows that those are made of.
    pub windows: &'a [WindowFigure],
}

/// What covariates make of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjustment {
    /// Each covariate, in order.
    pub covariates: Vec<CovariateFigure>,
    /// The part of the variance of turns within rounds that the covariates explain which may be used. Each round is
    /// predicted from the others, so that it is negative where they explain nothing; `None` without enough turns.
    pub explained: Option<f64>,
    /// The same of all covariates, whether they may be used or not.
    pub explained_by_all: Option<f64>,
    /// Without what the covariates explain; `None` where that is not worth what they cost, so that the comparison stays as
    /// it is.
    pub adjusted: Option<Adjusted>,
}

/// A comparison without what covariates explain.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjusted {
    /// The result.
    pub comparison: Comparison,
    /// The figures that it is made of, the baseline's first: those that the rounds would have if the covariates were
    /// at their mean.
    pub rounds: [Vec<RoundFigure>; 2],
}

/// What is known of a covariate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CovariateFigure {
    /// The figure changes by so many per cent where the covariate is 1 % larger; `None` where nothing tells.
    pub coefficient: Option<f64>,
    /// The variant's covariate as against the baseline's. Of one from before the load it is chance.
    pub effect: Comparison,
    /// Whether it is used.
    pub role: CovariateRole,
}

/// Whether a covariate is used, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CovariateRole {
    /// What it explains is taken out.
    Used,
    /// It was measured during the load, and it is not shown that what the variant moves it by does not matter.
    MayBeMoved,
    /// It does not vary, or only with other covariates.
    Redundant,
    /// There are too few windows to tell what the covariates explain.
    TooFewWindows,
    /// The covariates that may be used explain nothing together.
    ExplainsNothing,
    /// Together they explain no larger part of the variance than they cost of the time.
    NotWorthIt,
}

/// By what covariates are judged.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The least relative difference of the figure that matters.
    pub least_difference: f64,
    /// The part of the time that measuring the covariates took.
    pub cost: f64,
}

/// Takes what covariates explain out of the comparison of a variant with the baseline; `timings` has when each of
/// them was measured. `None` without rounds that measured both, and when one of the rounds has no turn with the
/// covariates of both.
///
/// What the variant does to a covariate must not be taken for noise. One that was measured during the load is used only if
/// that is shown not to matter: its coefficient times the end of the 90 % interval of the variant's effect on it, which is
/// farther from 0, is at most a quarter of the least difference that matters (two one-sided tests). One from before the load
/// needs no test: the variant of its window has not had the load yet, and what the variant before left of its work is
/// taken out.
///
/// What is left is used if the part of the variance that it explains is larger than the part of the time that it cost.
/// With that part `cost` of the time for more windows there would be 1 / (1 - cost) times as many, and the variance from
/// turn to turn 1 - `cost` times as large; covariates leave 1 - explained times as much. Neither rule looks at the
/// ratio, so that they do not favour a side.
pub fn adjust(
    timings: &[Timing],
    baseline: MeasuredVariant<'_>,
    variant: MeasuredVariant<'_>,
    terms: Terms,
) -> Option<Adjustment> {
    let sides = Sides::of(timings, baseline, variant);
    let effects: Vec<Comparison> = (0..timings.len())
        .map(|at| sides.effect(at, terms.least_difference))
        .collect::<Option<_>>()?;
    let turns = &sides.turns;
    let bias_max = BIAS_MAX * terms.least_difference.ln_1p();
    let usable = without_biased(timings, &effects, bias_max, |used| turns.fit(used));
    let coefficients = turns.fit(&usable);
    let explained = turns.explained(&usable);
    let adjusted = explained
        .filter(|part| *part > terms.cost)
        .and_then(|_| sides.adjusted(&coefficients, terms.least_difference));
    let all: Vec<usize> = (0..timings.len()).collect();
    let by_all = turns.fit(&all);
    let role = |at: usize| match (coefficients[at], explained) {
        _ if !usable.contains(&at) => CovariateRole::MayBeMoved,
        _ if !turns.are_enough_for(&usable) => CovariateRole::TooFewWindows,
        (None, _) => CovariateRole::Redundant,
        (Some(_), _) if adjusted.is_some() => CovariateRole::Used,
        (Some(_), Some(part)) if part > 0.0 => CovariateRole::NotWorthIt,
        (Some(_), _) => CovariateRole::ExplainsNothing,
    };
    let figure = |at: usize| {
        let coefficient = if usable.contains(&at) { coefficients[at] } else { by_all[at] };
        CovariateFigure { coefficient, effect: effects[at], role: role(at) }
    };
    Some(Adjustment {
        covariates: all.iter().map(|at| figure(*at)).collect(),
        explained,
        explained_by_all: turns.explained(&all),
        adjusted,
    })
}

/// What would come of some of the covariates if they explain anything, whatever the variant does to them and whatever they
/// cost: for trying out what the test of [`adjust`] is for.
pub fn adjust_regardless(
    used: &[usize],
    timings: &[Timing],
    baseline: MeasuredVariant<'_>,
    variant: MeasuredVariant<'_>,
    least_difference: f64,
) -> Option<Adjusted> {
    let sides = Sides::of(timings, baseline, variant);
    sides.turns.explained(used).filter(|part| *part > 0.0)?;
    sides.adjusted(&sides.turns.fit(used), least_difference)
}

/// The rounds of the baseline and of the variant, and the turns that they are made of.
struct Sides<'a> {
    rounds: [&'a [RoundFigure]; 2],
    turns: Turns,
}

impl<'a> Sides<'a> {
    fn of(timings: &[Timing], baseline: MeasuredVariant<'a>, variant: MeasuredVariant<'a>) -> Self {
        let windows = without_previous(timings, [baseline, variant].map(|side| side.windows));
        let turns = Turns::of(windows.each_ref().map(Vec::as_slice), timings.len());
        Self { rounds: [baseline.rounds, variant.rounds], turns }
    }

    /// The variant's effect on a covariate; `None` where the covariate is not known in a round.
    fn effect(&self, covariate: usize, least_difference: f64) -> Option<Comparison> {
        let side = |side: usize| self.turns.in_rounds(side, self.rounds[side], covariate);
        compare(&side(0)?, &side(1)?, least_difference)
    }

    /// The comparison of what the figures would be if the covariates were at their mean.
    fn adjusted(&self, coefficients: &Coefficients, least_difference: f64) -> Option<Adjusted> {
        let centre = self.turns.centre();
        let moved = |side: usize| self.turns.moved(side, self.rounds[side], coefficients, &centre);
        let rounds = [moved(0)?, moved(1)?];
        let comparison = compare(&rounds[0], &rounds[1], least_difference)?;
        Some(Adjusted { comparison, rounds })
    }
}

/// The covariates that may be used: without those of the load by which the variant might bias the ratio. Without some of
/// them the coefficients of the others change, so they are looked at again.
fn without_biased(
    timings: &[Timing],
    effects: &[Comparison],
    bias_max: f64,
    fit: impl Fn(&[usize]) -> Coefficients,
) -> Vec<usize> {
    let mut usable: Vec<usize> = (0..timings.len()).collect();
    loop {
        let coefficients = fit(&usable);
        let may_bias = |at: usize| {
            // Without a coefficient nothing is done with it.
            let Some(coefficient) = coefficients[at] else { return false };
            let logs = effects[at].ratio.logs;
            let [low, high] = logs.interval(0.90).map(f64::abs);
            !logs.has_interval() || coefficient.abs() * low.max(high) > bias_max
        };
        let is_kept = |at: &usize| timings[*at] == Timing::BeforeLoad || !may_bias(*at);
        let kept: Vec<usize> = usable.iter().copied().filter(is_kept).collect();
        if kept.len() == usable.len() {
            return usable;
        }
        usable = kept;
    }
}
