//! Covariates of a comparison: figures of the machine from beside the load. What they explain of the noise is taken
//! out of the ratio.
//!
//! The windows that a round has of one variant differ by noise alone. How they vary with the covariates gives a
//! coefficient for each; then the figure of every round is moved to where the covariates have their mean. The ratio
//! has no bias as long as the variant does not move the covariates, whatever the coefficients are: so it matters
//! where a covariate is from ([`Timing`]), and whether it is used does not depend on which of the two ratios is
//! nearer to what was hoped for.
//!
//! Sources: the analysis of covariance, R. A. Fisher, Statistical Methods for Research Workers, 1932, section 49.1;
//! control variates with estimated coefficients, S. S. Lavenberg and P. D. Welch, A perspective on the use of control
//! variables to increase the efficiency of Monte Carlo simulations, Management Science 27 (1981); that the covariate
//! must be from before the treatment, A. Deng, Y. Xu, R. Kohavi and T. Walker, Improving the sensitivity of online
//! controlled experiments by utilizing pre-experiment data, WSDM 2013.

mod cells;

#[cfg(test)]
mod tests;

use cells::{Cells, Coefficients};

use crate::compare::{Comparison, RoundFigure, compare};

/// The bias that a covariate may leave, as a part of the least difference that matters.
const BIAS_MAX: f64 = 0.25;

/// When a covariate is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// While no load runs: no variant moves it.
    BetweenLoads,
    /// While the load runs: the variant may move it.
    DuringLoad,
}

/// One window of a variant in a round.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowFigure {
    /// Number of the round.
    pub round: u32,
    /// The figure that is compared.
    pub value: f64,
    /// A value for each covariate. A window in which one of its numbers is not positive is left out.
    pub covariates: Vec<f64>,
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
    /// The part of the variance of windows within rounds that the covariates explain which may be used. Each round is
    /// predicted from the others, so that it is negative where they explain nothing; `None` without enough windows.
    pub explained: Option<f64>,
    /// The same of all covariates, whether they may be used or not.
    pub explained_by_all: Option<f64>,
    /// Without what the covariates explain; `None` where they explain nothing, so that the comparison stays as it is.
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
    /// The variant's covariate as against the baseline's.
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
    /// The covariates that may be used explain nothing together.
    ExplainsNothing,
}

/// Takes what covariates explain out of the comparison of a variant with the baseline; `timings` has when each of
/// them was measured. `None` without rounds that measured both, and when one of the rounds has no window with the
/// covariates.
///
/// All covariates that were measured between loads are used. One that was measured during the load is used if its
/// coefficient times the end of the 90 % interval of the variant's effect on it, which is farther from 0, is at most
/// a quarter of the least difference that matters: two one-sided tests. See [`Adjustment::explained`] for when they
/// are used at all.
pub fn adjust(
    timings: &[Timing],
    baseline: MeasuredVariant<'_>,
    variant: MeasuredVariant<'_>,
    least_difference: f64,
) -> Option<Adjustment> {
    let [base, other] = [baseline, variant].map(|side| Cells::of(side.windows, timings.len()));
    let effect = |at: usize| {
        let [before, after] =
            [base.in_rounds(baseline.rounds, at)?, other.in_rounds(variant.rounds, at)?];
        compare(&before, &after, least_difference)
    };
    let effects: Vec<Comparison> = (0..timings.len()).map(effect).collect::<Option<_>>()?;
    let cells = base.joined(&other);
    let bias_max = BIAS_MAX * least_difference.ln_1p();
    let usable = without_moved(timings, &effects, bias_max, |used| cells.fit(used));
    let coefficients = cells.fit(&usable);
    let explained = cells.explained(&usable);
    let adjusted = explained.filter(|part| *part > 0.0).and_then(|_| {
        let centre = cells.centre();
        let baseline = base.moved(baseline.rounds, &coefficients, &centre)?;
        let variant = other.moved(variant.rounds, &coefficients, &centre)?;
        let comparison = compare(&baseline, &variant, least_difference)?;
        Some(Adjusted { comparison, rounds: [baseline, variant] })
    });
    let all: Vec<usize> = (0..timings.len()).collect();
    let by_all = cells.fit(&all);
    let figure = |at: usize| {
        let is_usable = usable.contains(&at);
        let role = match coefficients[at] {
            _ if !is_usable => CovariateRole::MayBeMoved,
            None => CovariateRole::Redundant,
            Some(_) if adjusted.is_some() => CovariateRole::Used,
            Some(_) => CovariateRole::ExplainsNothing,
        };
        let coefficient = if is_usable { coefficients[at] } else { by_all[at] };
        CovariateFigure { coefficient, effect: effects[at], role }
    };
    Some(Adjustment {
        covariates: all.iter().map(|at| figure(*at)).collect(),
        explained,
        explained_by_all: cells.explained(&all),
        adjusted,
    })
}

/// The covariates that may be used: without those of the load by which the variant might bias the ratio. Without one
/// of them the coefficients of the others change, so they are looked at again.
fn without_moved(
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
        let is_kept = |at: &usize| timings[*at] == Timing::BetweenLoads || !may_bias(*at);
        let kept: Vec<usize> = usable.iter().copied().filter(is_kept).collect();
        if kept.len() == usable.len() {
            return usable;
        }
        usable = kept;
    }
}
