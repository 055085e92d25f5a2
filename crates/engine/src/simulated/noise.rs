//! Noise of the simulated machine over time, from a seed: the same for every load that runs at the same time.

use std::f64::consts::TAU;

use net::Nanos;
use plan::Noise;

use super::draws::Draws;

/// Steps of an autoregressive process in the time in which its autocorrelation falls to 1/e.
const STEPS: f64 = 8.0;
/// A drift never makes services faster than this part of their time.
const DRIFT_MIN: f64 = 0.01;
/// The longest pause, in mean lengths: a Pareto distribution has no bound.
const PAUSE_MAX: f64 = 1_000.0;

/// The noise of a machine from some time of a run on. Times are asked for in ascending order.
#[derive(Clone, Debug)]
pub(super) struct MachineNoise {
    tracks: Vec<Track>,
    /// Where the clock of the load starts in the run, ns.
    origin_ns: Nanos,
    /// How long the system has been up then, ns.
    up_ns: Nanos,
    /// Pauses that have not ended yet: start and end in the run, ns.
    pauses: Vec<(Nanos, Nanos)>,
}

/// One source of noise, and its state until a time.
#[derive(Clone, Debug)]
struct Track {
    noise: Noise,
    draws: Draws,
    /// The end of the state in the run, ns; of pauses, the end of the last one that was drawn.
    until_ns: Nanos,
    /// The normal value of an autoregressive process; 0 or 1 for the fast or the slow state.
    state: f64,
}

impl MachineNoise {
    /// The noise of a run with `seed`, for a load that starts at `origin_ns` of the run, on a system that is up since the
    /// run began.
    pub(super) fn new(noise: &[Noise], seed: u64, origin_ns: Nanos) -> Self {
        let track = |(noise, purpose)| Track::new(noise, Draws::new(seed, purpose));
        let tracks = noise.iter().copied().zip(1..).map(track).collect();
        Self { tracks, origin_ns, up_ns: origin_ns, pauses: Vec::new() }
    }

    /// The same for a system that has been up for so long when the load starts, ns.
    #[must_use]
    pub(super) fn up_for(self, up_ns: Nanos) -> Self {
        Self { up_ns, ..self }
    }

    /// The end of a service of `service` ns that starts at `start`, both on the clock of the load. The factor at the
    /// start holds until the end.
    pub(super) fn served(&mut self, start: Nanos, service: Nanos) -> Nanos {
        if self.tracks.is_empty() {
            return start + service;
        }
        let start = self.origin_ns + start;
        let mut done = start + (service as f64 * self.factor(start)).round() as Nanos;
        self.pauses.retain(|(_, end)| *end > start);
        // A pause lengthens the service, which may then reach the next one.
        let (mut next, mut continued) = (0, start);
        loop {
            self.draw_pauses(done);
            let Some((at, end)) = self.pauses.get(next).filter(|(at, _)| *at < done) else { break };
            done += end.saturating_sub(continued.max(*at));
            continued = continued.max(*end);
            next += 1;
        }
        done - self.origin_ns
    }

    /// The factor of service times at a time of the run.
    fn factor(&mut self, at: Nanos) -> f64 {
        let up_ns = (at - self.origin_ns).saturating_add(self.up_ns);
        self.tracks.iter_mut().map(|track| track.factor(at, up_ns)).product()
    }

    /// Draws the pauses that start before a time of the run, and keeps them in order.
    fn draw_pauses(&mut self, before: Nanos) {
        let known = self.pauses.len();
        for track in &mut self.tracks {
            while let Some(pause) = track.next_pause(before) {
                self.pauses.push(pause);
            }
        }
        if self.pauses.len() > known {
            self.pauses.sort_unstable();
        }
    }
}

