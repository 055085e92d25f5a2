//! Made-up rounds of two variants that ended by themselves.

use measure::{RoundsGoal, RoundsRule};
use record::Run;

use super::{Shape, as_variants, make};

/// So many rounds of v1 and v3 under one load. The throughput of v3 is `ratio` times that of v1, and more and less than
/// that in turn, by the factor exp `spread`.
pub(crate) fn rounds(goal: RoundsGoal, rounds: u32, ratio: f64, spread: f64) -> Run {
    let mut run = make(&Shape {
        systems: 2,
        workloads: &["oltp_point_select"],
        clients: &[4],
        repetitions: rounds,
        seconds: (0, 2),
    });
    as_variants(&mut run);
    for trial in &mut run.trials {
        let sign = if trial.header.repetition.is_multiple_of(2) { spread } else { -spread };
        let factor = if trial.header.system == "tidb.v3" { ratio * sign.exp() } else { 1.0 };
        trial.total.transactions = (2e6 * factor).round() as u64;
    }
    let figure = measure::PreciseFigure::Throughput;
    run.header.rounds = Some(RoundsRule { goal, figure, at_least: 5, at_most: 8 });
    if let RoundsGoal::Decide(margin) = goal {
        run.header.least_difference = margin;
    }
    run
}
