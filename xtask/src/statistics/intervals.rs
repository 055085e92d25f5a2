//! The 95 % intervals of single trials: how often they have the truth, on series of figures whose mean is known, and on
//! queues whose response times are known.

use std::time::Duration;

use analysis::{WithinInterval, interval_of_mean};

use super::normal;
use super::simulation::{Case, Goal, Seen, Study, at_least};
use super::trial::{SimulatedTrial, chance, exponential, run};

/// The server's rate, a second.
const SERVER_PER_S: f64 = 100.0;
const COVERED: &str = "the 95 % interval has the truth";
const GOALS: &[Goal] = &[at_least(COVERED, 93.0)];

pub(super) static SERIES: Study =
    Study { name: "series", title: "Intervals of series", goals: GOALS, cases: series };
pub(super) static QUEUES: Study =
    Study { name: "queues", title: "Intervals within a trial", goals: GOALS, cases: queues };

/// Several lengths and correlations of neighbours.
fn series() -> Vec<Case> {
    let of = |correlation| {
        [8, 10, 20, 60, 300].map(|count| {
            let name = format!("{count} intervals, correlation of neighbours {correlation}");
            Case::new(name, move |seed| {
                let mut seen = Seen::default();
                add(
                    &mut seen,
                    "",
                    interval_of_mean(&autoregression(correlation, count, seed)),
                    100.0,
                );
                Ok(seen)
            })
        })
    };
    [0.0, 0.5, 0.8, 0.9].into_iter().flat_map(of).collect()
}

/// A first-order autoregression with mean 100 and deviation 5.
fn autoregression(correlation: f64, count: usize, seed: u64) -> Vec<f64> {
    let mut draws = seed;
    let mut value = normal(&mut draws);
    let next = |_| {
        let seen = value;
        let noise = (1.0 - correlation.powi(2)).sqrt() * normal(&mut draws);
        value = correlation * value + noise;
        100.0 + 5.0 * seen
    };
    (0..count).map(next).collect()
}

/// Light and heavy load, for a short and a long time.
fn queues() -> Vec<Case> {
    let of = |part| {
        [10, 60, 300].map(|seconds| {
            let name = format!("{seconds} s at {part} of the capacity");
            Case::new(name, move |seed| Queue { part, seconds }.intervals(seed))
        })
    };
    [0.5, 0.8, 0.9].into_iter().flat_map(of).collect()
}

/// Adds whether an interval has the truth, and its half width in per cent of the truth; nothing without an interval.
fn add(seen: &mut Seen, figure: &str, interval: Option<WithinInterval>, truth: f64) {
    let Some(interval) = interval else { return };
    let high = interval.high.unwrap_or(f64::INFINITY);
    seen.is(format!("{COVERED}{figure}"), has(&interval, truth));
    seen.size(format!("half width, %{figure}"), 100.0 * (high - interval.low) / 2.0 / truth);
}

/// Whether an interval has the truth.
pub(super) fn has(interval: &WithinInterval, truth: f64) -> bool {
    interval.low <= truth && interval.high.is_none_or(|high| truth <= high)
}

/// One server with exponential services and Poisson arrivals (M/M/1).
pub(super) struct Queue {
    /// Arrivals as a part of the server's rate.
    pub(super) part: f64,
    pub(super) seconds: u64,
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

    fn intervals(&self, seed: u64) -> anyhow::Result<Seen> {
        let within = run(&self.trial(seed), chance(seed), None)?.summary.within;
        let mut seen = Seen::default();
        add(&mut seen, ", throughput", within.transactions_per_s, self.rate_per_s());
        add(&mut seen, ", mean", within.mean_ns, self.mean_ns());
        for percent in [50.0, 95.0, 99.0] {
            let truth = self.percentile_ns(percent);
            add(&mut seen, &format!(", p{percent}"), within.percentile_ns(percent), truth);
        }
        Ok(seen)
    }

    /// A trial on the server.
    pub(super) fn trial(&self, seed: u64) -> SimulatedTrial {
        let server = exponential((1e9 / SERVER_PER_S) as u64);
        // Many times as long as the queue remembers.
        let warm_up = Duration::from_secs(30);
        let open = SimulatedTrial::open(server, self.rate_per_s(), seed, warm_up);
        SimulatedTrial { time: Duration::from_secs(self.seconds), ..open }
    }
}
