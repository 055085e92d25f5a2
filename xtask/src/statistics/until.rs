//! Measuring until a figure is precise, on queues whose figures are known: how often the figure is as near to the truth
//! as was asked for, and how often its interval has the truth.

use analysis::{Summary, WithinInterval};
use anyhow::Context;
use measure::PreciseFigure;

use super::intervals::{Queue, has};
use super::simulation::{Case, Seen, Study, at_least};
use super::trial::{Tried, chance, load_of, run};

/// The longest window, s.
const LIMIT_S: u64 = 600;
const KEPT: &str = "not reached, or as near to the truth as was asked for";
const COVERED: &str = "the 95 % interval at the end has the truth";

pub(super) static STUDY: Study = Study {
    name: "until",
    title: "Measuring until a figure is precise",
    goals: const { &[at_least(KEPT, 93.0), at_least(COVERED, 93.0)] },
    cases,
};

fn cases() -> Vec<Case> {
    let of = |part| {
        ["throughput within 3%", "mean within 10%", "p50 within 10%", "p99 within 15%"].map(
            |until| {
                let name = format!("{until} at {part} of the capacity");
                Case::new(name, move |seed| once(part, until, seed))
            },
        )
    };
    [0.5, 0.8].into_iter().flat_map(of).collect()
}

/// A window on a queue, whose arrivals are this part of the server's rate.
fn once(part: f64, until: &str, seed: u64) -> anyhow::Result<Seen> {
    let load = load_of(&format!("until = \"{until}\"\ntime = \"{LIMIT_S}s\""))?;
    let queue = Queue { part, seconds: LIMIT_S };
    let Tried { ends, summary, .. } = run(&queue.trial(seed), chance(seed), Some(&load))?;
    let precision = ends.precision.context("no precision was asked for")?;
    let (value, interval, truth) = of_figure(precision.figure, &summary, &queue);
    let is_near = (value / truth - 1.0).abs() <= precision.within;
    let mut seen = Seen::default();
    seen.is("reached", precision.is_reached());
    seen.is(KEPT, is_near || !precision.is_reached());
    if let Some(interval) = interval {
        seen.is(COVERED, has(&interval, truth));
    }
    seen.size("measured for, s", summary.seconds);
    Ok(seen)
}

/// The value of a figure, its 95 % interval and the truth.
fn of_figure(
    figure: PreciseFigure,
    summary: &Summary,
    queue: &Queue,
) -> (f64, Option<WithinInterval>, f64) {
    let within = &summary.within;
    match figure {
        PreciseFigure::Throughput => {
            (summary.transactions_per_s, within.transactions_per_s, queue.rate_per_s())
        }
        PreciseFigure::Mean => (summary.latency.mean_ns, within.mean_ns, queue.mean_ns()),
        PreciseFigure::Percentile(percent) => (
            summary.latency.percentile(percent).0,
            within.percentile_ns(percent),
            queue.percentile_ns(percent),
        ),
    }
}
