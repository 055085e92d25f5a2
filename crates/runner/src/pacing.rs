//! From what a plan says of a trial's load to when its transactions come.

use std::time::Duration;

use engine::{Pacing, Schedule, Segment, Spread};
use plan::{Arrivals, Limit, LoadPlan, OpenLoop, Plan, Rate, Trial, show_duration, show_steps};
use record::OpenRecord;

/// When each client's next turn comes.
pub(crate) fn pacing(plan: &Plan, trial: Trial, warm_up: Duration) -> Pacing {
    match open(plan, trial) {
        None => Pacing::Closed { think_time_ns: nanos(plan.load.think_time) },
        Some((open, rate)) => Pacing::Open {
            schedule: schedule(rate, warm_up),
            spread: match open.arrivals {
                Arrivals::Poisson => Spread::Poisson,
                Arrivals::Constant => Spread::Constant,
            },
            seed: seed(plan.seed, trial),
            backlog_max: open.backlog_max,
        },
    }
}

/// What the record keeps of it.
pub(crate) fn record(plan: &Plan, trial: Trial) -> Option<OpenRecord> {
    let (open, rate) = open(plan, trial)?;
    let rate_per_s = match plan.load.limit {
        Limit::Time(time) => rate.mean_per_s(time),
        // Only a rate that never changes goes with a number of events.
        Limit::Events(_) => rate.first_per_s(),
    };
    let OpenLoop { arrivals, backlog_max, .. } = *open;
    Some(OpenRecord { rate: rate.clone(), rate_per_s, arrivals, backlog_max })
}

/// In a sentence.
pub(crate) fn describe(plan: &Plan, trial: Trial, warm_up: Duration) -> String {
    let LoadPlan { think_time, limit, .. } = &plan.load;
    let mut text = match open(plan, trial) {
        Some((open, rate)) => {
            format!("open loop, {} arrivals, {}", open.arrivals.name(), show_steps(rate))
        }
        None if think_time.is_zero() => "closed loop".to_owned(),
        None => format!("closed loop with {} of think time", show_duration(*think_time)),
    };
    match limit {
        Limit::Time(time) => text.push_str(&format!(", {}", show_duration(*time))),
        Limit::Events(events) => text.push_str(&format!(", {events} transactions")),
    }
    if !warm_up.is_zero() {
        text.push_str(&format!(" after {} of warm-up", show_duration(warm_up)));
    }
    text
}

fn open(plan: &Plan, trial: Trial) -> Option<(&OpenLoop, &Rate)> {
    plan.load.open.as_ref().zip(plan.rate(trial))
}

/// The first rate during the warm-up, and from then on the steps.
fn schedule(rate: &Rate, warm_up: Duration) -> Schedule {
    let first = rate.first_per_s();
    let warm_up = Segment { length_ns: nanos(warm_up), from_per_s: first, to_per_s: first };
    let steps = rate.steps().iter().map(|step| Segment {
        length_ns: nanos(step.length),
        from_per_s: step.from_per_s,
        to_per_s: step.to_per_s,
    });
    Schedule::of(std::iter::once(warm_up).chain(steps).collect())
}

/// Each repetition has arrivals of its own; every system meets the same ones.
/// Source: the mixing of SplitMix64, Steele, Lea, Flood, 2014.
fn seed(seed: u64, trial: Trial) -> u64 {
    let parts = [
        trial.workload as u64,
        trial.clients as u64,
        trial.rate.unwrap_or_default() as u64,
        u64::from(trial.repetition),
    ];
    parts.into_iter().fold(seed, |mixed, part| {
        let mut mixed = (mixed ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn plan(load: &str) -> Plan {
        let text = format!("system = \"simulated\"\nworkload = \"simulated\"\n[load]\n{load}\n");
        let folder = std::path::PathBuf::new();
        Plan::parse(plan::Source { name: "x".to_owned(), text, folder }).unwrap()
    }

    #[test]
    fn the_first_rate_holds_during_the_warm_up() {
        let plan = plan(
            "warm_up = \"4s\"\narrivals = \"constant\"\n\
             steps = [{ for = \"10s\", from = 100, to = 300 }, { for = \"5s\", rate = 50 }]",
        );
        let trial = plan.trials()[0];
        let Pacing::Open { schedule, spread, backlog_max, .. } =
            pacing(&plan, trial, plan.load.warm_up)
        else {
            panic!("an open loop");
        };
        assert_eq!((spread, backlog_max), (Spread::Constant, 100_000));
        let rates = [0, 3, 4, 9, 15, 99].map(|at| schedule.rate_per_s(at * S));
        assert_eq!(rates, [100.0, 100.0, 100.0, 200.0, 50.0, 50.0]);
        let offered = record(&plan, trial).unwrap().rate_per_s;
        assert!((offered - 2250.0 / 15.0).abs() < 1e-9, "{offered}");
        assert_eq!(
            describe(&plan, trial, plan.load.warm_up),
            "open loop, constant arrivals, 100 to 300/s for 10s, then 50/s for 5s, 15s after 4s of warm-up"
        );
    }

    #[test]
    fn repetitions_differ_and_systems_do_not() {
        let plan = plan("rate = [10, 20]");
        let first = plan.trials()[0];
        let with = |change: &dyn Fn(&mut Trial)| {
            let mut trial = first;
            change(&mut trial);
            seed(1, trial)
        };
        assert_eq!(with(&|trial| trial.system = 3), seed(1, first));
        assert_ne!(with(&|trial| trial.repetition = 1), seed(1, first));
        assert_ne!(with(&|trial| trial.rate = Some(1)), seed(1, first));
        assert_ne!(seed(2, first), seed(1, first));
    }
}
