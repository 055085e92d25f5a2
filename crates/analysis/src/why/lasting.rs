//! Whether the system remembers slow-downs for longer than a window: effects that grow or fade within it.

use measure::{Lever, Why, WhyWindow};

use super::WHY_CYCLES_MIN;
use super::cycles::TRANSACTIONS_MIN;
use super::fit::{Row, fit};
use super::places::{LEVEL, Ranged95};
use crate::moments::standard_deviation;
use crate::several::corrected;
use crate::student::{critical_t, p_value};

/// The chance that any effect of a system without a memory seems to change.
const ALARM_LEVEL: f64 = 0.01;

/// A lever whose effect is another in the second half of its windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lasting {
    pub lever: Lever,
    /// The effect in the second half less that in the first, as a part of the time for a transaction.
    pub growth: Ranged95,
}

/// The levers whose effects surely grow or fade within a window. The halves of one window share its noise, as far as that
/// lasts for longer, so their ratio has little of it. None when the lever that does nothing seems to change as well.
pub fn why_lasting(why: &Why) -> Vec<Lasting> {
    let levers: Vec<Lever> = why.used.iter().map(|used| used.lever).collect();
    let usable = why.windows.iter().filter(|window| !window.is_late);
    let rows: Vec<(u32, Row)> =
        usable.filter_map(|it| Some((it.cycle, row(it, &levers)?))).collect();
    let cycles: Vec<Vec<Row>> = rows
        .chunk_by(|one, other| one.0 == other.0)
        .map(|cycle| cycle.iter().map(|(_, row)| row.clone()).collect())
        .collect();
    // What is a ratio has no sum of slow-downs: all effects are linear in its logarithm.
    let Some(fitted) = fit(&cycles, &vec![true; levers.len()]) else { return Vec::new() };
    let by_cycle: Vec<&Vec<f64>> = fitted.by_cycle.iter().flatten().map(|it| &it.effects).collect();
    if by_cycle.len() < WHY_CYCLES_MIN {
        return Vec::new();
    }
    let of_lever = |at: usize| growth(&by_cycle.iter().map(|it| it[at]).collect::<Vec<f64>>());
    let all: Vec<(Ranged95, f64)> = (0..levers.len()).filter_map(of_lever).collect();
    let holm = corrected(&all.iter().map(|it| it.1).collect::<Vec<f64>>(), all.len());
    let seen = levers.iter().zip(&all).zip(holm).filter(|(_, p)| *p < ALARM_LEVEL);
    let seen: Vec<Lasting> =
        seen.map(|((lever, it), _)| Lasting { lever: *lever, growth: it.0 }).collect();
    if seen.iter().any(|it| it.lever == Lever::Null) { Vec::new() } else { seen }
}

/// ln of the time for a transaction in the second half of a window over that in the first.
fn row(window: &WhyWindow, levers: &[Lever]) -> Option<Row> {
    let second = window.transactions.checked_sub(window.first_half)?;
    let second_ns = window.counted_ns.checked_sub(window.first_half_ns)?;
    let is_enough = window.first_half.min(second) >= TRANSACTIONS_MIN;
    let each = |ns: u64, transactions: u64| ns as f64 / transactions as f64;
    let ratio = each(second_ns, second) / each(window.first_half_ns, window.first_half);
    let on = levers.iter().map(|lever| window.setting & lever.bit() != 0).collect();
    (is_enough && ratio > 0.0 && ratio.is_finite()).then(|| Row { on, ln_t: ratio.ln() })
}

/// The mean of some cycles, each of which is independent of the others, and how likely it is without an effect.
fn growth(of_cycles: &[f64]) -> Option<(Ranged95, f64)> {
    let count = of_cycles.len();
    let value = of_cycles.iter().sum::<f64>() / count as f64;
    let error = standard_deviation(of_cycles)? / (count as f64).sqrt();
    let width = |confidence| critical_t(confidence, count - 1).map(|times| times * error);
    let (likely, sure) = (width(1.0 - LEVEL)?, width(1.0 - ALARM_LEVEL)?);
    let p = if error > 0.0 { p_value(value / error, count - 1) } else { 1.0 };
    Some((Ranged95::around(value, likely, sure), p))
}
