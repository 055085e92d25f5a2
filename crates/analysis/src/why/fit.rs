//! The effects of levers on the time for each transaction, with noise that lasts from window to window.
//!
//! ln T = ln T0 + ln(1 + sum of g) + sum of c + noise: the effects g of small slow-downs add up in T, those c of
//! coarse levers (fewer clients, fewer cores) multiply it, as the speed of the machine does.

use super::matrix::{inverse, product, times};

/// Noise between neighbouring windows: an autoregression of the first order, of which each window shows a part only. The
/// correlation of two windows k apart falls with `lasting`^k.
///
/// Source: G. E. P. Box, G. M. Jenkins, G. C. Reinsel, Time series analysis, 3.4 (ARMA(1, 1)).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Noise {
    lasting: f64,
    moving: f64,
}

const LASTING: [f64; 6] = [0.0, 0.3, 0.6, 0.8, 0.9, 0.97];
const MOVING: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 0.9];

/// A residual beyond so many robust standard deviations is drawn in to there: a machine that stood still says nothing
/// about a lever.
const CLIP: f64 = 4.0;
const ROUNDS_MAX: usize = 30;
/// From this round on the effects are near enough for their residuals to be judged.
const JUDGED_FROM: usize = 4;

/// One window: the levers that were on, and the logarithm of T.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) on: Vec<bool>,
    pub(super) ln_t: f64,
}

/// An estimate from one cycle or several.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Estimate {
    /// T with all levers off, as a logarithm.
    pub(super) ln_base: f64,
    /// What each lever adds to T, as a part of the base; of a coarse one in the logarithm.
    pub(super) effects: Vec<f64>,
}

impl Estimate {
    /// T with all levers off, in the unit of the rows.
    pub(super) fn base(&self) -> f64 {
        self.ln_base.exp()
    }

    /// What a small slow-down adds to T, in the unit of the rows.
    pub(super) fn added(&self, lever: usize) -> f64 {
        self.base() * self.effects[lever]
    }

    /// The mean of some; `None` of none.
    pub(super) fn mean<'e>(all: impl Iterator<Item = &'e Self>) -> Option<Self> {
        let vectors: Vec<Vec<f64>> = all
            .map(|it| std::iter::once(it.ln_base).chain(it.effects.iter().copied()).collect())
            .collect();
        let mean = mean(&vectors);
        let (ln_base, effects) = mean.split_first()?;
        Some(Self { ln_base: *ln_base, effects: effects.to_vec() })
    }
}

#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The estimate of each cycle; `None` of one whose rows do not tell the levers apart.
    pub(super) by_cycle: Vec<Option<Estimate>>,
    /// Standard deviation of the noise between windows, in ln T.
    pub(super) noise: f64,
    /// Windows whose residuals were drawn in.
    pub(super) clipped: usize,
}

/// Fits all cycles, each of which has the rows of its windows in order; `None` when no cycle tells the levers apart.
pub(super) fn fit(cycles: &[Vec<Row>], is_coarse: &[bool]) -> Option<Fit> {
    let mut model =
        Model { is_coarse, base: first_base(cycles)?, effects: vec![0.0; is_coarse.len()] };
    let mut noise = Noise { lasting: 0.0, moving: 0.0 };
    let mut values: Vec<Vec<f64>> =
        cycles.iter().map(|rows| rows.iter().map(|row| row.ln_t).collect()).collect();
    let mut clipped = 0;
    let mut steps: Vec<Option<Vec<f64>>> = Vec::new();
    for round in 0..ROUNDS_MAX {
        let linear = model.linearized(cycles, &values);
        if round == 0 || round == JUDGED_FROM {
            noise = likeliest(&linear)?;
        }
        steps = linear.iter().map(|cycle| cycle.step(noise).map(|step| step.0)).collect();
        let of_all: Vec<Vec<f64>> = steps.iter().flatten().cloned().collect();
        if of_all.is_empty() {
            return None;
        }
        let size = model.step(&mean(&of_all));
        if round == JUDGED_FROM {
            clipped = model.draw_in(cycles, &mut values);
        }
        if round > JUDGED_FROM + 1 && size < 1e-7 {
            break;
        }
    }
    let of_step = |step: Vec<f64>| Estimate {
        ln_base: model.base + step[0],
        effects: step[1..].iter().zip(&model.effects).map(|(step, effect)| effect + step).collect(),
    };
    Some(Fit {
        by_cycle: steps.into_iter().map(|step| step.map(of_step)).collect(),
        noise: model.spread(cycles, &values),
        clipped,
    })
}

