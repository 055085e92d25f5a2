//! How throughput grows with the clients of a closed loop: the Universal Scalability Law, fitted to a sweep, or the reason
//! why the sweep does not carry it.
//!
//! The law: `X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))`, with the throughput `gamma` of one client, the
//! contention `alpha` for what is done by one at a time, and the coherency `beta` for what each has to agree on with each.
//! Throughput is highest at `sqrt((1 - alpha) / beta)` clients. Source: N. J. Gunther, Guerrilla Capacity Planning, 2007,
//! chapters 4 to 6, and A general theory of computational scalability based on rational functions, arXiv:0808.1431.

mod curve;
mod profile;
mod variance;

#[cfg(test)]
mod tests;

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

use crate::moments::mean;
use curve::{Coefficients, Fit, Part, Point, Space, fit, time};
use profile::Profile;
pub use profile::Ranged;

/// Three coefficients pass through any three points, so that a fourth is needed to see whether the law holds.
const LEVELS_MIN: usize = 4;
/// Without repetitions the scatter around the curve is all that is known of chance, and a fifth is needed for it.
const SINGLE_LEVELS_MIN: usize = 5;
/// The law is refused when residuals as large as these have a smaller probability under it.
const REFUSED_BELOW: f64 = 0.01;
/// Half the width of a 95 % interval, in standard deviations of the normal distribution.
const HALF_WIDTH: f64 = 1.96;

#[derive(Clone, Debug, PartialEq)]
pub struct ScalingLevel {
    /// The number of clients, at least 1.
    pub clients: usize,
    /// The throughput of each trial.
    pub per_s: Vec<f64>,
    /// Of a single trial: the variance that the noise within it explains, as a part of the squared throughput.
    pub variance_within: Option<f64>,
    /// Of a single trial: half the width of the 95 % interval of the logarithm of its throughput, from within it. It allows
    /// for noise that lasts as long as the trial, which that variance does not.
    pub half_width_within: Option<f64>,
}

/// The law, fitted to a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    pub gamma: Ranged,
    /// The part of a transaction that is done for one client at a time.
    pub alpha: Ranged,
    /// What each client costs each other.
    pub beta: Ranged,
    /// Where throughput is highest.
    pub peak: Peak,
    /// The measured and the fitted throughput with each number of clients.
    pub levels: Vec<FittedLevel>,
    /// How well the law describes the sweep.
    pub quality: Quality,
    coefficients: Coefficients,
    profile: Profile,
}

/// Where throughput is highest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Peak {
    Within {
        clients: Ranged,
        per_s: Ranged,
    },
    /// Beyond the sweep, or nowhere: the sweep shows no more than that it is not below this number of clients.
    Beyond {
        /// The lower end of the 95 % interval.
        clients_low: f64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedLevel {
    pub clients: usize,
    /// The geometric mean of its trials.
    pub measured_per_s: f64,
    pub fitted_per_s: f64,
}

impl FittedLevel {
    /// How far the measured throughput is above the curve, as a part of it.
    pub fn deviation(&self) -> f64 {
        self.measured_per_s / self.fitted_per_s - 1.0
    }
}

/// How well the law describes a sweep, and what its intervals rest on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// The probability of residuals as large as these if the law holds but for the least difference; `None` where nothing
    /// tells how large they may be by chance.
    pub p_value: Option<f64>,
    pub trials: usize,
    /// Whether some number of clients has several trials. Otherwise what differs from trial to trial is seen only as
    /// scatter around the curve.
    pub is_repeated: bool,
}

/// Why a sweep does not carry the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoScaling {
    /// There are too few different numbers of clients.
    FewLevels { levels: usize, needed: usize },
    /// A trial with this number of clients had no throughput at all.
    NoThroughput(usize),
    /// The residuals are larger than chance and the least difference explain.
    LackOfFit {
        /// The probability of residuals as large as these.
        p_value: f64,
        /// The number of clients that is farthest from the curve.
        clients: usize,
        /// How far throughput is above the curve there, as a part of it.
        deviation: f64,
    },
    /// The contention is below zero: throughput grows faster than the clients.
    NegativeContention {
        /// The upper end of its 95 % interval.
        alpha_high: f64,
    },
    /// The coherency is below zero: more clients slow each other less.
    NegativeCoherency {
        /// The upper end of its 95 % interval.
        beta_high: f64,
    },
    /// No curve is nearest to the points.
    NotDetermined,
}

