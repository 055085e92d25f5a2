//! Measuring until a figure is precise, on queues whose figures are known: how often the figure is as near to the truth
//! as was asked for, and how often its interval has the truth.

use analysis::{Summary, WithinInterval};
use anyhow::Context;
use engine::SimulatedChance;
use measure::PreciseFigure;
use plan::LoadPlan;

use super::goals::{Goals, Seen};
use super::intervals::Queue;
use super::percent;
use super::share::Share;
use super::table::{Case, repeated};
use super::trial::{Decided, decided, load_of};

/// The longest window, s.
const LIMIT_S: u64 = 600;

/// A queue whose response times and throughput are known, and the precision that is asked for.
pub(super) struct Precise {
    /// Arrivals as a part of the server's rate.
    part: f64,
    until: &'static str,
}

/// Windows, and what is known at their ends.
#[derive(Debug, Default)]
pub(super) struct Endings {
    /// Those that ended before the limit.
    reached: Share,
    /// All but those that ended before the limit with a figure that is farther from the truth than was asked for.
    kept: Share,
    /// 95 % intervals at the end that have the truth.
    covered: Share,
    seconds: f64,
}

/// The end of one window.
struct Ending {
    is_reached: bool,
    is_near: bool,
    /// `None` without an interval.
    is_covered: Option<bool>,
    seconds: f64,
}

impl Precise {
    fn once(&self, load: &LoadPlan, seed: u64) -> anyhow::Result<Ending> {
        let queue = Queue { part: self.part, seconds: LIMIT_S };
        let chance = SimulatedChance { services: seed, noise: seed, origin_ns: 0, up_ns: 0 };
        let Decided { ends, summary } = decided(&queue.trial(seed), chance, load)?;
        let precision = ends.precision.context("no precision was asked for")?;
        let (value, interval, truth) = of_figure(precision.figure, &summary, &queue);
        let covers =
            |it: WithinInterval| it.low <= truth && it.high.is_none_or(|high| truth <= high);
        Ok(Ending {
            is_reached: precision.is_reached(),
            is_near: (value / truth - 1.0).abs() <= precision.within,
            is_covered: interval.map(covers),
            seconds: summary.seconds,
        })
    }

    fn name(&self) -> String {
        format!("{} at {} of the capacity", self.until, self.part)
    }
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

impl Case for Precise {
    const TITLE: &'static str = "Measuring until a figure is precise";
    const HEAD: &'static str = "\
| part of the capacity | until | reached % | not reached, or as near to the truth % \
| 95 % interval at the end has the truth % | measured for, mean s |
|---|---|---|---|---|---|";
    type Found = Endings;

    fn all() -> Vec<Self> {
        let figures =
            ["throughput within 3%", "mean within 10%", "p50 within 10%", "p99 within 15%"];
        let of = |part| figures.map(|until| Self { part, until });
        [0.5, 0.8].into_iter().flat_map(of).collect()
    }

    fn found(&self, repetitions: u64, seed: u64) -> anyhow::Result<Endings> {
        let load = load_of(&format!("until = \"{}\"\ntime = \"{LIMIT_S}s\"", self.until))?;
        let mut all = Endings::default();
        for ending in repeated(repetitions, seed, |seed| self.once(&load, seed))? {
            all.reached.add(ending.is_reached);
            all.kept.add(ending.is_near || !ending.is_reached);
            if let Some(is_covered) = ending.is_covered {
                all.covered.add(is_covered);
            }
            all.seconds += ending.seconds;
        }
        Ok(all)
    }

    fn row(&self, found: &Endings) -> String {
        let share = |share: Share| percent(share.count, share.of);
        format!(
            "| {} | {} | {} | {} | {} | {:.0} |",
            self.part,
            self.until,
            share(found.reached),
            share(found.kept),
            share(found.covered),
            found.seconds / found.reached.of as f64,
        )
    }

    fn goals(found: &[(Self, Endings)], goals: &mut Goals) {
        let of = |share: fn(&Endings) -> Share| -> Seen {
            let seen = found.iter().map(|(case, found)| (case.name(), share(found)));
            seen.filter(|(_, share)| share.of > 0).collect()
        };
        goals.at_least("measuring until precise keeps its promise", 93.0, &of(|it| it.kept));
        let covered = of(|it| it.covered);
        goals.at_least("the interval at the end of `until` has the truth", 93.0, &covered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throughput_of_half_a_queue_is_as_near_to_the_truth_as_was_asked_for() {
        let case = Precise { part: 0.5, until: "throughput within 10%" };
        let found = case.found(24, 1).unwrap();
        assert_eq!(found.reached.count, 24, "{found:?}");
        assert!(found.kept.count >= 22 && found.covered.count >= 20, "{found:?}");
        // Ten looks and more are far from the limit.
        assert!(found.seconds / 24.0 < 300.0, "{found:?}");
    }
}