struct Model<'a> {
    is_coarse: &'a [bool],
    /// ln T0.
    base: f64,
    effects: Vec<f64>,
}

/// The model of a cycle near the present effects: columns, the constant first, and what they leave of the values.
struct Linear {
    columns: Vec<Vec<f64>>,
    rest: Vec<f64>,
}

impl Model<'_> {
    fn added(&self, row: &Row) -> f64 {
        let small = row.on.iter().zip(self.is_coarse).zip(&self.effects);
        1.0 + small
            .filter(|((on, coarse), _)| **on && !**coarse)
            .map(|(_, effect)| effect)
            .sum::<f64>()
    }

    fn predicted(&self, row: &Row) -> f64 {
        let coarse = row.on.iter().zip(self.is_coarse).zip(&self.effects);
        let coarse: f64 =
            coarse.filter(|((on, coarse), _)| **on && **coarse).map(|(_, it)| it).sum();
        self.base + self.added(row).ln() + coarse
    }

    fn linearized(&self, cycles: &[Vec<Row>], values: &[Vec<f64>]) -> Vec<Linear> {
        let of_cycle = |(rows, values): (&Vec<Row>, &Vec<f64>)| {
            let slope = |row: &Row, lever: usize| match (row.on[lever], self.is_coarse[lever]) {
                (false, _) => 0.0,
                (true, true) => 1.0,
                (true, false) => self.added(row).recip(),
            };
            let of_lever = |lever| rows.iter().map(|row| slope(row, lever)).collect();
            let mut columns = vec![vec![1.0; rows.len()]];
            columns.extend((0..self.is_coarse.len()).map(of_lever));
            let rest = rows.iter().zip(values).map(|(row, value)| value - self.predicted(row));
            Linear { columns, rest: rest.collect() }
        };
        cycles.iter().zip(values).map(of_cycle).collect()
    }

    /// Moves by the mean step of all cycles, and returns how far.
    fn step(&mut self, step: &[f64]) -> f64 {
        self.base += step[0];
        // A sum of effects at which T would be nothing is not stepped over.
        let least = -0.9 / self.effects.len().max(1) as f64;
        for ((effect, step), coarse) in self.effects.iter_mut().zip(&step[1..]).zip(self.is_coarse)
        {
            *effect += step;
            if !coarse {
                *effect = effect.max(least);
            }
        }
        step.iter().map(|step| step.abs()).fold(0.0, f64::max)
    }

    /// What a cycle's rows leave, without its own level.
    fn residuals(&self, rows: &[Row], values: &[f64]) -> Vec<f64> {
        let rest: Vec<f64> =
            rows.iter().zip(values).map(|(row, value)| value - self.predicted(row)).collect();
        let level = median(&rest);
        rest.iter().map(|rest| rest - level).collect()
    }

    fn spread(&self, cycles: &[Vec<Row>], values: &[Vec<f64>]) -> f64 {
        let all: Vec<f64> =
            cycles.iter().zip(values).flat_map(|(rows, it)| self.residuals(rows, it)).collect();
        (product(&all, &all) / all.len().max(1) as f64).sqrt()
    }

    /// Draws in the values that are far from what the model says, and returns how many.
    fn draw_in(&self, cycles: &[Vec<Row>], values: &mut [Vec<f64>]) -> usize {
        let residuals: Vec<Vec<f64>> =
            cycles.iter().zip(&*values).map(|(rows, it)| self.residuals(rows, it)).collect();
        let sizes: Vec<f64> = residuals.iter().flatten().map(|rest| rest.abs()).collect();
        // The median distance of a normal distribution is 0.6745 of its standard deviation.
        let most = CLIP * (median(&sizes) / 0.6745).max(1e-9);
        let mut clipped = 0;
        for (value, rest) in values.iter_mut().flatten().zip(residuals.iter().flatten()) {
            if rest.abs() > most {
                *value -= rest - most.copysign(*rest);
                clipped += 1;
            }
        }
        clipped
    }
}

