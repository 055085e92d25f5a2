//! Sweeps over clients: how often the intervals of the Universal Scalability Law have coefficients that are known, and what
//! becomes of sweeps of a queue, which the law only approximates.

use std::time::Duration;

use analysis::{NoScaling, Peak, Ranged, Scaling, ScalingLevel, scaling};
use engine::{Pacing, SimulatedChance};
use plan::{LEAST_DIFFERENCE, ServiceDistribution, SimulatedSystem, split_mix};

use super::goals::{Goals, Seen};
use super::share::Share;
use super::table::{Case, repeated};
use super::trial::{SimulatedTrial, run};
use super::{normal, percent};

/// The numbers of clients of a sweep.
const CLIENTS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// The throughput of one client of a sweep on the law, a second.
const GAMMA: f64 = 1_000.0;
/// Service time of the queue, and the think time of its clients, ns.
const SERVICE_NS: u64 = 10_000_000;
const THINK_NS: u64 = 100_000_000;
/// A curve that is told is to be no farther from the truth than this at any number of clients that was measured.
const TOLERANCE: f64 = 0.1;

/// A sweep whose throughput is that of known coefficients, times noise.
pub(super) struct OnTheLaw {
    name: &'static str,
    alpha: f64,
    beta: f64,
    trials: usize,
    /// The standard deviation of the logarithm of a trial's throughput.
    noise: f64,
    /// So many times as large it is with the most clients as with one, and in proportion to a power of them between.
    growth: f64,
}

/// What was found in sweeps.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    refused: Share,
    gamma: Share,
    alpha: Share,
    beta: Share,
    /// Of the clients with the highest throughput, or of the bound below them.
    peak: Share,
    highest: Share,
    gain: Share,
    /// Half widths of the intervals of the peak, as parts of it.
    peak_widths: Vec<f64>,
}

impl OnTheLaw {
    fn law(&self, clients: f64) -> f64 {
        let time = 1.0 + self.alpha * (clients - 1.0) + self.beta * clients * (clients - 1.0);
        GAMMA * clients / time
    }

    fn noise_text(&self) -> String {
        let first = 100.0 * self.noise;
        match self.growth == 1.0 {
            true => format!("{first:.0}"),
            false => format!("{first:.0} to {:.0}", first * self.growth),
        }
    }

    /// Infinite without coherency.
    fn peak(&self) -> f64 {
        ((1.0 - self.alpha) / self.beta).sqrt()
    }

    /// Half of the variance of single trials is seen within them.
    fn sweep(&self, seed: u64) -> Vec<ScalingLevel> {
        let mut draws = seed;
        let most = CLIENTS.last().copied().unwrap_or(1) as f64;
        let level = |clients: usize| {
            let power = (clients as f64).ln() / most.ln();
            let noise = self.noise * self.growth.powf(power);
            let trial = |_| self.law(clients as f64) * (noise * normal(&mut draws)).exp();
            let per_s = (0..self.trials).map(trial).collect();
            let variance_within = (self.trials == 1).then_some(noise * noise / 2.0);
            ScalingLevel { clients, per_s, variance_within }
        };
        CLIENTS.map(level).to_vec()
    }
}

impl Coverage {
    fn add(&mut self, case: &OnTheLaw, found: &Result<Scaling, NoScaling>) {
        self.refused.add(found.is_err());
        let Ok(found) = found else { return };
        let has = |range: &Ranged, truth: f64| {
            range.low <= truth && range.high.is_none_or(|high| truth <= high)
        };
        self.gamma.add(has(&found.gamma, GAMMA));
        self.alpha.add(has(&found.alpha, case.alpha));
        self.beta.add(has(&found.beta, case.beta));
        let most = *CLIENTS.last().unwrap_or(&1) as f64;
        let gain = case.law(2.0 * most) / case.law(most);
        self.gain.add(has(&found.gain_of_twice(most), gain));
        match &found.peak {
            Peak::Within { clients, per_s } => {
                self.peak.add(has(clients, case.peak()));
                self.highest.add(has(per_s, case.law(case.peak())));
                let high = clients.high.unwrap_or(f64::INFINITY);
                self.peak_widths.push((high - clients.low) / 2.0 / case.peak());
            }
            Peak::Beyond { clients_low } => self.peak.add(*clients_low <= case.peak()),
        }
    }

    /// The median half width of the peak's interval, in per cent.
    fn peak_width(&self) -> String {
        let mut all = self.peak_widths.clone();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).map_or("-".to_owned(), |it| format!("{:.1}", 100.0 * it))
    }
}

impl Case for OnTheLaw {
    const TITLE: &'static str = "Sweeps on the Universal Scalability Law";
    const HEAD: &'static str = "\
| sweep | trials of each | noise % | refused % | interval has gamma % | alpha % | beta % | clients of the peak % \
| its throughput % | gain of twice % | half width of the peak % |
|---|---|---|---|---|---|---|---|---|---|---|";
    type Found = Coverage;

