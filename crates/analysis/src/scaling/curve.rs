//! Curves of the law through points, under linear conditions on their coefficients.
//!
//! The law `X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))` says of the time of a transaction, `N / X`, that it is
//! `c0 + c1 (N - 1) + c2 N (N - 1)` with `c0 = 1 / gamma`, `c1 = alpha / gamma` and `c2 = beta / gamma`. It is linear in
//! these coefficients, so that a coefficient, the peak, or the gain of more clients is fixed by a linear condition on them.

use crate::least_squares::least_squares;

/// The steps of a fit; each has about twice as many right digits as the one before.
const STEPS_MAX: usize = 100;
/// A step is shortened by half at most so often.
const HALVINGS_MAX: i32 = 40;
/// A fit has converged when a step makes the sum of squares smaller by no more than this part.
const CONVERGED: f64 = 1e-13;

/// A throughput that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) clients: f64,
    /// The logarithm of the time that a client takes for a transaction: clients over throughput.
    pub(super) log_time: f64,
    /// The inverse of its variance, but for a factor that all points share.
    pub(super) weight: f64,
}

/// The coefficients of the time of a transaction: `c0`, `c1` and `c2`.
pub(super) type Coefficients = [f64; 3];

/// The coefficients that a condition allows: an offset and any sum of multiples of a basis of up to three.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Space {
    pub(super) offset: Coefficients,
    pub(super) basis: Vec<Coefficients>,
}

/// What several clients cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Contention,
    Coherency,
}

/// The best curve of a space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    pub(super) coefficients: Coefficients,
    /// The weighted sum of the squared residuals of logarithms.
    pub(super) squares: f64,
}

fn terms(clients: f64) -> Coefficients {
    [1.0, clients - 1.0, clients * (clients - 1.0)]
}

fn product(one: &Coefficients, other: &Coefficients) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

pub(super) fn time(coefficients: &Coefficients, clients: f64) -> f64 {
    product(coefficients, &terms(clients))
}

impl Space {
    fn of(basis: &[Coefficients]) -> Self {
        Self { offset: [0.0; 3], basis: basis.to_vec() }
    }

    pub(super) fn free() -> Self {
        Self::without(&[])
    }

    /// Without what only several clients cost.
    pub(super) fn without(parts: &[Part]) -> Self {
        let [of_one, contention, coherency] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let others = [(Part::Contention, contention), (Part::Coherency, coherency)];
        let kept = others.into_iter().filter(|(part, _)| !parts.contains(part)).map(|it| it.1);
        Self::of(&std::iter::once(of_one).chain(kept).collect::<Vec<_>>())
    }

    /// A curve with the same throughput for any number of clients.
    pub(super) fn constant() -> Self {
        Self::of(&[[1.0, 1.0, 0.0]])
    }

