//! The 95 % intervals of single trials: how often they have the truth, on series of figures whose mean is known, and on
//! queues whose response times are known.

use std::time::Duration;

use analysis::{Within, WithinInterval, interval_of_mean};
use engine::{Pacing, Schedule, SimulatedChance};
use plan::{Arrivals, Rate, ServiceDistribution, SimulatedSystem, split_mix};

use super::table::{Case, repeated};
use super::trial::{SimulatedTrial, run};
use super::{normal, percent};

/// The server's rate, a second.
const SERVER_PER_S: f64 = 100.0;
const PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];

/// A first-order autoregression with mean 100 and deviation 5.
pub(super) struct Series {
    correlation: f64,
    count: usize,
}

/// One server with exponential services and Poisson arrivals (M/M/1).
pub(super) struct Queue {
    /// Arrivals as a part of the server's rate.
    pub(super) part: f64,
    pub(super) seconds: u64,
}

/// Intervals of one figure.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    intervals: u64,
    covered: u64,
    half_widths: Vec<f64>,
    effective_samples: f64,
}

impl Coverage {
    fn add(&mut self, interval: Option<WithinInterval>, truth: f64) {
        let Some(interval) = interval else { return };
        let high = interval.high.unwrap_or(f64::INFINITY);
        self.intervals += 1;
        self.covered += u64::from(interval.low <= truth && truth <= high);
        self.half_widths.push(100.0 * (high - interval.low) / 2.0 / truth);
        self.effective_samples += interval.effective_samples;
    }

    fn covered(&self) -> String {
        if self.intervals == 0 { "-".to_owned() } else { percent(self.covered, self.intervals) }
    }

    /// The median half width, in percent of the truth.
    fn half_width(&self) -> String {
        let mut all = self.half_widths.clone();
        all.sort_by(f64::total_cmp);
        let median = all.get(all.len() / 2);
        median.filter(|it| it.is_finite()).map_or("-".to_owned(), |median| format!("{median:.1}"))
    }
}

impl Series {
    fn once(&self, seed: u64) -> Option<WithinInterval> {
        let mut draws = seed;
        let mut value = normal(&mut draws);
        let figures: Vec<f64> = (0..self.count)
            .map(|_| {
                let seen = value;
                let noise = (1.0 - self.correlation.powi(2)).sqrt() * normal(&mut draws);
                value = self.correlation * value + noise;
                100.0 + 5.0 * seen
            })
            .collect();
        interval_of_mean(&figures)
    }
}

impl Case for Series {
    const TITLE: &'static str = "Intervals within a trial: series";
    const HEAD: &'static str = "\
| correlation of neighbours | intervals | 95 % interval has the mean, % | its half width, % | the same of known noise, % \
| effective samples |
|---|---|---|---|---|---|";
    type Found = Coverage;

    /// Several lengths and correlations.
    fn all() -> Vec<Self> {
        let of = |correlation| [8, 10, 20, 60, 300].map(|count| Self { correlation, count });
        [0.0, 0.5, 0.8, 0.9].into_iter().flat_map(of).collect()
    }

    fn found(&self, repetitions: u64, seed: u64) -> anyhow::Result<Coverage> {
        let mut coverage = Coverage::default();
        let seed = seed ^ split_mix::mix(self.count as u64);
        for interval in repeated(repetitions, seed, |seed| Ok(self.once(seed)))? {
            coverage.add(interval, 100.0);
        }
        Ok(coverage)
    }

    /// With known noise the half width is 1.96 standard errors of the mean of an autoregression that goes on for as many
    /// intervals.
    fn row(&self, coverage: &Coverage) -> String {
        let Self { correlation, count } = *self;
        let n = count as f64;
        let lags = (1..count).map(|lag| (1.0 - lag as f64 / n) * correlation.powi(lag as i32));
        let variance = (1.0 + 2.0 * lags.sum::<f64>()) / n;
        let known = 1.96 * 5.0 * variance.sqrt();
        let effective = coverage.effective_samples / coverage.intervals as f64;
        let (covered, half_width) = (coverage.covered(), coverage.half_width());
        format!(
            "| {correlation} | {count} | {covered} | {half_width} | {known:.1} | {effective:.0} |"
        )
    }
}

impl Queue {
    /// Arrivals a second.
    pub(super) fn rate_per_s(&self) -> f64 {
        self.part * SERVER_PER_S
    }

