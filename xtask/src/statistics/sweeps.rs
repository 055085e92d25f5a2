//! Sweeps over clients: how often the intervals of the Universal Scalability Law have coefficients that are known, and what
//! becomes of sweeps of a queue, which the law only approximates.

use std::time::Duration;

use analysis::{Peak, Ranged, ScalingLevel, scaling};
use plan::{LEAST_DIFFERENCE, ServiceDistribution, split_mix};

use super::normal;
use super::simulation::{Case, Goal, Seen, Study, at_least, at_most};
use super::trial::{SimulatedTrial, chance, run, system};

/// The numbers of clients of a sweep.
const CLIENTS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// The throughput of one client of a sweep on the law, a second.
const GAMMA: f64 = 1_000.0;
/// Service time of the queue, and the think time of its clients, ns.
const SERVICE_NS: u64 = 10_000_000;
const THINK_NS: u64 = 100_000_000;
/// A curve is to be no farther from the truth than this at any number of clients that was measured.
const TOLERANCE: f64 = 0.1;

const REFUSED: &str = "refused";
const COVERED: &str = "the interval has the truth";
const NEAR: &str = "refused, or within 10 % of the truth at every number of clients";
const GOALS_ON_THE_LAW: &[Goal] = &[at_most(REFUSED, 2.0), at_least(COVERED, 93.0)];
const GOALS_OF_QUEUES: &[Goal] = &[at_least(NEAR, 93.0)];

pub(super) static ON_THE_LAW: Study = Study {
    name: "usl",
    title: "Sweeps on the Universal Scalability Law",
    goals: GOALS_ON_THE_LAW,
    cases: on_the_law,
};
pub(super) static QUEUES: Study = Study {
    name: "queue-sweeps",
    title: "Sweeps of a queue",
    goals: GOALS_OF_QUEUES,
    cases: queues,
};

/// A sweep whose throughput is that of known coefficients, times noise.
#[derive(Clone, Copy)]
struct OnTheLaw {
    alpha: f64,
    beta: f64,
    trials: usize,
    /// The standard deviation of the logarithm of a trial's throughput.
    noise: f64,
    /// So many times as large it is with the most clients as with one, and in proportion to a power of them between.
    growth: f64,
}

fn on_the_law() -> Vec<Case> {
    let sweeps = [
        ("peak at 49", 0.05, 0.000_4),
        ("peak at 22", 0.02, 0.002),
        ("peak at 222, beyond the sweep", 0.01, 0.000_02),
        ("no coherency", 0.05, 0.0),
        ("no contention", 0.0, 0.000_4),
    ];
    let noises = [
        (1, 0.01, 1.0),
        (2, 0.02, 1.0),
        (3, 0.02, 1.0),
        (5, 0.05, 1.0),
        (1, 0.01, 5.0),
        (3, 0.01, 5.0),
        (5, 0.01, 5.0),
    ];
    let of = |(name, alpha, beta): (&'static str, f64, f64)| {
        noises.map(|(trials, noise, growth)| {
            let law = OnTheLaw { alpha, beta, trials, noise, growth };
            let [first, last] = [noise, noise * growth].map(|noise| 100.0 * noise);
            let name = format!("{name}, {trials} of each, noise of {first:.0} to {last:.0} %");
            Case::new(name, move |seed| Ok(law.once(seed)))
        })
    };
    sweeps.into_iter().flat_map(of).collect()
}

impl OnTheLaw {
    fn once(self, seed: u64) -> Seen {
        let (found, mut seen) = (scaling(&self.sweep(seed), LEAST_DIFFERENCE), Seen::default());
        seen.is(REFUSED, found.is_err());
        let Ok(found) = found else { return seen };
        let mut covered = |figure, range: &Ranged, truth: f64| {
            let is_covered = range.low <= truth && range.high.is_none_or(|high| truth <= high);
            seen.is(format!("{COVERED}: {figure}"), is_covered);
        };
        covered("gamma", &found.gamma, GAMMA);
        covered("alpha", &found.alpha, self.alpha);
        covered("beta", &found.beta, self.beta);
        let most = *CLIENTS.last().unwrap_or(&1) as f64;
        let gain = self.law(2.0 * most) / self.law(most);
        covered("gain of twice the clients", &found.gain_of_twice(most), gain);
        match &found.peak {
            Peak::Within { clients, per_s } => {
                covered("clients of the peak", clients, self.peak());
                covered("throughput of the peak", per_s, self.law(self.peak()));
                let high = clients.high.unwrap_or(f64::INFINITY);
                let half_width = (high - clients.low) / 2.0 / self.peak();
                seen.size("half width of the clients of the peak, %", 100.0 * half_width);
            }
            Peak::Beyond { clients_low } => {
                let is_covered = *clients_low <= self.peak();
                seen.is(format!("{COVERED}: clients of the peak"), is_covered);
            }
        }
        seen
    }