    fn all() -> Vec<Self> {
        let sweeps = [
            ("peak at 49", 0.05, 0.000_4),
            ("peak at 22", 0.02, 0.002),
            ("peak at 222, beyond the sweep", 0.01, 0.000_02),
            ("no coherency", 0.05, 0.0),
            ("no contention", 0.0, 0.000_4),
        ];
        let of = |(name, alpha, beta): (&'static str, f64, f64)| {
            let with =
                move |(trials, noise, growth)| Self { name, alpha, beta, trials, noise, growth };
            let steady = [(1, 0.01), (2, 0.02), (3, 0.02), (5, 0.05)];
            let growing = [(1, 0.01), (3, 0.01), (5, 0.01)];
            let all = steady.map(|(trials, noise)| (trials, noise, 1.0)).into_iter();
            all.chain(growing.map(|(trials, noise)| (trials, noise, 5.0))).map(with)
        };
        sweeps.into_iter().flat_map(of).collect()
    }

    fn found(&self, repetitions: u64, seed: u64) -> anyhow::Result<Coverage> {
        let seed = seed ^ split_mix::mix(self.trials as u64);
        let once = |seed: u64| Ok(scaling(&self.sweep(seed), LEAST_DIFFERENCE));
        let mut coverage = Coverage::default();
        for found in repeated(repetitions, seed, once)? {
            coverage.add(self, &found);
        }
        Ok(coverage)
    }

    fn row(&self, found: &Coverage) -> String {
        let Coverage { refused, gamma, alpha, beta, peak, highest, gain, .. } = found;
        format!(
            "| {} | {} | {} | {refused} | {gamma} | {alpha} | {beta} | {peak} | {highest} | {gain} | {} |",
            self.name,
            self.trials,
            self.noise_text(),
            found.peak_width(),
        )
    }

    fn goals(found: &[(Self, Coverage)], goals: &mut Goals) {
        let of = |share: fn(&Coverage) -> Share| -> Seen {
            let name = |case: &Self| {
                format!("{}, {} of each, noise {} %", case.name, case.trials, case.noise_text())
            };
            let seen = found.iter().map(|(case, found)| (name(case), share(found)));
            seen.filter(|(_, share)| share.of > 0).collect()
        };
        let mut covers = |name: &str, share: fn(&Coverage) -> Share| {
            goals.at_least(&format!("the interval of the law has {name}"), 93.0, &of(share));
        };
        covers("gamma", |it| it.gamma);
        covers("alpha", |it| it.alpha);
        covers("beta", |it| it.beta);
        covers("the clients of the peak", |it| it.peak);
        covers("its throughput", |it| it.highest);
        covers("the gain of twice", |it| it.gain);
        goals.at_most("sweeps on the law that are refused", 2.0, &of(|it| it.refused));
    }
}

/// A sweep over the clients of servers behind one queue.
pub(super) struct Queueing {
    name: &'static str,
    servers: usize,
    think_ns: u64,
    trials: usize,
}

/// What became of sweeps of a queue.
#[derive(Debug, Default)]
pub(super) struct Approximated {
    refused: Share,
    /// Curves within the tolerance of the truth at every number of clients.
    near: Share,
    /// The farthest of each from the truth.
    farthest: Vec<f64>,
}

impl Queueing {
    /// The throughput of a closed queue of servers with exponential services, by the balance of its states: with `n` at
    /// the servers the clients that think come at `(clients - n) / think`, and leave at `min(n, servers) / service`. Source:
    /// Kleinrock, Queueing Systems 1, section 3.8 (the finite population model).
    fn truth(&self, clients: usize) -> f64 {
        let service = SERVICE_NS as f64 / 1e9;
        let rate = |at: usize| at.min(self.servers) as f64 / service;
        if self.think_ns == 0 {
            return rate(clients);
        }
        let think = self.think_ns as f64 / 1e9;
        let (mut weight, mut weights, mut leaving) = (1.0, 1.0, 0.0);
        for at in 1..=clients {
            weight *= (clients - at + 1) as f64 / think / rate(at);
            weights += weight;
            leaving += weight * rate(at);
            // Only their ratios count.
            if weights > 1e200 {
                (weight, weights, leaving) = (weight / 1e200, weights / 1e200, leaving / 1e200);
            }
        }
        leaving / weights
    }

    fn trial(&self, clients: usize) -> SimulatedTrial {
        SimulatedTrial {
            system: SimulatedSystem {
                servers: self.servers,
                operations: 1,
                service_times_ns: vec![SERVICE_NS],
                distribution: ServiceDistribution::Exponential,
                stalls: Vec::new(),
                noise: Vec::new(),
            },
            clients,
            pacing: Pacing::Closed { think_time_ns: self.think_ns },
            rate_per_s: None,
            warm_up: Duration::from_secs(2),
            time: Duration::from_secs(10),
            interval: Duration::from_millis(500),
        }
    }