    /// The mean response time. Source: it is exponential, with the rate that the arrivals leave (Kleinrock, Queueing
    /// Systems 1, section 5.7 on M/M/1).
    pub(super) fn mean_ns(&self) -> f64 {
        1e9 / (SERVER_PER_S - self.rate_per_s())
    }

    /// A percentile of response times.
    pub(super) fn percentile_ns(&self, percent: f64) -> f64 {
        -self.mean_ns() * (1.0 - percent / 100.0).ln()
    }

    fn once(&self, seed: u64) -> anyhow::Result<Within> {
        let chance = SimulatedChance { services: seed, noise: seed, origin_ns: 0, up_ns: 0 };
        Ok(run(&self.trial(seed), chance)?.0.within)
    }

    /// A trial on the server.
    pub(super) fn trial(&self, seed: u64) -> SimulatedTrial {
        let system = SimulatedSystem {
            servers: 1,
            operations: 1,
            service_times_ns: vec![(1e9 / SERVER_PER_S) as u64],
            distribution: ServiceDistribution::Exponential,
            stalls: Vec::new(),
            noise: Vec::new(),
        };
        let rate_per_s = self.rate_per_s();
        // Many times as long as the queue remembers.
        let warm_up = Duration::from_secs(30);
        let schedule = Schedule::new(&Rate::constant(rate_per_s), warm_up);
        let pacing =
            Pacing::Open { schedule, spread: Arrivals::Poisson, seed, backlog_max: 100_000 };
        let (time, interval) = (Duration::from_secs(self.seconds), Duration::from_secs(1));
        let rate_per_s = Some(rate_per_s);
        SimulatedTrial { system, clients: 1_000, pacing, rate_per_s, warm_up, time, interval }
    }
}

impl Case for Queue {
    const TITLE: &'static str = "Intervals within a trial: queues";
    const HEAD: &'static str = "\
| part of the capacity | measured for | throughput % | mean % | p50 % | p95 % | p99 % | half width of throughput, % \
| of p99, % |
|---|---|---|---|---|---|---|---|---|";
    /// Of throughput, the mean, and each percentile.
    type Found = [Coverage; 5];

    /// Light and heavy load, for a short and a long time.
    fn all() -> Vec<Self> {
        let of = |part| [10, 60, 300].map(|seconds| Self { part, seconds });
        [0.5, 0.8, 0.9].into_iter().flat_map(of).collect()
    }

    fn found(&self, trials: u64, seed: u64) -> anyhow::Result<[Coverage; 5]> {
        let mut coverage: [Coverage; 5] = Default::default();
        for within in repeated(trials, seed, |seed| self.once(seed))? {
            coverage[0].add(within.transactions_per_s, self.rate_per_s());
            coverage[1].add(within.mean_ns, self.mean_ns());
            for (coverage, percent) in coverage[2..].iter_mut().zip(PERCENTILES) {
                coverage.add(within.percentile_ns(percent), self.percentile_ns(percent));
            }
        }
        Ok(coverage)
    }

    fn row(&self, coverage: &[Coverage; 5]) -> String {
        let covered: Vec<String> = coverage.iter().map(Coverage::covered).collect();
        let widths = [coverage[0].half_width(), coverage[4].half_width()];
        let Self { part, seconds } = self;
        format!("| {part} | {seconds} s | {} | {} |", covered.join(" | "), widths.join(" | "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_width_of_known_noise() {
        let series = Series { correlation: 0.0, count: 100 };
        let mut coverage = Coverage::default();
        let interval = WithinInterval { low: 98.0, high: Some(102.0), effective_samples: 80.0 };
        coverage.add(Some(interval), 100.0);
        // 1.96 x 5 / sqrt 100.
        assert_eq!(series.row(&coverage), "| 0 | 100 | 100.0 (20.7 to 100.0) | 2.0 | 1.0 | 80 |");
    }

    #[test]
    fn trials_of_the_engine_have_intervals_of_every_figure() {
        let queue = Queue { part: 0.5, seconds: 60 };
        let coverage = queue.found(4, 1).unwrap();
        for coverage in &coverage {
            assert_eq!(coverage.intervals, 4);
            assert!(coverage.covered >= 2, "{coverage:?}");
        }
    }
}
