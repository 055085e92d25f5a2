//! Whether the system changed during a seek: from some probe on, the bounds break at other loads than before.

use crate::seek::curve::logit;
use crate::seek::judged::JudgedProbe;

/// What a probe shows counts up to these distances from the bound, in logits: none above it says no more than few, and all no
/// more than most.
const FAR: (f64, f64) = (-3.0, 6.0);
/// Slopes of the curve, in logits for each step of the load's logarithm. Those of queues are between.
const SLOPES: [f64; 6] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
/// The crossings that are tried are so far apart, by the logarithm, or farther when they are more than `CROSSINGS_MAX`.
const STEP: f64 = 0.02;
const CROSSINGS_MAX: f64 = 200.0;
/// The fewest probes on each side of a change.
const BEFORE_MIN: usize = 4;
const AFTER_MIN: usize = 3;
/// A change of the capacity below this is none, by the logarithm.
const SHIFT_MIN: f64 = 0.05;
/// Probes scatter at least by this variance, in logits squared.
const VARIANCE_MIN: f64 = 2.0;
/// A change is told when two curves leave so many times as much less of the squares as one probe has left. Found by
/// simulation: seeks on steady systems show a false one in 1 to 2 of 100 (benchmarks/statistics.md).
const SHOWN: f64 = 20.0;

/// The index of the first probe after the change that is seen best; `None` when the probes show none.
///
/// One curve, `logit(share)` as a line over the logarithm of the load that is level far from the bound, is fitted to all
/// probes, and two with the same slope to those before and after each probe, by least squares. Source: D. W. K. Andrews,
/// Tests for parameter instability and structural change with unknown change point, Econometrica 61 (1993): the largest
/// of the F statistics of all places.
pub(super) fn changed_at(probes: &[JudgedProbe]) -> Option<usize> {
    let short = probes.iter().enumerate().filter(|(_, it)| !it.is_confirming && !it.is_coarse);
    let seen: Vec<Seen> = short.filter_map(|(at, probe)| Seen::of(at, probe)).collect();
    let last = seen.len().checked_sub(AFTER_MIN)?;
    if last < BEFORE_MIN {
        return None;
    }
    let fits: Vec<Fits> = SLOPES.iter().map(|slope| Fits::of(&seen, *slope)).collect();
    let whole = fits.iter().map(|it| it.one().0).fold(f64::INFINITY, f64::min);
    let two = |at: usize| {
        let fits = fits.iter().map(|it| it.two(at));
        let (squares, shift) = fits.min_by(|one, other| one.0.total_cmp(&other.0))?;
        let left = (squares / (seen.len() as f64 - 4.0).max(1.0)).max(VARIANCE_MIN);
        (shift.abs() >= SHIFT_MIN).then_some((at, (whole - squares) / left))
    };
    let best = (BEFORE_MIN..=last).filter_map(two).max_by(|one, other| one.1.total_cmp(&other.1));
    best.filter(|(_, gain)| *gain >= SHOWN).map(|(at, _)| seen[at].probe)
}

/// How far a probe is from the nearest of its bounds.
struct Seen {
    probe: usize,
    x: f64,
    /// In logits, positive above the bound.
    away: f64,
}

impl Seen {
    /// `None` when no bound can be broken.
    fn of(probe: usize, judged: &JudgedProbe) -> Option<Self> {
        let of_bound = judged.shares.iter().filter(|it| it.allowed > 0.0 && it.allowed < 1.0);
        let aways = of_bound.map(|it| {
            let share = (it.above * it.transactions + 0.5) / (it.transactions + 1.0);
            (logit(share) - logit(it.allowed)).clamp(FAR.0, FAR.1)
        });
        let away = aways.fold(f64::NEG_INFINITY, f64::max);
        let x = judged.load.ln();
        (away.is_finite() && x.is_finite()).then_some(Self { probe, x, away })
    }
}

/// The curves with one slope: for each crossing, the squares that are left of the probes up to each.
struct Fits {
    crossings: Vec<f64>,
    sums: Vec<Vec<f64>>,
}

impl Fits {
    fn of(seen: &[Seen], slope: f64) -> Self {
        let least = seen.iter().map(|it| it.x).fold(f64::INFINITY, f64::min) - STEP;
        let most = seen.iter().map(|it| it.x).fold(f64::NEG_INFINITY, f64::max) + STEP;
        let step = STEP.max((most - least) / CROSSINGS_MAX);
        let count = ((most - least) / step).ceil() as usize;
        let crossings: Vec<f64> = (0..=count).map(|at| least + at as f64 * step).collect();
        let sums = crossings.iter().map(|crossing| {
            let mut sum = 0.0;
            let square = |it: &Seen| {
                let expected = (slope * (it.x - crossing)).clamp(FAR.0, FAR.1);
                sum += (it.away - expected).powi(2);
                sum
            };
            seen.iter().map(square).collect()
        });
        Self { sums: sums.collect(), crossings }
    }

    /// The least squares of one curve through all, and its crossing.
    fn one(&self) -> (f64, f64) {
        self.least(|sums| sums.last().copied().unwrap_or_default())
    }

    /// The least squares of two curves, the second one from a probe on, and how far its crossing is from the first's.
    fn two(&self, at: usize) -> (f64, f64) {
        let before = self.least(|sums| sums[at - 1]);
        let after = self.least(|sums| sums.last().copied().unwrap_or_default() - sums[at - 1]);
        (before.0 + after.0, after.1 - before.1)
    }

    fn least(&self, of: impl Fn(&[f64]) -> f64) -> (f64, f64) {
        let all = self.sums.iter().zip(&self.crossings).map(|(sums, at)| (of(sums), *at));
        let nothing = (f64::INFINITY, f64::NAN);
        all.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or(nothing)
    }
}
