//! The kinds of noise of the simulated system, and trials under them.

use std::time::Duration;

use engine::SimulatedChance;
use measure::nanos;
use plan::{Noise, ServiceDistribution, split_mix};

use super::trial::{SimulatedTrial, run, system};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// The measured time of a trial.
const TIME: Duration = Duration::from_secs(1);
/// From the start of one trial to that of the next: a variant is started and filled before.
const PERIOD: Duration = Duration::from_secs(2);

/// A kind of noise.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    noise: Vec<Noise>,
    distribution: ServiceDistribution,
}

impl Kind {
    /// Every kind.
    pub(super) fn all() -> Vec<Self> {
        let lognormal = ServiceDistribution::Lognormal { variation: 0.5 };
        let slow_noise = |time_ns| vec![Noise::Autocorrelated { deviation: 0.05, time_ns }];
        let states = Noise::TwoStates { slow: 1.2, fast_ns: 5 * S, slow_ns: 5 * S };
        let pauses = Noise::Pauses { every_ns: S, length_ns: 20 * MS, shape: 1.5 };
        let drift = Noise::Drift { change: 0.2, over_ns: 24 * S };
        let kinds = [
            ("none, constant services", vec![], ServiceDistribution::Constant),
            ("none", vec![], lognormal),
            ("heavy-tailed services", vec![], ServiceDistribution::Pareto { variation: 3.0 }),
            ("autocorrelated, 0.1 s", slow_noise(S / 10), lognormal),
            ("autocorrelated, 10 s", slow_noise(10 * S), lognormal),
            ("two states, 5 s each", vec![states], lognormal),
            ("pauses, heavy-tailed", vec![pauses], lognormal),
            ("drift of 20 %", vec![drift], lognormal),
        ];
        kinds.map(|(name, noise, distribution)| Self { name, noise, distribution }).into()
    }

    /// Whether all services take equally long.
    pub(super) fn is_constant(&self) -> bool {
        self.distribution == ServiceDistribution::Constant
    }

    /// Transactions a second of one trial on the machine with this seed, on which so many trials ran before.
    ///
    /// # Errors
    /// When the trial could not run.
    pub(super) fn throughput(&self, seed: u64, before: u64) -> anyhow::Result<f64> {
        let system = system(2, MS, self.distribution, self.noise.clone());
        let closed = SimulatedTrial::closed(system, 2, 0, Duration::ZERO);
        let trial = SimulatedTrial { time: TIME, interval: TIME / 5, ..closed };
        let chance = SimulatedChance {
            services: split_mix::mix(seed ^ split_mix::mix(before + 1)),
            noise: seed,
            origin_ns: before * nanos(PERIOD),
            up_ns: 0,
        };
        Ok(run(&trial, chance, None)?.summary.transactions_per_s)
    }
}