impl Track {
    fn new(noise: Noise, mut draws: Draws) -> Self {
        let state = match noise {
            Noise::Autocorrelated { .. } => draws.normal(),
            Noise::TwoStates { fast_ns, slow_ns, .. } => {
                let slow = slow_ns as f64 / (fast_ns + slow_ns).max(1) as f64;
                f64::from(u8::from(draws.uniform() < slow))
            }
            Noise::Pauses { .. }
            | Noise::Drift { .. }
            | Noise::Warm { .. }
            | Noise::Wave { .. } => 0.0,
        };
        let mut track = Self { noise, draws, until_ns: 0, state };
        track.until_ns = match noise {
            Noise::Pauses { .. } => 0,
            _ => track.length_ns(),
        };
        track
    }

    fn length_ns(&mut self) -> Nanos {
        let length = match self.noise {
            Noise::Autocorrelated { time_ns, .. } => time_ns as f64 / STEPS,
            Noise::TwoStates { fast_ns, slow_ns, .. } => {
                let mean = if self.state > 0.0 { slow_ns } else { fast_ns };
                mean as f64 * self.draws.exponential()
            }
            Noise::Pauses { .. }
            | Noise::Drift { .. }
            | Noise::Warm { .. }
            | Noise::Wave { .. } => {
                return Nanos::MAX;
            }
        };
        (length as Nanos).max(1)
    }

    /// The factor at a time of the run, when the system has been up for so long.
    fn factor(&mut self, at: Nanos, up_ns: Nanos) -> f64 {
        while matches!(self.noise, Noise::Autocorrelated { .. } | Noise::TwoStates { .. })
            && self.until_ns <= at
        {
            self.state = match self.noise {
                Noise::Autocorrelated { .. } => {
                    let kept = (-1.0 / STEPS).exp();
                    kept * self.state + (1.0 - kept * kept).sqrt() * self.draws.normal()
                }
                _ => 1.0 - self.state,
            };
            self.until_ns = self.until_ns.saturating_add(self.length_ns());
        }
        match self.noise {
            Noise::Autocorrelated { deviation, .. } => {
                (deviation * self.state - deviation * deviation / 2.0).exp()
            }
            Noise::TwoStates { slow, .. } => 1.0 + self.state * (slow - 1.0),
            Noise::Drift { change, over_ns } => {
                (1.0 + change * at as f64 / over_ns.max(1) as f64).max(DRIFT_MIN)
            }
            Noise::Warm { slow, slow_ns, falling_ns } => {
                let fallen = up_ns.saturating_sub(slow_ns) as f64 / falling_ns.max(1) as f64;
                1.0 + (slow - 1.0) * (1.0 - fallen.min(1.0))
            }
            Noise::Wave { swing, period_ns } => {
                let periods = (at % period_ns.max(1)) as f64 / period_ns.max(1) as f64;
                1.0 + swing * (TAU * periods).sin()
            }
            Noise::Pauses { .. } => 1.0,
        }
    }