    pub(super) fn of_one_client(per_s: f64) -> Self {
        let basis = vec![[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        Self { offset: [1.0 / per_s, 0.0, 0.0], basis }
    }

    pub(super) fn of_contention(alpha: f64) -> Self {
        Self::of(&[[1.0, alpha, 0.0], [0.0, 0.0, 1.0]])
    }

    pub(super) fn of_coherency(beta: f64) -> Self {
        Self::of(&[[1.0, 0.0, beta], [0.0, 1.0, 0.0]])
    }

    /// With the peak at this number of clients, where `c0 - c1` is `c2 N^2`.
    pub(super) fn of_peak(clients: f64) -> Self {
        Self::of(&[[1.0, 1.0, 0.0], [clients * clients, 0.0, 1.0]])
    }

    /// A curve on which twice as many clients have `gain` times the throughput.
    pub(super) fn of_gain(clients: f64, gain: f64) -> Self {
        let (once, twice) = (terms(clients), terms(2.0 * clients));
        let condition = [0, 1, 2].map(|at| gain * twice[at] - 2.0 * once[at]);
        let size = |at: &usize| condition[*at].abs() / clients.powi(*at as i32);
        let pivot = (0..3).max_by(|one, other| size(one).total_cmp(&size(other))).unwrap_or(0);
        let free = (0..3).filter(|at| *at != pivot);
        let basis = free.map(|at| {
            let mut vector = [0.0; 3];
            vector[at] = 1.0;
            vector[pivot] = -condition[at] / condition[pivot];
            vector
        });
        Self { offset: [0.0; 3], basis: basis.collect() }
    }

    fn at(&self, multiples: &[f64]) -> Coefficients {
        let mut coefficients = self.offset;
        for (multiple, vector) in multiples.iter().zip(&self.basis) {
            for (value, part) in coefficients.iter_mut().zip(vector) {
                *value += multiple * part;
            }
        }
        coefficients
    }
}

/// The curve of a space that is nearest to the points by least squares of the logarithms: relative errors count alike at
/// every number of clients. `None` when no curve of it, or more than one, is nearest.
///
/// It is looked for from where the relative errors of the times are smallest, which is a linear problem as Gunther's
/// quadratic regression is one (Guerrilla Capacity Planning, 2007, section 5.5), without dividing every point by the one
/// of a single client.
pub(super) fn fit(points: &[Point], space: &Space) -> Option<Fit> {
    let count = space.basis.len();
    let columns = |clients: f64| {
        let terms = terms(clients);
        let mut columns = [0.0; 3];
        for (column, vector) in columns.iter_mut().zip(&space.basis) {
            *column = product(vector, &terms);
        }
        (product(&space.offset, &terms), columns)
    };
    let relative = |point: &Point| {
        let (offset, columns) = columns(point.clients);
        let time = point.log_time.exp();
        (point.weight, columns.map(|column| column / time), 1.0 - offset / time)
    };
    let start = solved(points.iter().map(relative), count)?;
    let model = |multiples: &[f64; 3], clients: f64| {
        let (offset, columns) = columns(clients);
        (offset + product(&columns, multiples), columns)
    };
    let (multiples, squares) = nearest(points, start, count, model)?;
    Some(Fit { coefficients: space.at(&multiples), squares })
}

/// The least sum of squares of a curve with this highest throughput, wherever it has it, looked for from the roots of
/// `c2` and of `c0 - c1`. In these two, `a` and `b`, the time is `N / P + (a N - b)^2`: at its peak of `b / a` clients
/// it is as long as the highest throughput allows.
pub(super) fn squares_of_highest(points: &[Point], per_s: f64, roots: [f64; 2]) -> Option<f64> {
    let model = |roots: &[f64; 3], clients: f64| {
        let root = roots[0] * clients - roots[1];
        (clients / per_s + root * root, [2.0 * root * clients, -2.0 * root, 0.0])
    };
    let found = nearest(points, [roots[0], roots[1], 0.0], 2, model);
    found.map(|(_, squares)| squares)
}

/// The parameters of a model that is nearest to the points, and the sum of squares there, by the Gauss-Newton method with
/// steps that are halved until they help. The model has the time of a transaction and its derivatives.
fn nearest(
    points: &[Point],
    start: [f64; 3],
    count: usize,
    model: impl Fn(&[f64; 3], f64) -> (f64, [f64; 3]),
) -> Option<([f64; 3], f64)> {
    let squares_at = |parameters: &[f64; 3]| -> Option<f64> {
        let square = |point: &Point| {
            let (time, _) = model(parameters, point.clients);
            (time > 0.0).then(|| point.weight * (point.log_time - time.ln()).powi(2))
        };
        points.iter().map(square).sum()
    };
    let (mut parameters, mut squares) = (start, squares_at(&start)?);
    for _ in 0..STEPS_MAX {
        let row = |point: &Point| {
            let (time, slopes) = model(&parameters, point.clients);
            (point.weight, slopes.map(|slope| slope / time), point.log_time - time.ln())
        };
        let Some(step) = solved(points.iter().map(row), count) else { break };
        let moved = |part: f64| [0, 1, 2].map(|at| parameters[at] + part * step[at]);
        let parts = (0..HALVINGS_MAX).map(|halvings| 0.5_f64.powi(halvings));
        let mut tried = parts.map(|part| (moved(part), squares_at(&moved(part))));
        let better = tried.find(|(_, found)| found.is_some_and(|found| found < squares));
        let Some((nearer, Some(fewer))) = better else { break };
        let is_converged = squares - fewer <= CONVERGED * squares;
        (parameters, squares) = (nearer, fewer);
        if is_converged {
            break;
        }
    }
    Some((parameters, squares))
}

/// The solution of a linear problem of least squares with up to three unknowns, from the weight, the columns and the value
/// of each row; `None` when the columns depend on each other.
fn solved(rows: impl Iterator<Item = (f64, [f64; 3], f64)>, count: usize) -> Option<[f64; 3]> {
    let (mut columns, mut values) = (vec![Vec::new(); count], Vec::new());
    for (weight, terms, value) in rows {
        let root = weight.sqrt();
        columns.iter_mut().zip(terms).for_each(|(column, term)| column.push(root * term));
        values.push(root * value);
    }
    let mut solution = [0.0; 3];
    for (unknown, found) in solution.iter_mut().zip(least_squares(columns, values)) {
        *unknown = found?;
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(coefficients: Coefficients, clients: &[f64]) -> Vec<Point> {
        let point = |clients: &f64| Point {
            clients: *clients,
            log_time: time(&coefficients, *clients).ln(),
            weight: 1.0,
        };
        clients.iter().map(point).collect()
    }

    #[test]
    fn points_on_a_curve_give_its_coefficients() {
        // 1,000 a second, 5 % contention, 0.02 % coherency; up to a million clients.
        for clients in [&[1.0, 2.0, 4.0, 8.0][..], &[1.0, 100.0, 10_000.0, 1_000_000.0][..]] {
            let on = points([1e-3, 5e-5, 2e-7], clients);
            let found = fit(&on, &Space::free()).unwrap();
            let expected = [1e-3, 5e-5, 2e-7];
            for (seen, expected) in found.coefficients.iter().zip(expected) {
                assert!((seen / expected - 1.0).abs() < 1e-6, "{found:?}");
            }
            assert!(found.squares < 1e-18, "{found:?}");
        }
    }

    /// Every condition is one that the curve itself meets: alpha 0.05, beta 0.0002, its peak at the root of
    /// 0.95 / 0.0002 = 4,750.
    #[test]
    fn conditions_that_a_curve_meets_leave_it_as_it_is() {
        let of = [1e-3, 5e-5, 2e-7];
        let on = points(of, &[1.0, 3.0, 10.0, 30.0, 100.0]);
        let peak = 4_750.0_f64.sqrt();
        let gain = 2.0 * time(&of, 20.0) / time(&of, 40.0);
        let spaces = [
            Space::of_one_client(1_000.0),
            Space::of_contention(0.05),
            Space::of_coherency(2e-4),
            Space::of_peak(peak),
            Space::of_gain(20.0, gain),
        ];
        for space in spaces {
            let found = fit(&on, &space).unwrap();
            assert!(found.squares < 1e-18, "{space:?}: {found:?}");
        }
        let highest = peak / time(&of, peak);
        let near = [2e-4, 0.05];
        assert!(squares_of_highest(&on, highest, near).unwrap() < 1e-18);
        assert!(squares_of_highest(&on, 1.1 * highest, near).unwrap() > 1e-4);
        let elsewhere = fit(&on, &Space::of_peak(2.0 * peak)).unwrap();
        assert!(elsewhere.squares > 1e-4, "{elsewhere:?}");
        assert_eq!(Space::without(&[Part::Contention]).basis, [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
    }

    /// The score is 0 at the best curve: each column, relative to the time, is orthogonal to the residuals.
    #[test]
    fn residuals_balance_at_the_best_curve() {
        let mut off = points([1e-3, 5e-5, 2e-7], &[1.0, 2.0, 8.0, 32.0, 128.0]);
        for (point, error) in off.iter_mut().zip([0.02, -0.03, 0.01, 0.04, -0.02]) {
            point.log_time += error;
            point.weight = 1.0 + 30.0 * error;
        }
        let found = fit(&off, &Space::free()).unwrap();
        for column in 0..3 {
            let score = |point: &Point| {
                let time = time(&found.coefficients, point.clients);
                let relative = terms(point.clients)[column] / time;
                point.weight * relative * (point.log_time - time.ln())
            };
            let sum: f64 = off.iter().map(score).sum();
            let size: f64 = off.iter().map(|point| score(point).abs()).sum();
            assert!(sum.abs() < 1e-6 * size, "{column}: {sum} of {size}");
        }
    }

    #[test]
    fn two_numbers_of_clients_determine_no_curve() {
        assert_eq!(fit(&points([1e-3, 5e-5, 2e-7], &[2.0, 4.0]), &Space::free()), None);
        assert_eq!(fit(&points([1e-3, 5e-5, 2e-7], &[4.0; 9]), &Space::free()), None);
        assert_eq!(fit(&[], &Space::free()), None);
    }
}
