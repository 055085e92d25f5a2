//! The arrival times of transactions, from the load that a plan sets for a trial.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{Pacing, Schedule, SimulatedChance};
use measure::{Nanos, nanos};
use plan::{
    Limit, LoadPlan, OpenLoop, Plan, Rate, Trial, WarmUp, show_duration, show_steps, split_mix,
};
use record::OpenRecord;

pub(crate) fn pacing(plan: &Plan, trial: Trial, warm_up: Duration) -> Pacing {
    match open(plan, trial) {
        None => Pacing::Closed { think_time_ns: nanos(plan.load.think_time) },
        Some((open, rate)) => Pacing::Open {
            schedule: Schedule::new(&rate, warm_up),
            spread: open.arrivals,
            seed: seed(plan.seed, trial),
            backlog_max: open.backlog_max,
        },
    }
}

pub(crate) fn record(plan: &Plan, trial: Trial) -> Option<OpenRecord> {
    let (open, rate) = open(plan, trial)?;
    // Without a time, a number of events ends the load, which requires a constant rate.
    let rate_per_s =
        plan.limit(trial).time.map_or_else(|| rate.first_per_s(), |time| rate.mean_per_s(time));
    let OpenLoop { arrivals, backlog_max, .. } = *open;
    Some(OpenRecord { rate, rate_per_s, arrivals, backlog_max })
}

pub(crate) fn describe(plan: &Plan, limit: Limit, trial: Trial, warm_up: WarmUp) -> String {
    let LoadPlan { think_time, cpus, .. } = &plan.load;
    let mut text = match open(plan, trial) {
        Some((open, rate)) => {
            format!("open loop, {} arrivals, {}", open.arrivals.name(), show_steps(&rate))
        }
        None if think_time.is_zero() => "closed loop".to_owned(),
        None => format!("closed loop with {} of think time", show_duration(*think_time)),
    };
    let time = limit.time.map(show_duration);
    let events = limit.events.map(|events| format!("{events} transactions"));
    let limits: Vec<String> = time.into_iter().chain(events).collect();
    text.push_str(&format!(", {}", limits.join(" or ")));
    if limits.len() > 1 {
        text.push_str(", whichever is reached first");
    }
    if let Some(precision) = plan.load.precision {
        text.push_str(&format!(" at most, until {precision},"));
    }
    let length = show_duration(warm_up.at_most);
    if let Some(from) = warm_up.steady_from {
        let from = show_duration(from);
        text.push_str(&format!(" after {from} to {length} of warm-up until steady"));
    } else if !warm_up.at_most.is_zero() {
        text.push_str(&format!(" after {length} of warm-up"));
    } else if !plan.load.is_warm_up_given {
        text.push_str(", without warm-up, because the workload counts its transactions");
    }
    if let Some(cpus) = cpus {
        text.push_str(&format!(", from CPUs {cpus}"));
    }
    text
}

/// Where a simulated system takes its draws from. The trials of a run follow one another in the time of the machine's
/// noise.
pub(crate) fn simulated_chance(plan: &Plan, trial: Trial) -> SimulatedChance {
    let services = split_mix::next(&mut (plan.seed ^ split_mix::mix(trial.index as u64 + 1)));
    let (origin_ns, up_ns) = simulated_times(plan, trial);
    SimulatedChance { services, noise: plan.seed, origin_ns, up_ns }
}

/// When the load of a simulated trial starts in the run, and how long its system has been up then, ns. A trial that is
/// limited by events is taken to last an interval, and each of a seek as long as a confirming one.
fn simulated_times(plan: &Plan, trial: Trial) -> (Nanos, Nanos) {
    if let Some(seek) = &plan.seek {
        let each = nanos(plan.load.warm_up + seek.confirm_time);
        let origin_ns = each.saturating_mul(trial.index as u64);
        return (origin_ns, origin_ns);
    }
    let time = plan.load.limit.time.unwrap_or(plan.load.interval);
    let (mut started, mut now) = (BTreeMap::new(), 0);
    for one in plan.trials().into_iter().take(trial.index) {
        let is_first = !started.contains_key(&plan.instance(one));
        started.entry(plan.instance(one)).or_insert(now);
        now += nanos(plan.warm_up_of(one, is_first).at_most + time);
    }
    (now, now - started.get(&plan.instance(trial)).unwrap_or(&now))
}