impl Linear {
    /// The step to the least squares with this noise, the sum of squares that is left, and the logarithm of the determinant that
    /// the restricted likelihood takes; `None` when the rows do not tell the levers apart.
    fn step(&self, noise: Noise) -> Option<(Vec<f64>, f64, f64)> {
        let columns: Vec<Vec<f64>> = self.columns.iter().map(|it| noise.whitened(it)).collect();
        let rest = noise.whitened(&self.rest);
        let normal: Vec<Vec<f64>> = columns
            .iter()
            .map(|one| columns.iter().map(|other| product(one, other)).collect())
            .collect();
        let right: Vec<f64> = columns.iter().map(|column| product(column, &rest)).collect();
        let ln_determinant = ln_determinant(&normal)?;
        let step = times(&inverse(normal)?, &right);
        let left = product(&rest, &rest) - product(&step, &right);
        Some((step, left.max(0.0), ln_determinant))
    }
}

impl Noise {
    /// A column of one cycle as it would be if its noise were white.
    fn whitened(self, values: &[f64]) -> Vec<f64> {
        let Self { lasting, moving } = self;
        // The variance of a window, in that of what is new in each.
        let variance = 1.0 + (lasting - moving).powi(2) / (1.0 - lasting.powi(2));
        let mut white: Vec<f64> = Vec::with_capacity(values.len());
        for (at, value) in values.iter().enumerate() {
            white.push(match at {
                0 => value / variance.sqrt(),
                _ => value - lasting * values[at - 1] + moving * white[at - 1],
            });
        }
        white
    }
}

/// The noise for which the values are likeliest, by the restricted likelihood of all cycles.
///
/// Source: D. A. Harville, Maximum likelihood approaches to variance component estimation, JASA 72 (1977).
fn likeliest(cycles: &[Linear]) -> Option<Noise> {
    let likelihood = |noise: Noise| {
        let steps: Vec<_> = cycles.iter().filter_map(|cycle| cycle.step(noise)).collect();
        let free =
            cycles.iter().map(|it| it.rest.len().saturating_sub(it.columns.len())).sum::<usize>();
        let left: f64 = steps.iter().map(|(_, left, _)| left).sum();
        let determinants: f64 = steps.iter().map(|(.., it)| it).sum();
        // That of the transformation: each cycle's first window is divided by its standard deviation.
        let variance = 1.0 + (noise.lasting - noise.moving).powi(2) / (1.0 - noise.lasting.powi(2));
        let first = steps.len() as f64 * variance.ln();
        -0.5 * (free as f64 * left.max(f64::MIN_POSITIVE).ln() + determinants + first)
    };
    let all = LASTING.iter().flat_map(|lasting| {
        let falling =
            move |moving: &&f64| **moving < *lasting || (**moving == 0.0 && *lasting == 0.0);
        MOVING.iter().filter(falling).map(|moving| Noise { lasting: *lasting, moving: *moving })
    });
    all.max_by(|one, other| likelihood(*one).total_cmp(&likelihood(*other)))
}

/// By Cholesky's decomposition; `None` when the matrix is not positive definite.
fn ln_determinant(rows: &[Vec<f64>]) -> Option<f64> {
    let size = rows.len();
    let mut lower = vec![vec![0.0; size]; size];
    let mut sum = 0.0;
    for row in 0..size {
        for column in 0..=row {
            let known = product(&lower[row][..column], &lower[column][..column]);
            let left = rows[row][column] - known;
            if row != column {
                lower[row][column] = left / lower[column][column];
            } else if left > 1e-9 * rows[row][row] {
                lower[row][row] = left.sqrt();
                sum += left.ln();
            } else {
                return None;
            }
        }
    }
    Some(sum)
}

