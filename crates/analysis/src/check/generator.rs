//! Checks of each load generator itself: whether it ran all the time, and had CPU to spare.

use measure::{GeneratorStall, sum};

use super::subject;
use crate::{
    Code, Finding, GeneratorFigures, GeneratorPart, GeneratorSummary, Measured, Summary, Value,
};

/// From this part of its available CPU on, the load generator may limit throughput.
pub(super) const CPU_MAX: f64 = 0.9;
/// From this part of the measured time on, figures are more of the load generator's stalls than of the system.
const STALLED_MAX: f64 = 0.1;

pub(super) fn check(measured: &Measured<'_>, summary: &Summary) -> Vec<Finding> {
    let each = measured.each_generator();
    let found = each.iter().zip(&summary.generators).flat_map(|(one, figures)| {
        [stalls(measured, one, figures), saturation(measured, one, figures)]
    });
    found.flatten().collect()
}

/// With several stalls, the longest is told, and the length of all.
fn stalls(
    measured: &Measured<'_>,
    one: &GeneratorPart<'_>,
    figures: &GeneratorFigures,
) -> Option<Finding> {
    let GeneratorSummary { stalled, .. } = *figures.own.as_ref()?;
    let (from, to) = measured.window;
    let lengths = || {
        let all = one.own.into_iter().flat_map(|generator| &generator.stalls);
        all.map(|stall| (stall.within(from, to), stall)).filter(|(length, _)| *length > 0)
    };
    let (_, longest): (_, &GeneratorStall) = lengths().max_by_key(|(length, _)| *length)?;
    let code =
        if stalled < STALLED_MAX { Code::GeneratorStalled } else { Code::GeneratorStalledLong };
    let finding = Finding::about(subject(one), code)
        .with("start_ns", Value::At(longest.start_ns))
        .with("end_ns", Value::At(longest.end_ns))
        .with("stalled", Value::Part(stalled));
    let count = lengths().count() as u64;
    if count == 1 {
        return Some(finding);
    }
    let total_ns = sum(lengths().map(|(length, _)| length));
    Some(finding.with("stalls", Value::Small(count)).with("total_ns", Value::Nanos(total_ns)))
}

/// An embedded system shares the threads, so busy threads are the intended state.
fn saturation(
    measured: &Measured<'_>,
    one: &GeneratorPart<'_>,
    figures: &GeneratorFigures,
) -> Option<Finding> {
    let usage = one.usage.filter(|_| !measured.is_embedded)?;
    let used = figures.cpu_threads?;
    let workers = figures.own.as_ref().and_then(|generator| generator.workers);
    let running_max = workers.map(|workers| workers.running_max);
    let is_near = used >= CPU_MAX * usage.threads as f64;
    if is_near || running_max.is_some_and(|part| part >= CPU_MAX) {
        let finding = Finding::about(subject(one), Code::ClientSaturated)
            .with("used_threads", Value::Number(used))
            .with("usable_threads", Value::Small(usage.threads as u64));
        return Some(match running_max {
            Some(part) => finding.with("busiest_worker", Value::Part(part)),
            None => finding,
        });
    }
    let busiest = workers?.busiest;
    (busiest.running() >= CPU_MAX).then(|| {
        Finding::about(subject(one), Code::ClientSaturatedBriefly)
            .with("start_ns", Value::At(busiest.start_ns))
            .with("end_ns", Value::At(busiest.end_ns))
            .with("busiest_worker", Value::Part(busiest.running()))
    })
}

#[cfg(test)]
mod tests {
    use measure::{CpuSpan, Generator, Nanos, WorkerCpu};

    use super::*;
    use crate::summary::tests::seconds_of;
    use crate::{Severity, Usage, summarize};

    const MS: Nanos = 1_000_000;
    /// Two of four threads busy.
    const HALF_BUSY: Usage =
        Usage { user_ns: 4_000 * MS, system_ns: 2_000 * MS, switches: 1, threads: 4 };