    /// The next pause, when it starts before a time.
    fn next_pause(&mut self, before: Nanos) -> Option<(Nanos, Nanos)> {
        let Noise::Pauses { every_ns, length_ns, shape } = self.noise else { return None };
        let mut draws = self.draws;
        let gap = every_ns.saturating_sub(length_ns) as f64 * draws.exponential();
        let length = length_ns as f64 * draws.pareto(shape).min(PAUSE_MAX);
        let start = self.until_ns.saturating_add((gap as Nanos).max(1));
        if start >= before {
            return None;
        }
        self.draws = draws;
        self.until_ns = start.saturating_add((length as Nanos).max(1));
        Some((start, self.until_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;
    const S: Nanos = 1_000 * MS;

    /// The factors of a service of 1 ms, one each `step` over `count` steps.
    fn factors(noise: Noise, step: Nanos, count: u64) -> Vec<f64> {
        let mut machine = MachineNoise::new(&[noise], 7, 0);
        let factor = |at| (machine.served(at * step, MS) - at * step) as f64 / MS as f64;
        (0..count).map(factor).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn autocorrelated_noise_has_its_deviation_and_correlation_time() {
        let noise = Noise::Autocorrelated { deviation: 0.2, time_ns: S };
        let logs: Vec<f64> = factors(noise, S, 40_000).iter().map(|factor| factor.ln()).collect();
        let centre = mean(&logs);
        let product = |lag: usize| {
            let pairs = logs.iter().zip(&logs[lag..]);
            mean(&pairs.map(|(one, other)| (one - centre) * (other - centre)).collect::<Vec<_>>())
        };
        assert!((centre + 0.02).abs() < 0.005, "{centre}");
        assert!((product(0).sqrt() - 0.2).abs() < 0.005, "{}", product(0).sqrt());
        let correlation = product(1) / product(0);
        assert!((correlation - (-1.0_f64).exp()).abs() < 0.03, "{correlation}");
    }

    #[test]
    fn two_states_share_the_time_as_their_lengths() {
        let noise = Noise::TwoStates { slow: 3.0, fast_ns: 3 * S, slow_ns: S };
        let seen = factors(noise, 100 * MS, 200_000);
        assert!(seen.iter().all(|factor| *factor == 1.0 || *factor == 3.0));
        // A quarter of the time is slow.
        assert!((mean(&seen) - 1.5).abs() < 0.05, "{}", mean(&seen));
    }

    #[test]
    fn a_drift_follows_a_straight_line() {
        let seen = factors(Noise::Drift { change: 0.5, over_ns: 100 * S }, S, 101);
        assert_eq!((seen[0], seen[50], seen[100]), (1.0, 1.25, 1.5));
    }

    #[test]
    fn a_system_gets_warm_in_a_step_or_along_a_line() {
        let seen = |falling_ns| {
            let noise = Noise::Warm { slow: 3.0, slow_ns: 10 * S, falling_ns };
            let seen = factors(noise, S, 21);
            [0, 9, 10, 15, 20].map(|at| seen[at])
        };
        assert_eq!(seen(10 * S), [3.0, 3.0, 3.0, 2.0, 1.0]);
        let step = factors(Noise::Warm { slow: 2.0, slow_ns: 10 * S, falling_ns: 0 }, S / 2, 22);
        assert_eq!([step[19], step[21]], [2.0, 1.0]);
    }

    #[test]
    fn a_system_is_cold_again_after_its_start_and_warm_after_a_long_time() {
        let noise = [Noise::Warm { slow: 3.0, slow_ns: 10 * S, falling_ns: 0 }];
        let service = |up_ns| MachineNoise::new(&noise, 1, 60 * S).up_for(up_ns).served(2 * S, MS);
        assert_eq!(service(0), 2 * S + 3 * MS);
        assert_eq!(service(9 * S), 2 * S + MS);
        assert_eq!(service(Nanos::MAX), 2 * S + MS);
        assert_eq!(MachineNoise::new(&noise, 1, 60 * S).served(0, MS), MS);
    }

    #[test]
    fn a_wave_has_its_swing_and_its_period() {
        let seen = factors(Noise::Wave { swing: 0.5, period_ns: 4 * S }, S, 9);
        assert_eq!(seen, [1.0, 1.5, 1.0, 0.5, 1.0, 1.5, 1.0, 0.5, 1.0]);
    }

    #[test]
    fn pauses_take_their_share_of_the_time() {
        let noise = Noise::Pauses { every_ns: S, length_ns: 100 * MS, shape: 2.5 };
        let mut machine = MachineNoise::new(&[noise], 3, 0);
        // Services one after the other, for 20,000 s of work.
        let end = (0..2_000_000).fold(0, |at, _| machine.served(at, 10 * MS));
        let paused = 1.0 - 20_000.0 * S as f64 / end as f64;
        assert!((paused - 0.1).abs() < 0.01, "{paused}");
    }

    #[test]
    fn noise_goes_on_from_trial_to_trial() {
        let noise = [
            Noise::Autocorrelated { deviation: 0.3, time_ns: 10 * S },
            Noise::Pauses { every_ns: 5 * S, length_ns: 500 * MS, shape: 1.5 },
        ];
        let later = MachineNoise::new(&noise, 1, 30 * S).served(2 * S, MS);
        assert_eq!(MachineNoise::new(&noise, 1, 0).served(32 * S, MS), later + 30 * S);
    }
}
