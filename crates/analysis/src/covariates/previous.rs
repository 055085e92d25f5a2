//! What a variant leaves behind: its server may still work when its load is over, so that what is measured before the next
//! load depends on who had the load before it.
//!
//! The order of the variants is drawn, so that this is independent of the machine. It is not the same for all variants:
//! with two of them, each follows the other more often than itself. So the effect of each variant on what is measured after it
//! is estimated and taken out, and so is that of the start of a round, when none had the load. What is measured after
//! the windows of one turn is compared, so that slow changes of the machine are not taken for such an effect.
//!
//! Source: E. J. Williams, Experimental designs balanced for the estimation of residual effects of treatments, Australian
//! Journal of Scientific Research A 2 (1949).

use std::collections::{BTreeMap, BTreeSet};

use super::turns::{Row, fit, without_mean};
use super::{Timing, WindowFigure};

/// The windows of both variants, with the covariates from before the load as if what the variants leave behind were the
/// same for all.
pub(super) fn without_previous(
    timings: &[Timing],
    sides: [&[WindowFigure]; 2],
) -> [Vec<WindowFigure>; 2] {
    let both = sides.concat();
    let mut corrected = sides.map(<[WindowFigure]>::to_vec);
    for (at, _) in timings.iter().enumerate().filter(|(_, it)| **it == Timing::BeforeLoad) {
        let effects = effects(&both, at);
        for window in corrected.iter_mut().flatten() {
            let effect = effects.get(&window.previous.map(|it| it.variant));
            if let (Some(effect), Some(value)) = (effect, window.covariates.get_mut(at)) {
                *value *= (-effect).exp();
            }
        }
    }
    corrected
}

/// The logarithm of what each variant makes of a covariate after its windows, as against one of them; `None` is the start
/// of a round.
fn effects(windows: &[WindowFigure], covariate: usize) -> BTreeMap<Option<u32>, f64> {
    let before = |window: &WindowFigure| window.previous.map(|it| it.variant);
    let kinds: BTreeSet<Option<u32>> = windows.iter().map(before).collect();
    let mut turns: BTreeMap<(u32, u32), Vec<Row>> = BTreeMap::new();
    for window in windows {
        let Some(value) = window.covariates.get(covariate).map(|value| value.ln()) else {
            continue;
        };
        if value.is_finite() {
            let is_before = |kind: &Option<u32>| f64::from(u8::from(*kind == before(window)));
            let row = (value, kinds.iter().map(is_before).collect());
            let turn = window.previous.map_or(window.turn, |it| it.turn);
            turns.entry((window.round, turn)).or_default().push(row);
        }
    }
    let rows: Vec<Row> = turns.into_values().flat_map(without_mean).collect();
    let all: Vec<usize> = (0..kinds.len()).collect();
    let found = fit(rows.iter(), &all, kinds.len());
    // The last one follows from the others: they are as against it.
    kinds.into_iter().zip(found.into_iter().map(Option::unwrap_or_default)).collect()
}
