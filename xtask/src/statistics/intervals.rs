//! The 95 % intervals of single trials: how often they have the truth and how wide they are, on series of figures whose
//! mean is known, and on queues whose response times are known; there also where the measuring ends when one is precise.

use analysis::interval_of_mean;
use anyhow::Context;
use serde_json::Value;

use super::normal;
use super::simulated::{exponential, has, interval, open, report_of};
use super::simulation::{Case, Goal, Seen, Study};

const COVERED: &str = "the 95 % interval has the truth";
const KEPT: &str = "not reached, or as near to the truth as was asked for";
const GOALS: &[Goal] = &[(COVERED, 93.0..=100.0)];

pub(super) static SERIES: Study =
    Study { name: "series", title: "Intervals of series", goals: GOALS, cases: series };
pub(super) static QUEUES: Study =
    Study { name: "queues", title: "Intervals within a trial", goals: GOALS, cases: queues };
pub(super) static UNTIL: Study = Study {
    name: "until",
    title: "Measuring until a figure is precise",
    goals: const { &[(KEPT, 93.0..=100.0), (COVERED, 93.0..=100.0)] },
    cases: until,
};

/// Several lengths and correlations of neighbours.
fn series() -> Vec<Case> {
    let of = |correlation| {
        [8, 10, 20, 60, 300].map(|count| {
            let name = format!("{count} intervals, correlation of neighbours {correlation}");
            Case::new(name, move |seed| {
                let found = interval_of_mean(&autoregression(correlation, count, seed));
                let ends = found.map(|it| [it.low, it.high.unwrap_or(f64::INFINITY)]);
                let mut seen = Seen::default();
                add(&mut seen, "", ends, 100.0);
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

/// Adds whether there is an interval, whether it has the truth and both ends, and its width.
fn add(seen: &mut Seen, figure: &str, interval: Option<[f64; 2]>, truth: f64) {
    seen.is(format!("has an interval{figure}"), interval.is_some());
    let Some([low, high]) = interval else { return };
    seen.is(format!("{COVERED}{figure}"), has([low, high], truth));
    seen.is(format!("without an end{figure}"), low <= 0.0 || high == f64::INFINITY);
    seen.size(format!("width, % of the truth{figure}"), 100.0 * (high - low) / truth);
}

/// One server with exponential services and Poisson arrivals (M/M/1).
#[derive(Clone, Copy)]
struct Queue {
    server_per_s: f64,
    /// Arrivals as a part of the server's rate.
    part: f64,
}

/// The figures of a trial as `until` names them, with their places in its report.
const FIGURES: [(&str, &str, &str); 5] = [
    ("throughput", "/transactions_per_s", "transactions_per_s"),
    ("mean", "/latency/mean_ns", "mean_ns"),
    ("p50", "/latency/percentiles/p50_ns", "p50_ns"),
    ("p95", "/latency/percentiles/p95_ns", "p95_ns"),
    ("p99", "/latency/percentiles/p99_ns", "p99_ns"),
];

/// Light and heavy load, few and many transactions, for a short and a long time; ten intervals or more.
fn queues() -> Vec<Case> {
    let queues = [(2_000.0, 0.5), (2_000.0, 0.8), (100.0, 0.5), (100.0, 0.8), (100.0, 0.9)];
    let of = |(server_per_s, part)| {
        [10, 2, 60].map(|seconds| {
            let queue = Queue { server_per_s, part };
            let name = format!("{seconds} s at {part} of {server_per_s} a second");
            Case::new(name, move |seed| {
                let interval_ms = if seconds == 2 { 200 } else { 1_000 };
                let load = format!("time = \"{seconds}s\"\ninterval = \"{interval_ms}ms\"");
                let trial = queue.trial(&load, seed)?;
                let mut seen = Seen::default();
                for (figure, _, key) in FIGURES {
                    let interval = interval(&trial["confidence_intervals"][key], ["low", "high"]);
                    add(&mut seen, &format!(", {figure}"), interval, queue.truth(figure));
                }
                Ok(seen)
            })
        })
    };
    queues.into_iter().flat_map(of).collect()
}

/// With a limit of 600 s.
fn until() -> Vec<Case> {
    let asked = [("throughput", 0.03), ("mean", 0.1), ("p50", 0.1), ("p99", 0.15)];
    let of = |part| {
        let queue = Queue { server_per_s: 100.0, part };
        asked.map(|(figure, within)| {
            let percent = 100.0 * within;
            let name = format!("{figure} within {percent:.0} % at {part} of the capacity");
            Case::new(name, move |seed| queue.until(figure, within, seed))
        })
    };
    [0.5, 0.8].into_iter().flat_map(of).collect()
}

impl Queue {
    fn until(self, figure: &str, within: f64, seed: u64) -> anyhow::Result<Seen> {
        let load = format!("until = \"{figure} within {:.0}%\"\ntime = \"600s\"", 100.0 * within);
        let trial = self.trial(&load, seed)?;
        let ended = &trial["decided_ends"]["precision"]["is_reached"];
        let is_reached = ended.as_bool().context("no precision was asked for")?;
        let known = FIGURES.into_iter().find(|(name, ..)| *name == figure);
        let (_, place, key) = known.context("an unknown figure")?;
        let value = trial.pointer(place).and_then(Value::as_f64).context("no figure")?;
        let truth = self.truth(figure);
        let mut seen = Seen::default();
        seen.is("reached", is_reached);
        seen.is(KEPT, (value / truth - 1.0).abs() <= within || !is_reached);
        if let Some(ends) = interval(&trial["confidence_intervals"][key], ["low", "high"]) {
            seen.is(COVERED, has(ends, truth));
        }
        seen.size("measured for, s", trial["seconds"].as_f64().context("no length")?);
        Ok(seen)
    }

    /// The value of a figure over a time without end. Source: response times are exponential, with the rate that the
    /// arrivals leave of the server's (Kleinrock, Queueing Systems 1, section 5.7 on M/M/1).
    fn truth(self, figure: &str) -> f64 {
        let rate_per_s = self.part * self.server_per_s;
        let mean_ns = 1e9 / (self.server_per_s - rate_per_s);
        match figure.strip_prefix('p').and_then(|percent| percent.parse::<f64>().ok()) {
            Some(percent) => -mean_ns * (1.0 - percent / 100.0).ln(),
            None if figure == "mean" => mean_ns,
            None => rate_per_s,
        }
    }

    /// The report of a trial, after a warm-up that is many times as long as the queue remembers.
    fn trial(self, load: &str, seed: u64) -> anyhow::Result<Value> {
        let warm_up_s = (3_000.0 / self.server_per_s).ceil() as u64;
        let server = exponential(1e9 / self.server_per_s);
        let load = open(self.part * self.server_per_s, warm_up_s) + load;
        Ok(report_of(&format!("{server}{load}\n"), seed)?["trials"][0].take())
    }
}