    fn law(self, clients: f64) -> f64 {
        let time = 1.0 + self.alpha * (clients - 1.0) + self.beta * clients * (clients - 1.0);
        GAMMA * clients / time
    }

    /// Infinite without coherency.
    fn peak(self) -> f64 {
        ((1.0 - self.alpha) / self.beta).sqrt()
    }

    /// Half of the variance of single trials is seen within them.
    fn sweep(self, seed: u64) -> Vec<ScalingLevel> {
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

/// A sweep over the clients of servers behind one queue.
#[derive(Clone, Copy)]
struct Queueing {
    servers: usize,
    think_ns: u64,
    trials: usize,
}

fn queues() -> Vec<Case> {
    let queues = [
        ("one server, thinking clients", 1, THINK_NS),
        ("four servers, thinking clients", 4, THINK_NS),
        ("four servers, no think time", 4, 0),
    ];
    let of = |(name, servers, think_ns): (&'static str, usize, u64)| {
        [1, 3].map(|trials| {
            let queue = Queueing { servers, think_ns, trials };
            Case::new(format!("{name}, {trials} of each"), move |seed| queue.once(seed))
        })
    };
    queues.into_iter().flat_map(of).collect()
}

impl Queueing {
    fn once(self, seed: u64) -> anyhow::Result<Seen> {
        let (found, mut seen) = (scaling(&self.sweep(seed)?, LEAST_DIFFERENCE), Seen::default());
        seen.is(REFUSED, found.is_err());
        let farthest = found.ok().map(|found| {
            let off =
                |clients: &usize| (found.per_s(*clients as f64) / self.truth(*clients) - 1.0).abs();
            CLIENTS.iter().map(off).fold(0.0, f64::max)
        });
        seen.is(NEAR, farthest.is_none_or(|farthest| farthest <= TOLERANCE));
        if let Some(farthest) = farthest {
            seen.size("farthest from the truth, %", 100.0 * farthest);
        }
        Ok(seen)
    }

    /// The throughput of a closed queue of servers with exponential services, by the balance of its states: with `n` at
    /// the servers the clients that think come at `(clients - n) / think`, and leave at `min(n, servers) / service`. Source:
    /// Kleinrock, Queueing Systems 1, section 3.8 (the finite population model).
    fn truth(self, clients: usize) -> f64 {
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

    fn sweep(self, seed: u64) -> anyhow::Result<Vec<ScalingLevel>> {
        let mut draws = seed;
        let mut level = |clients: usize| {
            let (mut per_s, mut variance_within) = (Vec::new(), None);
            for _ in 0..self.trials {
                let summary =
                    run(&self.trial(clients), chance(split_mix::next(&mut draws)), None)?.summary;
                per_s.push(summary.transactions_per_s);
                variance_within = summary.within.throughput_variance;
            }
            let variance_within = variance_within.filter(|_| self.trials == 1);
            Ok(ScalingLevel { clients, per_s, variance_within })
        };
        CLIENTS.iter().map(|clients| level(*clients)).collect()
    }

    fn trial(self, clients: usize) -> SimulatedTrial {
        let servers =
            system(self.servers, SERVICE_NS, ServiceDistribution::Exponential, Vec::new());
        let warm_up = Duration::from_secs(2);
        SimulatedTrial {
            time: Duration::from_secs(10),
            interval: Duration::from_millis(500),
            ..SimulatedTrial::closed(servers, clients, self.think_ns, warm_up)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_of_a_closed_queue_is_that_of_its_states() {
        let queue = |servers, think_ns| Queueing { servers, think_ns, trials: 1 };
        // One client: a transaction in each 110 ms. Two at one server: the balance of three states.
        let of_one = queue(1, THINK_NS);
        assert!((of_one.truth(1) - 1.0 / 0.11).abs() < 1e-9);
        let weights = [1.0, 20.0 / 100.0, 20.0 * 10.0 / 1e4];
        let expected = 100.0 * (weights[1] + weights[2]) / (weights[0] + weights[1] + weights[2]);
        assert!((of_one.truth(2) - expected).abs() < 1e-9);
        assert!((of_one.truth(128) - 100.0).abs() < 1e-3);
        assert_eq!((queue(4, 0).truth(3), queue(4, 0).truth(9)), (300.0, 400.0));
    }
}