/// Fits the law to a sweep, which has an entry for each number of clients, in ascending order. Deviations from the law
/// below the least difference that matters do not speak against it.
///
/// # Errors
/// When the sweep does not carry the law.
pub fn scaling(levels: &[ScalingLevel], least_difference: f64) -> Result<Scaling, NoScaling> {
    let is_repeated = levels.iter().any(|level| level.per_s.len() > 1);
    let needed = if is_repeated { LEVELS_MIN } else { SINGLE_LEVELS_MIN };
    if levels.len() < needed {
        return Err(NoScaling::FewLevels { levels: levels.len(), needed });
    }
    let is_idle = |level: &&ScalingLevel| {
        level.per_s.is_empty()
            || level.per_s.iter().any(|per_s| !per_s.is_finite() || *per_s <= 0.0)
    };
    if let Some(level) = levels.iter().find(is_idle) {
        return Err(NoScaling::NoThroughput(level.clients));
    }
    let sweep = Sweep::of(levels).ok_or(NoScaling::NotDetermined)?;
    let free = fit(&sweep.points, &Space::free()).ok_or(NoScaling::NotDetermined)?;
    let p_value = sweep.lack_of_fit(&free, least_difference);
    if let Some(p_value) = p_value.filter(|p_value| *p_value < REFUSED_BELOW) {
        return Err(refusal(levels, &free.coefficients, p_value));
    }
    let profile = Profile::of(&sweep.points, &free).ok_or(NoScaling::NotDetermined)?;
    let trials = levels.iter().map(|level| level.per_s.len()).sum();
    fitted(levels, &free, profile, &sweep, Quality { p_value, trials, is_repeated })
}

fn refusal(levels: &[ScalingLevel], coefficients: &Coefficients, p_value: f64) -> NoScaling {
    let fitted = fitted_levels(levels, coefficients);
    let size = |level: &FittedLevel| (level.measured_per_s / level.fitted_per_s).ln().abs();
    let worst = fitted.iter().max_by(|one, other| size(one).total_cmp(&size(other)));
    worst.map_or(NoScaling::NotDetermined, |worst| NoScaling::LackOfFit {
        p_value,
        clients: worst.clients,
        deviation: worst.deviation(),
    })
}

fn fitted_levels(levels: &[ScalingLevel], coefficients: &Coefficients) -> Vec<FittedLevel> {
    let of = |level: &ScalingLevel| {
        let clients = level.clients as f64;
        FittedLevel {
            clients: level.clients,
            measured_per_s: (clients.ln() - mean_log_time(level)).exp(),
            fitted_per_s: clients / time(coefficients, clients),
        }
    };
    levels.iter().map(of).collect()
}

/// The law from the best curve of all, which may have coefficients below zero.
fn fitted(
    levels: &[ScalingLevel],
    free: &Fit,
    profile: Profile,
    sweep: &Sweep,
    quality: Quality,
) -> Result<Scaling, NoScaling> {
    let [c0, c1, c2] = free.coefficients;
    if c0 <= 0.0 {
        return Err(NoScaling::NotDetermined);
    }
    let (alpha, beta) = (profile.contention(c1 / c0), profile.coherency(c2 / c0));
    if let Some(alpha_high) = alpha.1.filter(|high| *high < 0.0) {
        return Err(NoScaling::NegativeContention { alpha_high });
    }
    if let Some(beta_high) = beta.1.filter(|high| *high < 0.0) {
        return Err(NoScaling::NegativeCoherency { beta_high });
    }
    let best = not_negative(&sweep.points, free).ok_or(NoScaling::NotDetermined)?;
    let [c0, c1, c2] = best.coefficients;
    let ranged = |value: f64, (low, high): (f64, Option<f64>)| Ranged {
        value,
        low: low.max(0.0).min(value),
        high: high.map(|high| high.max(value)),
    };
    Ok(Scaling {
        gamma: profile.positive(1.0 / c0, Space::of_one_client),
        alpha: ranged(c1 / c0, alpha),
        beta: ranged(c2 / c0, beta),
        peak: peak(&best.coefficients, &profile, beta.0),
        levels: fitted_levels(levels, &best.coefficients),
        quality,
        coefficients: best.coefficients,
        profile,
    })
}

/// The best curve without coefficients below zero.
fn not_negative(points: &[Point], free: &Fit) -> Option<Fit> {
    let is_allowed = |fit: &Fit| fit.coefficients[1..].iter().all(|value| *value >= 0.0);
    if is_allowed(free) {
        return Some(*free);
    }
    let both = [Part::Contention, Part::Coherency];
    let fits = [&both[..1], &both[1..], &both[..]].map(|parts| fit(points, &Space::without(parts)));
    let allowed = fits.into_iter().flatten().filter(is_allowed);
    allowed.min_by(|one, other| one.squares.total_cmp(&other.squares))
}

/// A peak within the sweep needs a coherency that is shown to be above zero.
fn peak(coefficients: &Coefficients, profile: &Profile, beta_low: f64) -> Peak {
    let [c0, c1, c2] = *coefficients;
    let at = (c2 > 0.0).then(|| ((c0 - c1) / c2).max(1.0).sqrt());
    let (low, high) = profile.peak(at);
    match (at, high) {
        (Some(value), Some(high)) if value <= profile.clients_max && beta_low > 0.0 => {
            Peak::Within {
                clients: Ranged { value, low, high: Some(high) },
                per_s: profile.highest(value / time(coefficients, value), coefficients),
            }
        }
        _ => Peak::Beyond { clients_low: low },
    }
}

impl Scaling {
    pub fn per_s(&self, clients: f64) -> f64 {
        clients / time(&self.coefficients, clients)
    }