fn open(plan: &Plan, trial: Trial) -> Option<(&OpenLoop, Rate)> {
    plan.load.open.as_ref().zip(plan.rate(trial))
}

/// Each repetition has arrivals of its own; all systems get the same ones.
fn seed(seed: u64, trial: Trial) -> u64 {
    let parts = [
        trial.workload as u64,
        trial.clients as u64,
        trial.ordinal() as u64,
        u64::from(trial.repetition),
    ];
    parts.into_iter().fold(seed, |mixed, part| split_mix::next(&mut (mixed ^ part)))
}

#[cfg(test)]
mod tests {
    use plan::Arrivals;

    use super::*;

    const S: u64 = 1_000_000_000;

    fn plan(load: &str) -> Plan {
        parsed(&format!("system = \"simulated\"\nworkload = \"simulated\"\n[load]\n{load}\n"))
    }

    fn parsed(text: &str) -> Plan {
        let (name, folder) = ("x".to_owned(), std::path::PathBuf::new());
        Plan::parse(plan::Source { name, text: text.to_owned(), folder }).unwrap()
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
        assert_eq!((spread, backlog_max), (Arrivals::Constant, 100_000));
        // 100/s in the warm-up, 100/s to 300/s in the first step, and 50/s in the last one and after it.
        let arrivals = [4, 9, 14, 19, 20].map(|at| schedule.expected_until(at * S));
        assert_eq!(arrivals, [400.0, 1150.0, 2400.0, 2650.0, 2700.0]);
        let offered = record(&plan, trial).unwrap().rate_per_s;
        assert!((offered - 2250.0 / 15.0).abs() < 1e-9, "{offered}");
        assert_eq!(
            describe(&plan, plan.load.limit, trial, plan.warm_up(false)),
            "open loop, constant arrivals, 100 to 300/s for 10s, then 50/s for 5s, 15s after 4s of warm-up"
        );
    }

    #[test]
    fn simulated_trials_draw_their_own_services_from_one_noise() {
        let plan = plan("warm_up = \"4s\"\ntime = \"6s\"\nclients = [1, 2]");
        let [first, second] = [0, 1].map(|at| simulated_chance(&plan, plan.trials()[at]));
        assert_eq!((first.origin_ns, second.origin_ns), (0, 10 * S));
        assert_eq!((first.up_ns, second.up_ns), (0, 10 * S), "it is started once");
        assert_eq!(first.noise, second.noise);
        assert_ne!(first.services, second.services);
    }

    /// Each round of two windows of 2 s each starts both variants again, and the first window of each has 5 s of prewarm.
    #[test]
    fn simulated_variants_are_up_since_their_first_window_of_a_round() {
        let text = "workload = \"simulated\"\ninterleave = { windows = 2 }\nrepetitions = 2\n\
                    [systems.s]\nkind = \"simulated\"\n[systems.s.variants.a]\n[systems.s.variants.b]\n\
                    [load]\ntime = \"2s\"\nprewarm = \"5s\"\nwarm_up = \"1s\"\n";
        let plan = parsed(text);
        let times = plan.trials().into_iter().map(|trial| simulated_times(&plan, trial));
        let seconds: Vec<_> = times.map(|(origin_ns, up_ns)| (origin_ns / S, up_ns / S)).collect();
        // Within a round the second turn is the first one backwards.
        assert_eq!(seconds[..4], [(0, 0), (7, 0), (14, 7), (17, 17)]);
        assert_eq!(seconds[4..], [(20, 0), (27, 0), (34, 7), (37, 17)]);
    }

    #[test]
    fn schedules_differ_between_repetitions_but_not_between_systems() {
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

    #[test]
    fn phases_that_end_by_themselves_are_told_with_their_limits() {
        let plan = plan("until = \"p99 within 5%\"\nwarm_up = \"steady\"");
        let told = describe(&plan, plan.load.limit, plan.trials()[0], plan.warm_up(false));
        assert_eq!(
            told,
            "closed loop, 5m at most, until p99 within 5%, after 30s to 5m of warm-up until steady"
        );
    }

    #[test]
    fn the_cpus_of_the_load_are_told() {
        let plan = plan("time = \"5s\"\nwarm_up = \"0s\"\ncpus = \"0,1\"");
        let told = describe(&plan, plan.load.limit, plan.trials()[0], plan.warm_up(false));
        assert_eq!(told, "closed loop, 5s, from CPUs 0-1");
    }
}
