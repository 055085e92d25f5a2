//! The kinds of noise of the simulated system, and trials under them.

use std::time::Duration;

use engine::{Pacing, SimulatedChance};
use measure::nanos;
use plan::{Noise, ServiceDistribution, SimulatedSystem, split_mix};

use super::trial::{SimulatedTrial, run};

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

/// A place in the noise of one machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The seed of the machine's noise and of the services.
    pub(super) seed: u64,
    /// How many trials ran before.
    pub(super) trials: u64,
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

    /// Transactions a second of one trial of a system that is `factor` times as fast as the baseline.
    ///
    /// # Errors
    /// When the trial could not run.
    pub(super) fn throughput(&self, factor: f64, place: Place) -> anyhow::Result<f64> {
        let system = SimulatedSystem {
            servers: 2,
            operations: 1,
            service_times_ns: vec![(MS as f64 / factor).round() as u64],
            distribution: self.distribution,
            stalls: Vec::new(),
            noise: self.noise.clone(),
        };
        let trial = SimulatedTrial {
            system,
            clients: 2,
            pacing: Pacing::Closed { think_time_ns: 0 },
            rate_per_s: None,
            warm_up: Duration::ZERO,
            time: TIME,
            interval: TIME / 5,
        };
        let chance = SimulatedChance {
            services: split_mix::mix(place.seed ^ split_mix::mix(place.trials + 1)),
            noise: place.seed,
            origin_ns: place.trials * nanos(PERIOD),
            up_ns: 0,
        };
        Ok(run(&trial, chance)?.0.transactions_per_s)
    }
}

/// The seed of the comparison or of the trial with this number.
pub(super) fn seed_of(seed: u64, number: u64) -> u64 {
    split_mix::mix(seed.wrapping_add(split_mix::mix(number + 1)))
}