    /// The ratio of the throughput of twice as many clients to the throughput of `clients`.
    pub fn gain_of_twice(&self, clients: f64) -> Ranged {
        let gain = self.per_s(2.0 * clients) / self.per_s(clients);
        self.profile.positive(gain, |gain| Space::of_gain(clients, gain))
    }
}

fn log_times(level: &ScalingLevel) -> Vec<f64> {
    level.per_s.iter().map(|per_s| (level.clients as f64 / per_s).ln()).collect()
}

fn mean_log_time(level: &ScalingLevel) -> f64 {
    mean(&log_times(level)).unwrap_or_default()
}

/// A sweep as points with weights.
struct Sweep {
    points: Vec<Point>,
    /// Of each number of clients: the mean of the logarithms, and the variance that it has by chance, if that is known.
    means: Vec<(f64, f64, Option<f64>)>,
    /// The degrees of freedom of these variances; `None` when there are many.
    degrees: Option<f64>,
}

impl Sweep {
    /// `None` when no curve can be fitted.
    fn of(levels: &[ScalingLevel]) -> Option<Self> {
        let logs = levels.iter().map(|level| (level.clients as f64, log_times(level)));
        let logs: Vec<(f64, Vec<f64>)> = logs.collect();
        match variance::of_trials(&logs) {
            Some(variances) => Some(Self::repeated(levels, &logs, &variances)),
            None => Self::single(levels),
        }
    }

    /// A point for each trial.
    fn repeated(levels: &[ScalingLevel], logs: &[(f64, Vec<f64>)], variances: &[f64]) -> Self {
        let largest = variances.iter().copied().fold(0.0, f64::max);
        let weight = |variance: f64| if largest > 0.0 { largest / variance } else { 1.0 };
        let (mut points, mut means) = (Vec::new(), Vec::new());
        for ((level, (clients, logs)), variance) in levels.iter().zip(logs).zip(variances) {
            let clients = *clients;
            let weight = weight(*variance);
            points.extend(logs.iter().map(|log_time| Point {
                clients,
                log_time: *log_time,
                weight,
            }));
            means.push((clients, mean_log_time(level), Some(variance / logs.len() as f64)));
        }
        let degrees = logs.iter().map(|(_, logs)| logs.len() - 1).sum::<usize>() as f64;
        Self { points, means, degrees: Some(degrees) }
    }

    /// A point for each number of clients, with the variance within its trial and one that all trials share.
    fn single(levels: &[ScalingLevel]) -> Option<Self> {
        let known: Option<Vec<f64>> = levels.iter().map(|level| level.variance_within).collect();
        let within = known.filter(|all| all.iter().all(|it| it.is_finite() && *it > 0.0));
        let points_of = |variances: &[f64]| -> Vec<Point> {
            let least = variances.iter().copied().fold(f64::INFINITY, f64::min);
            let point = |(level, variance): (&ScalingLevel, &f64)| Point {
                clients: level.clients as f64,
                log_time: mean_log_time(level),
                weight: least / variance,
            };
            levels.iter().zip(variances).map(point).collect()
        };
        let Some(within) = within else {
            let points = points_of(&vec![1.0; levels.len()]);
            let means = points.iter().map(|it| (it.clients, it.log_time, None)).collect();
            return Some(Self { points, means, degrees: None });
        };
        let with = |shared: f64| within.iter().map(|it| it + shared).collect::<Vec<f64>>();
        let squares = |shared: f64| {
            let variances = with(shared);
            let least = variances.iter().copied().fold(f64::INFINITY, f64::min);
            Some(fit(&points_of(&variances), &Space::free())?.squares / least)
        };
        let shared = variance::shared(&within, levels.len() - 3, squares)?;
        let points = points_of(&with(shared));
        let lasting = levels.iter().map(|it| Some((it.half_width_within? / HALF_WIDTH).powi(2)));
        let means = points.iter().zip(lasting).map(|(it, own)| (it.clients, it.log_time, own));
        let means = means.collect();
        Some(Self { points, means, degrees: None })
    }

    /// The probability of residuals as large as those of a fit when the law holds but for the least difference.
    ///
    /// Source: N. R. Draper and H. Smith, Applied Regression Analysis, 3rd edition, 1998, section 2.1 on lack of fit and
    /// pure error. A deviation of the least difference is added to the pure error of each mean. That of a single trial is by
    /// the interval within it, which is as wide as noise that lasts for the whole trial may make it.
    fn lack_of_fit(&self, fit: &Fit, least_difference: f64) -> Option<f64> {
        let square = |(clients, log_time, variance): &(f64, f64, Option<f64>)| {
            let residual = log_time - time(&fit.coefficients, *clients).ln();
            Some(residual * residual / ((*variance)? + least_difference.powi(2)))
        };
        let squares: f64 = self.means.iter().map(square).sum::<Option<f64>>()?;
        let free = self.means.len() as f64 - 3.0;
        match self.degrees {
            Some(degrees) => {
                let distribution = FisherSnedecor::new(free, degrees).ok()?;
                Some(distribution.sf(squares / free))
            }
            None => Some(ChiSquared::new(free).ok()?.sf(squares)),
        }
    }
}
