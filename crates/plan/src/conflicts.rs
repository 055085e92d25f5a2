//! Keys that end a phase, or the rounds, by what is measured, and other keys of the plan that do not go with them.

use crate::ending::{PRECISE_INTERVALS_MIN, STEADY_INTERVALS_MIN};
use crate::enough_rounds::ROUNDS;
use crate::{LoadPlan, OptionReader, Plan, PreciseFigure, show_duration};

/// Rejects other keys of `[load]` that do not go with a warm-up or a measurement that ends by itself.
pub(crate) fn check_load(reader: &mut OptionReader<'_>, load: &LoadPlan, is_seek: bool) {
    if load.steady.is_some() {
        check_steady(reader, load);
    }
    if load.precision.is_some() {
        check_precision(reader, load, is_seek);
    }
}

fn check_steady(reader: &mut OptionReader<'_>, load: &LoadPlan) {
    let least = load.interval * STEADY_INTERVALS_MIN;
    let [shown, interval] = [load.warm_up, load.interval].map(show_duration);
    if load.warm_up < least {
        let message = format!(
            "the warm-up takes {shown} at most, too short to see whether the load is steady"
        );
        let help = format!(
            "set `at_most` to {STEADY_INTERVALS_MIN} intervals of {interval} or more, or a shorter `interval`"
        );
        reader.reject("warm_up", message, help);
    }
    if load.prewarm > load.warm_up {
        let message = format!("`prewarm` is longer than the warm-up at most, {shown}");
        reader.reject("prewarm", message, "set a higher `at_most` for the warm-up");
    }
    if reader.is_given("steps") {
        let message = "`steps` are set together with a warm-up until the load is steady";
        let help = "steps begin at a planned time: set the length of the warm-up";
        reader.reject("warm_up", message, help);
    }
}

fn check_precision(reader: &mut OptionReader<'_>, load: &LoadPlan, is_seek: bool) {
    if is_seek {
        let help = "a seek ends by its own `precision`: leave `until` out";
        reader.reject("until", "`until` is set together with [seek]", help);
        return;
    }
    for (key, help) in [
        ("events", "keep one; the limit of `until` is `time`"),
        ("steps", "under a rate that changes no figure settles: set `rate`, or leave `until` out"),
    ] {
        if reader.is_given(key) {
            reader.reject("until", format!("`until` is set together with `{key}`"), help);
        }
    }
    let least = load.interval * PRECISE_INTERVALS_MIN;
    if let Some(time) = load.limit.time.filter(|time| *time < least) {
        let [time, interval] = [time, load.interval].map(show_duration);
        let message = format!("`time` is {time}, too short for `until`");
        let help = format!(
            "it is the limit of `until`: set {PRECISE_INTERVALS_MIN} intervals of {interval} or more, or a \
             shorter `interval`"
        );
        let key = if reader.is_given("time") { "time" } else { "until" };
        reader.reject(key, message, help);
    }
}

/// Rejects `rounds` where the rest of the plan has no rounds, or not the figure.
pub(crate) fn check_rounds(reader: &mut OptionReader<'_>, plan: &Plan) {
    let Some(rounds) = &plan.rounds else { return };
    if plan.seek.is_some() {
        let help = "a seek ends by its own `precision`: leave `rounds` out";
        reader.reject(ROUNDS, "`rounds` is set together with [seek]", help);
    }
    if let Some(alone) = plan.systems.iter().find(|system| system.variant.is_none()) {
        let message = format!("`rounds` compares variants, and system `{}` has none", alone.name);
        let help = format!(
            "give it [systems.{0}.variants.ONE] and [systems.{0}.variants.OTHER], or set `repetitions` instead",
            alone.name
        );
        reader.reject(ROUNDS, message, help);
    }
    match rounds.figure {
        PreciseFigure::Throughput if plan.load.open.is_some() => {
            let message = "`rounds` compares the throughput, which the rate sets";
            reader.reject(ROUNDS, message, "add the figure to compare, such as figure = \"p95\"");
        }
        PreciseFigure::Percentile(percent) if !plan.percentiles.contains(&percent) => {
            let message = format!("`rounds` compares p{percent}, which is not among `percentiles`");
            reader.reject(ROUNDS, message, format!("add {percent} to `percentiles`"));
        }
        _ => {}
    }
}
