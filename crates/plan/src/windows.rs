//! `interleave`: whether the variants of a system are measured one after the other in each round, or are all up while
//! the load alternates between them in short windows.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::keys::{Form, Key, words};
use crate::rounds::balanced_rounds;
use crate::value::Value;
use crate::{
    Between, LoadPlan, OptionReader, Options, Plan, Problem, Shuffle, SystemInstance, Trial, WarmUp,
};

/// Rounds, where the plan does not set `repetitions` and has windows: those of one round share its start of the
/// system, so only rounds tell how far starts differ.
pub(crate) const ROUNDS_DEFAULT: u32 = 4;

/// Windows of each variant in a round, where the plan does not set their number.
const WINDOWS_DEFAULT: u32 = 10;
const WINDOWS: RangeInclusive<u64> = 2..=1_000;
const INTERLEAVE: &[(&str, Option<u32>)] = &[("rounds", None), ("windows", Some(WINDOWS_DEFAULT))];
const INTERLEAVED: &str = "`interleave` is set to windows";

/// The warm-up before all windows but the first is this part of a window, where the plan does not set it.
const WARM_UP_PART: u32 = 10;
/// The least of these, unless the usual warm-up is shorter.
const WARM_UP_MIN: Duration = Duration::from_millis(20);

/// The key at the top of a plan.
pub(crate) fn key() -> Key {
    let meaning = "windows of each variant in a round";
    let windows = Key::new("windows", Form::Integer(WINDOWS), meaning).or(WINDOWS_DEFAULT);
    let form = Form::Either(vec![words(INTERLEAVE), Form::Table(vec![windows])]);
    Key::new("interleave", form, "how variants take turns").or("rounds")
}

/// `interleave`: the number of windows of each variant in a round; `None` without windows.
pub(crate) fn read(reader: &mut OptionReader<'_>, problems: &mut Vec<Problem>) -> Option<u32> {
    match reader.placed("interleave").map(|placed| &placed.value) {
        Some(Value::Table(table)) => Some(read_table(table, problems)),
        _ => reader.choice("interleave", None, INTERLEAVE),
    }
}

fn read_table(table: &Options, problems: &mut Vec<Problem>) -> u32 {
    let mut reader = table.reader();
    if !reader.is_given("windows") {
        let message = "`interleave` is a table without `windows`";
        reader.reject("windows", message, "write such as interleave = { windows = 10 }");
    }
    let windows = reader.integer("windows", WINDOWS_DEFAULT.into(), WINDOWS);
    problems.extend(reader.finish().err().unwrap_or_default());
    u32::try_from(windows).unwrap_or(WINDOWS_DEFAULT)
}

/// Rejects what does not go with windows.
pub(crate) fn check(reader: &mut OptionReader<'_>, plan: &Plan) {
    if plan.windows.is_none() {
        return;
    }
    let mut reject = |message: String, help: &str| reader.reject("interleave", message, help);
    if plan.systems.iter().all(|system| system.variant.is_none()) {
        let message = format!("{INTERLEAVED}, and no system has variants");
        let help = "the load alternates between variants: give a system [systems.NAME.variants.ONE] and \
                    [systems.NAME.variants.OTHER]";
        reject(message, help);
    } else if let Some(alone) = plan.systems.iter().find(|system| system.variant.is_none()) {
        let message = format!("{INTERLEAVED}, and system `{}` has no variants", alone.name);
        reject(
            message,
            "the load alternates between variants: measure this system in a plan of its own",
        );
    }
    if plan.seek.is_some() {
        let message = format!("{INTERLEAVED} together with [seek]");
        reject(
            message,
            "a seek sets the load of each trial by the one before: leave one of the two out",
        );
    }
    if plan.load.precision.is_some() {
        let message = format!("{INTERLEAVED} together with `until`");
        reject(message, "all windows have the same length: set `time`, and leave `until` out");
    }
    if plan.between != Between::Keep {
        let message = format!("{INTERLEAVED}, and `between` changes the data before each window");
        reject(message, "leave `between` out: each round loads the data of each variant anew");
    }
}

/// The warm-up before windows that are not the first under their load.
fn warm_up(load: &LoadPlan) -> Duration {
    if load.is_warm_up_given && load.steady.is_none() {
        return load.warm_up;
    }
    let part = load.limit.time.map_or(Duration::ZERO, |time| time / WARM_UP_PART);
    part.max(WARM_UP_MIN).min(load.warm_up)
}

impl Plan {
    /// Whether a trial is the last window of its variant, round and load, or has no windows.
    pub fn is_last_window(&self, trial: Trial) -> bool {
        self.windows.is_none_or(|windows| trial.window + 1 >= windows)
    }

    /// The number of trials in views of the run: the windows of one variant, round and load count as one.
    pub fn pooled_trials(&self) -> usize {
        self.trials().iter().filter(|trial| trial.window == 0).count()
    }

    /// The warm-up of a trial. The first window under a load has that of any trial.
    pub fn warm_up_of(&self, trial: Trial, is_first_of_instance: bool) -> WarmUp {
        match trial.window {
            0 => self.warm_up(is_first_of_instance),
            _ => WarmUp { at_most: warm_up(&self.load), steady_from: None },
        }
    }

    /// The system instances that are up together with this one, itself among them, in the order of the plan: with
    /// windows those of all variants of the system, otherwise only itself.
    pub fn up_together(&self, instance: SystemInstance) -> Vec<SystemInstance> {
        let of = |system: usize| self.systems[system].variant.as_ref().map(|variant| &variant.of);
        let group = of(instance.system).filter(|_| self.windows.is_some());
        let is_up =
            |system: &usize| *system == instance.system || group.is_some() && of(*system) == group;
        let systems = (0..self.systems.len()).filter(is_up);
        systems.map(|system| SystemInstance { system, ..instance }).collect()
    }

    /// Adds the windows of a round: under each load the variants take turns in a balanced order, which is drawn anew.
    pub(crate) fn add_windows(
        &self,
        (variants, windows): (&[usize], u32),
        repetition: u32,
        shuffle: &mut Shuffle,
        trials: &mut Vec<Trial>,
    ) {
        for (workload, (clients, rate)) in (0..self.workloads.len())
            .flat_map(|workload| self.levels().into_iter().map(move |level| (workload, level)))
        {
            let suited = variants.iter().filter(|it| !self.unsuited.contains(&(**it, workload)));
            let suited: Vec<usize> = suited.copied().collect();
            let turns = balanced_rounds(shuffle, &suited, windows as usize);
            for (turn, window) in turns.into_iter().zip(0..) {
                for system in turn {
                    let (index, seek) = (trials.len(), None);
                    trials.push(Trial {
                        index,
                        system,
                        workload,
                        clients,
                        rate,
                        seek,
                        repetition,
                        window,
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