fn first_base(cycles: &[Vec<Row>]) -> Option<f64> {
    let all: Vec<f64> = cycles.iter().flatten().map(|row| row.ln_t).collect();
    (!all.is_empty()).then(|| median(&all))
}

/// The mean of vectors of one length.
fn mean(vectors: &[Vec<f64>]) -> Vec<f64> {
    let size = vectors.first().map_or(0, Vec::len);
    let at = |at| vectors.iter().map(|vector| vector[at]).sum::<f64>() / vectors.len() as f64;
    (0..size).map(at).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::{CYCLE, Design};
    use measure::Lever;

    fn mean_of(fit: &Fit) -> Estimate {
        Estimate::mean(fit.by_cycle.iter().flatten()).unwrap()
    }

    fn rows(
        settings: &[u32],
        levers: &[Lever],
        ln_t: impl Fn(usize, &[bool]) -> f64,
    ) -> Vec<Vec<Row>> {
        let row = |(at, setting): (usize, &u32)| {
            let on: Vec<bool> = levers.iter().map(|lever| setting & lever.bit() != 0).collect();
            Row { ln_t: ln_t(at, &on), on }
        };
        let all: Vec<Row> = settings.iter().enumerate().map(row).collect();
        all.chunks(CYCLE).map(<[Row]>::to_vec).collect()
    }

    /// Without noise the fit is exact: 100 us, and 10, 20 and 3 us more, times 1.25 with fewer clients.
    #[test]
    fn effects_add_up_in_time_and_coarse_ones_multiply() {
        let levers = [Lever::Null, Lever::Before, Lever::ClientCpu, Lever::Clients];
        let settings = Design::new(&levers, 3).settings(4);
        let truth = |_, on: &[bool]| {
            let add =
                [0.0, 10.0, 20.0, 0.0].iter().zip(on).map(|(add, on)| if *on { *add } else { 0.0 });
            let times = if on[3] { 1.25 } else { 1.0 };
            ((100.0 + add.sum::<f64>()) * times).ln()
        };
        let cycles = rows(&settings, &levers, truth);
        let found = fit(&cycles, &[false, false, false, true]).unwrap();
        let mean = mean_of(&found);
        assert!((mean.base() - 100.0).abs() < 1e-6, "{found:?}");
        for (seen, expected) in mean.effects.iter().zip([0.0, 0.1, 0.2, 1.25_f64.ln()]) {
            assert!((seen - expected).abs() < 1e-6, "{found:?}");
        }
        assert_eq!(found.clipped, 0);
    }

    #[test]
    fn a_drift_is_no_effect_and_a_window_that_stood_still_is_drawn_in() {
        let levers = [Lever::Null, Lever::Before];
        let settings = Design::new(&levers, 5).settings(8);
        let truth = |at: usize, on: &[bool]| {
            let wiggle = ((at * 37) % 11) as f64 * 1e-4;
            let stall = if at == 40 { 3.0 } else { 0.0 };
            (if on[1] { 1.1_f64 } else { 1.0 }).ln() + at as f64 * 1e-3 + wiggle + stall
        };
        let found = fit(&rows(&settings, &levers, truth), &[false, false]).unwrap();
        let mean = mean_of(&found);
        assert!((mean.effects[1] - 0.1).abs() < 0.005, "{found:?}");
        assert!(mean.effects[0].abs() < 0.005, "{found:?}");
        assert_eq!(found.clipped, 1);
    }

    #[test]
    fn levers_that_were_never_apart_have_no_effects() {
        let together = vec![
            vec![
                Row { on: vec![true, true], ln_t: 1.0 },
                Row { on: vec![false, false], ln_t: 0.0 }
            ];
            4
        ];
        assert!(fit(&together, &[false, false]).is_none());
        assert!(fit(&[], &[false]).is_none());
    }
}