    /// The findings about the load generator, in three measured seconds after one of warm-up.
    fn findings(generator: &Generator, change: impl Fn(&mut Measured<'_>)) -> Vec<Finding> {
        let trial = seconds_of(&[20, 20, 20]);
        let mut measured = Measured {
            generator: Some(generator),
            usage: Some(HALF_BUSY),
            window: (1_000 * MS, 4_000 * MS),
            ..trial.measured()
        };
        change(&mut measured);
        check(&measured, &summarize(&measured))
    }

    fn stalls(all_ms: &[(u64, u64)]) -> Generator {
        let stall =
            |(from, to): &(u64, u64)| GeneratorStall { start_ns: from * MS, end_ns: to * MS };
        Generator { stalls: all_ms.iter().map(stall).collect(), ..Generator::default() }
    }

    #[test]
    fn a_long_stall_makes_a_trial_invalid_and_has_its_time() {
        let found = findings(&stalls(&[(1_200, 2_700)]), |_| {});
        let values = [
            ("start_ns", Value::At(1_200 * MS)),
            ("end_ns", Value::At(2_700 * MS)),
            ("stalled", Value::Part(0.5)),
        ];
        assert_eq!((found.len(), found[0].code), (1, Code::GeneratorStalledLong));
        assert_eq!(found[0].values, values);
        assert_eq!(found[0].code.severity(), Severity::Invalid);
        assert_eq!(found[0].code.name(), "generator-stalled");
    }

    #[test]
    fn short_stalls_make_a_trial_doubtful_with_the_longest_and_their_sum() {
        let found = findings(&stalls(&[(500, 1_060), (2_000, 2_090), (3_950, 4_020)]), |_| {});
        // 60 ms of the first and 50 ms of the last are in the measured time.
        let values = [
            ("start_ns", Value::At(2_000 * MS)),
            ("end_ns", Value::At(2_090 * MS)),
            ("stalled", Value::Part(200.0 / 3_000.0)),
            ("stalls", Value::Small(3)),
            ("total_ns", Value::Nanos(200 * MS)),
        ];
        assert_eq!((found.len(), found[0].code), (1, Code::GeneratorStalled));
        assert_eq!(found[0].values, values);
        assert_eq!(found[0].code.severity(), Severity::Doubtful);
        assert_eq!(found[0].code.name(), "generator-stalled");
    }

    #[test]
    fn stalls_outside_the_measured_time_are_not_a_finding() {
        assert_eq!(findings(&stalls(&[(200, 900), (4_000, 4_500)]), |_| {}), []);
    }

    /// Four workers over three seconds: busy for these parts of it, and of their busiest second.
    fn workers(parts: [(u64, u64); 4]) -> Generator {
        let span = |start_ms: u64, end_ms: u64, percent: u64| CpuSpan {
            start_ns: start_ms * MS,
            end_ns: end_ms * MS,
            running_ns: (end_ms - start_ms) * MS * percent / 100,
            waiting_ns: (end_ms - start_ms) * MS * (100 - percent) / 200,
        };
        let worker = |(whole, busiest)| WorkerCpu {
            whole: span(1_000, 4_000, whole),
            busiest: span(2_500, 3_500, busiest),
            most_delayed: span(1_000, 2_000, 0),
        };
        Generator { workers: parts.map(worker).into(), ..Generator::default() }
    }

    #[test]
    fn one_saturated_event_loop_of_four_is_found() {
        let generator = workers([(30, 40), (98, 100), (30, 40), (30, 40)]);
        let found = findings(&generator, |_| {});
        assert_eq!((found.len(), found[0].code), (1, Code::ClientSaturated), "{found:?}");
        assert_eq!(found[0].value("busiest_worker"), Some(&Value::Part(0.98)));
        assert_eq!(found[0].value("usable_threads"), Some(&Value::Small(4)));
        assert_eq!(findings(&generator, |measured| measured.is_embedded = true), []);
    }

    #[test]
    fn a_saturated_second_is_found_where_the_whole_is_not() {
        let found = findings(&workers([(30, 40), (45, 91), (30, 40), (30, 40)]), |_| {});
        let values = [
            ("start_ns", Value::At(2_500 * MS)),
            ("end_ns", Value::At(3_500 * MS)),
            ("busiest_worker", Value::Part(0.91)),
        ];
        assert_eq!((found.len(), found[0].code), (1, Code::ClientSaturatedBriefly), "{found:?}");
        assert_eq!(found[0].values, values);
        assert_eq!(findings(&workers([(85, 89); 4]), |_| {}), []);
    }

    #[test]
    fn figures_of_workers_are_means_and_those_of_the_worst() {
        let trial = seconds_of(&[20]);
        let generator = workers([(20, 40), (60, 80), (20, 30), (20, 30)]);
        let measured = Measured { generator: Some(&generator), ..trial.measured() };
        let found = summarize(&measured).generator.unwrap().workers.unwrap();
        let near = |seen: f64, expected: f64| (seen - expected).abs() < 1e-9;
        assert!(near(found.running_mean, 0.3) && near(found.running_max, 0.6), "{found:?}");
        // Half of the time without a CPU: 40, 20, 40 and 40 %.
        assert!(near(found.waiting_mean, 0.35) && near(found.waiting_max, 0.4), "{found:?}");
        assert!(near(found.busiest.running(), 0.8) && near(found.most_delayed.waiting(), 0.5));
        let mut short = generator.clone();
        short.workers[2].whole.end_ns = short.workers[2].whole.start_ns + 99 * MS;
        let measured = Measured { generator: Some(&short), ..trial.measured() };
        assert_eq!(summarize(&measured).generator.unwrap().workers, None, "too short to tell");
        let silent = Generator::default();
        let measured = Measured { generator: Some(&silent), ..trial.measured() };
        assert_eq!(summarize(&measured).generator.unwrap().workers, None);
    }
}