    fn sweep(&self, seed: u64) -> anyhow::Result<Vec<ScalingLevel>> {
        let mut draws = seed;
        let mut level = |clients: usize| {
            let mut per_s = Vec::new();
            let mut variance_within = None;
            for _ in 0..self.trials {
                let seed = split_mix::next(&mut draws);
                let chance =
                    SimulatedChance { services: seed, noise: seed, origin_ns: 0, up_ns: 0 };
                let (summary, _) = run(&self.trial(clients), chance)?;
                per_s.push(summary.transactions_per_s);
                variance_within = summary.within.throughput_variance;
            }
            let variance_within = variance_within.filter(|_| self.trials == 1);
            Ok(ScalingLevel { clients, per_s, variance_within })
        };
        CLIENTS.iter().map(|clients| level(*clients)).collect()
    }
}

impl Case for Queueing {
    const TITLE: &'static str = "Sweeps of a queue";
    const HEAD: &'static str = "\
| queue | trials of each | refused % | fitted: within 10 % of the truth at every number of clients % \
| farthest from it, median % |
|---|---|---|---|---|";
    type Found = Approximated;

    fn all() -> Vec<Self> {
        let queues = [
            ("one server, thinking clients", 1, THINK_NS),
            ("four servers, thinking clients", 4, THINK_NS),
            ("four servers, no think time", 4, 0),
        ];
        let of = |(name, servers, think_ns): (&'static str, usize, u64)| {
            [1, 3].map(|trials| Self { name, servers, think_ns, trials })
        };
        queues.into_iter().flat_map(of).collect()
    }

    fn found(&self, repetitions: u64, seed: u64) -> anyhow::Result<Approximated> {
        let once = |seed: u64| Ok(scaling(&self.sweep(seed)?, LEAST_DIFFERENCE));
        let mut all = Approximated::default();
        for found in repeated(repetitions, seed, once)? {
            all.refused.add(found.is_err());
            if let Ok(found) = found {
                let off = |clients: &usize| {
                    (found.per_s(*clients as f64) / self.truth(*clients) - 1.0).abs()
                };
                let farthest = CLIENTS.iter().map(off).fold(0.0, f64::max);
                all.near.add(farthest <= TOLERANCE);
                all.farthest.push(farthest);
            }
        }
        Ok(all)
    }

    fn row(&self, found: &Approximated) -> String {
        let mut farthest = found.farthest.clone();
        farthest.sort_by(f64::total_cmp);
        let median = farthest.get(farthest.len() / 2);
        format!(
            "| {} | {} | {} | {} | {} |",
            self.name,
            self.trials,
            found.refused,
            percent(found.near.count, found.near.of),
            median.map_or("-".to_owned(), |it| format!("{:.1}", 100.0 * it)),
        )
    }

    fn goals(found: &[(Self, Approximated)], goals: &mut Goals) {
        let name = |case: &Self| format!("{}, {} of each", case.name, case.trials);
        let near = found.iter().map(|(case, found)| (name(case), found.near));
        let near: Seen = near.filter(|(_, share)| share.of > 0).collect();
        goals.at_least("a curve of a queue is within 10 % of the truth", 93.0, &near);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_the_coefficients_of_the_law() {
        let case =
            OnTheLaw { name: "", alpha: 0.05, beta: 0.000_4, trials: 3, noise: 0.02, growth: 1.0 };
        let found = case.found(200, 1).unwrap();
        assert!(found.refused.count <= 6, "{found:?}");
        let all = [found.gamma, found.alpha, found.beta, found.peak, found.highest, found.gain];
        // Three standard deviations below 95 % of 194 and more.
        assert!(all.iter().all(|it| it.percent() >= 90.3), "{found:?}");
        assert!((case.peak() - 48.73).abs() < 0.01);
    }

    #[test]
    fn the_truth_of_a_closed_queue_is_that_of_its_states() {
        let queue = |servers, think_ns| Queueing { name: "", servers, think_ns, trials: 1 };
        // One client: a transaction in each 110 ms. Two at one server: the balance of three states.
        let of_one = queue(1, THINK_NS);
        assert!((of_one.truth(1) - 1.0 / 0.11).abs() < 1e-9);
        let weights = [1.0, 20.0 / 100.0, 20.0 * 10.0 / 1e4];
        let expected = 100.0 * (weights[1] + weights[2]) / (weights[0] + weights[1] + weights[2]);
        assert!((of_one.truth(2) - expected).abs() < 1e-9);
        assert!((of_one.truth(128) - 100.0).abs() < 1e-3);
        assert_eq!((queue(4, 0).truth(3), queue(4, 0).truth(9)), (300.0, 400.0));
    }

    #[test]
    fn a_corner_is_refused() {
        let case = Queueing { name: "", servers: 4, think_ns: 0, trials: 2 };
        let found = case.found(8, 1).unwrap();
        assert_eq!(found.refused.count, 8, "{found:?}");
    }
}
