//! Checks of several generators against each other: whether all were there, kept the same time and got as much done.

use measure::{GeneratorLoss, HostFacts, Nanos};

use super::generator::CPU_MAX;
use super::{UNFAIRNESS_MAX, subject};
use crate::chance::{client_dispersion, dispersion, squares_max};
use crate::{Code, CountedStatements, Finding, GeneratorPart, Measured, Subject, Summary, Value};

/// Clocks that may differ by more than this part of an interval put what happened into the wrong one too often.
const CLOCK_SHARE_MAX: Nanos = 10;

/// Generators that were lost before the end of the load, with the part of the window that lacked them.
pub(super) fn lost(measured: &Measured<'_>) -> Vec<Finding> {
    let (from, to) = measured.window;
    // They may be of a lost generator, which had not reported them, or of another client.
    let more = |it: CountedStatements| it.by_server.total().checked_sub(it.by_dyno.total());
    let unreported = measured.statements.and_then(more).filter(|more| *more > 0);
    let finding = |one: &GeneratorPart<'_>, loss: &GeneratorLoss| {
        let finding = Finding::about(subject(one), Code::GeneratorLost)
            .with("at_ns", Value::At(loss.at_ns))
            .with("reason", Value::Text(loss.reason.clone()));
        let finding = match unreported {
            Some(more) => finding.with("unreported", Value::Count(more)),
            None => finding,
        };
        match to.saturating_sub(loss.at_ns.max(from)) {
            0 => finding,
            absent_ns => finding
                .with("absent_ns", Value::Nanos(absent_ns))
                .with("absent", Value::Part(absent_ns as f64 / (to - from) as f64)),
        }
    };
    let lost = measured.generators.iter().filter_map(|one| Some((one, one.lost?)));
    lost.map(|(one, loss)| finding(one, loss)).collect()
}

/// Clocks of other hosts of which too little is known, or that moved during the trial.
pub(super) fn clocks(measured: &Measured<'_>) -> Vec<Finding> {
    let most_ns = measured.interval_ns / CLOCK_SHARE_MAX;
    let finding = |one: &GeneratorPart<'_>| {
        let clock = one.clock?;
        let (uncertainty_ns, drift_ns) = (clock.uncertainty_ns(), clock.drift_ns());
        let moved_ns = drift_ns.map(i64::unsigned_abs);
        if uncertainty_ns <= most_ns && moved_ns.is_none_or(|moved| moved <= most_ns) {
            return None;
        }
        let finding = Finding::about(subject(one), Code::GeneratorClock)
            .with("uncertainty_ns", Value::Nanos(uncertainty_ns))
            .with("interval_ns", Value::Nanos(measured.interval_ns));
        Some(match moved_ns {
            Some(moved_ns) => finding.with("moved_ns", Value::Nanos(moved_ns)),
            None => finding,
        })
    };
    measured.generators.iter().filter_map(finding).collect()
}

/// Several generators of one host.
struct Sharing<'a> {
    host: &'a HostFacts,
    generators: usize,
    /// CPU that they kept busy together, in hardware threads.
    used: f64,
    /// What each of them could have used, added up.
    threads: usize,
}

/// Hosts whose generators together were nearly out of CPU, although none of them alone had all of it.
pub(super) fn saturated_hosts(measured: &Measured<'_>, summary: &Summary) -> Vec<Finding> {
    let mut hosts: Vec<Sharing<'_>> = Vec::new();
    for (part, figures) in measured.generators.iter().zip(&summary.generators) {
        let (Some(host), Some(usage), Some(used)) = (part.host, part.usage, figures.cpu_threads)
        else {
            continue;
        };
        match hosts.iter_mut().find(|known| known.host.shares_machine_with(host)) {
            Some(known) => {
                known.generators += 1;
                known.used += used;
                known.threads = known.threads.saturating_add(usage.threads);
            }
            None => hosts.push(Sharing { host, generators: 1, used, threads: usage.threads }),
        }
    }
    let finding = |it: &Sharing<'_>| {
        // A host that does not report its cores has 0.
        let cores = Some(it.host.cores as usize).filter(|cores| *cores > 0);
        let usable = cores.map_or(it.threads, |cores| cores.min(it.threads));
        (it.generators > 1 && it.used >= CPU_MAX * usable as f64).then(|| {
            Finding::about(Subject::Host(it.host.host.clone()), Code::ClientSaturated)
                .with("used_threads", Value::Number(it.used))
                .with("usable_threads", Value::Small(usable as u64))
        })
    };
    hosts.iter().filter_map(finding).collect()
}

struct Loaded<'a> {
    part: &'a GeneratorPart<'a>,
    /// Its clients or, in an open loop, its event loops, which have equal shares of the arrivals.
    units: f64,
    transactions: f64,
}

/// The generator whose clients (event loops, in an open loop) differ most from the mean of all, if by more than chance
/// and transactions that the window cut off explain. A generator that was lost is no measure.
pub(super) fn uneven(measured: &Measured<'_>) -> Option<Finding> {
    let is_open = measured.open.is_some();
    let there = measured.generators.iter().filter(|part| part.lost.is_none());
    let loaded: Vec<Loaded<'_>> = there
        .map(|part| Loaded {
            part,
            units: if is_open { part.workers } else { part.client_events.len() } as f64,
            transactions: part.transactions as f64,
        })
        .filter(|loaded| loaded.units > 0.0)
        .collect();
    let sum = |of: fn(&Loaded<'_>) -> f64| loaded.iter().map(of).sum::<f64>();
    let mean = sum(|it| it.transactions) / sum(|it| it.units);
    if loaded.len() < 2 || mean <= 0.0 {
        return None;
    }
    let deviation = |it: &Loaded<'_>| it.transactions / it.units / mean - 1.0;
    let far = |it: &&Loaded<'_>| deviation(it).abs();
    let furthest = loaded.iter().max_by(|one, other| far(one).total_cmp(&far(other)))?;
    let dispersion = if is_open { dispersion(measured) } else { client_dispersion(measured) };
    let chance = dispersion / (mean * furthest.units) * squares_max(loaded.len());
    let cut_off = 0.5 / mean;
    let change = deviation(furthest);
    (change.powi(2) > UNFAIRNESS_MAX.powi(2) + chance + cut_off.powi(2)).then(|| {
        let unit = if is_open { "event loop" } else { "client" };
        Finding::about(subject(furthest.part), Code::GeneratorsUneven)
            .with("each", Value::Number(furthest.transactions / furthest.units))
            .with("mean", Value::Number(mean))
            .with("change", Value::Change(change))
            .with("unit", Value::Text(unit.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use measure::{ClockComparison, Generator, GeneratorClock, GeneratorStall, LatencyHistogram};

    use super::*;
    use crate::summary::tests::seconds_of;
    use crate::{Offered, Severity, Usage, check, summarize};

    const S: Nanos = 1_000_000_000;
    const PART: GeneratorPart<'_> = GeneratorPart {
        name: "",
        host: None,
        client_events: &[],
        workers: 1,
        transactions: 0,
        latencies: None,
        lateness: None,
        own: None,
        usage: None,
        clock: None,
        lost: None,
    };

    /// The findings about generators of a window from 1 s to 5 s, in which 4,000 transactions ended.
    fn found(generators: &[GeneratorPart<'_>], open: Option<Offered<'_>>) -> Vec<Finding> {
        let trial = seconds_of(&[1_000; 4]);
        let measured = Measured {
            generators,
            open,
            clients: 100,
            client_events: &[],
            window: (S, 5 * S),
            percentiles: &[50.0],
            ..trial.measured()
        };
        let all = check(&measured, &summarize(&measured)).into_iter();
        all.filter(|it| matches!(it.subject, Subject::Generator(_) | Subject::Host(_))).collect()
    }

    fn of(name: &str) -> Subject {
        Subject::Generator(name.to_owned())
    }

    #[test]
    fn a_lost_generator_is_named_with_the_part_of_the_window_that_lacked_it() {
        let loss = |at_ns| GeneratorLoss { at_ns, reason: "no byte for 5 s".to_owned() };
        let (before, within, after) = (loss(S / 2), loss(4 * S), loss(5 * S));
        let part = |name, lost| GeneratorPart { name, lost: Some(lost), ..PART };
        let parts = [part("a", &before), part("b", &within), part("c", &after)];
        let found = found(&parts, None);
        let told: Vec<_> =
            found.iter().map(|it| (it.code, it.subject.clone(), it.value("absent"))).collect();
        let absent = [Value::Part(1.0), Value::Part(0.25)];
        let expected = [
            (Code::GeneratorLost, of("a"), Some(&absent[0])),
            (Code::GeneratorLost, of("b"), Some(&absent[1])),
            (Code::GeneratorLost, of("c"), None),
        ];
        assert_eq!(told, expected);
        assert_eq!(found[1].value("absent_ns"), Some(&Value::Nanos(S)));
        assert_eq!(found[1].value("at_ns"), Some(&Value::At(4 * S)));
        assert_eq!(Code::GeneratorLost.severity(), Severity::Doubtful);
    }

    #[test]
    fn a_clock_may_be_off_by_a_tenth_of_an_interval() {
        let clock = |uncertainty_ns, end_ns: Option<i64>| {
            let at = |offset_ns| ClockComparison { offset_ns, uncertainty_ns };
            Some(GeneratorClock { start: at(7), end: end_ns.map(at) })
        };
        let tenth = S / 10;
        let part = |name, clock| GeneratorPart { name, clock, ..PART };
        let parts = [
            part("sure", clock(tenth, Some(7 + 100_000_000))),
            part("unsure", clock(tenth + 1, None)),
            part("moved", clock(50, Some(7 - 100_000_001))),
        ];
        let found = found(&parts, None);
        let told: Vec<_> = found.iter().map(|it| (it.code, it.subject.clone())).collect();
        let code = Code::GeneratorClock;
        assert_eq!(told, [(code, of("unsure")), (code, of("moved"))]);
        assert_eq!(found[0].value("moved_ns"), None, "it was lost before the second comparison");
        assert_eq!(found[1].value("moved_ns"), Some(&Value::Nanos(100_000_001)));
        assert_eq!(found[1].value("uncertainty_ns"), Some(&Value::Nanos(50)));
    }

    #[test]
    fn a_generator_whose_clients_get_through_more_is_found() {
        let part = |name, client_events: &'static [u64]| GeneratorPart {
            name,
            client_events,
            transactions: client_events.iter().sum(),
            ..PART
        };
        // Means of 1,000 and 700 transactions of a client; 900 over all six.
        let (fast, slow) = (part("fast", &[1_000; 4]), part("slow", &[700; 2]));
        let found_here = found(&[fast, slow], None);
        let [uneven] = found_here.as_slice() else { panic!("{found_here:?}") };
        assert_eq!((uneven.code, &uneven.subject), (Code::GeneratorsUneven, &of("slow")));
        assert_eq!(uneven.value("each"), Some(&Value::Number(700.0)));
        assert_eq!(uneven.value("mean"), Some(&Value::Number(900.0)));
        let Some(Value::Change(change)) = uneven.value("change") else { panic!() };
        assert!((change - (700.0 / 900.0 - 1.0)).abs() < 1e-12, "{change}");
        // 10 % less are even enough, and a generator that was lost is no measure.
        assert_eq!(found(&[fast, part("near", &[905; 2])], None), []);
        let loss = GeneratorLoss::default();
        let lost = GeneratorPart { lost: Some(&loss), ..slow };
        let codes: Vec<Code> = found(&[fast, lost], None).iter().map(|it| it.code).collect();
        assert_eq!(codes, [Code::GeneratorLost]);
    }

    #[test]
    fn event_loops_of_an_open_loop_have_equal_shares() {
        let none = LatencyHistogram::new();
        let offered = Offered {
            rate_per_s: 1_000.0,
            is_constant: true,
            is_random: true,
            lateness: &none,
            start_delays: &none,
        };
        let part = |name, workers, transactions| GeneratorPart {
            name,
            workers,
            transactions,
            // Clients take turns, so that their own counts say nothing.
            client_events: &[900, 1],
            ..PART
        };
        let fair = [part("two", 2, 2_660), part("one", 1, 1_340)];
        assert_eq!(found(&fair, Some(offered)), []);
        let half = [part("two", 2, 2_000), part("one", 1, 2_000)];
        let found = found(&half, Some(offered));
        let [uneven] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((uneven.code, &uneven.subject), (Code::GeneratorsUneven, &of("one")));
        assert_eq!(uneven.value("unit"), Some(&Value::Text("event loop".to_owned())));
    }

    #[test]
    fn each_generator_is_checked_by_itself_and_named() {
        let stall = GeneratorStall { start_ns: 2 * S, end_ns: 3 * S };
        let stalled = Generator { stalls: vec![stall], ..Generator::default() };
        let (mut late, on_time) = (LatencyHistogram::new(), LatencyHistogram::new());
        (0..100).for_each(|_| late.record(5_000_000));
        let usage = |user_ns| Usage { user_ns, system_ns: 0, switches: 0, threads: 2 };
        let offered = Offered {
            rate_per_s: 1_000.0,
            is_constant: true,
            is_random: false,
            lateness: &on_time,
            start_delays: &on_time,
        };
        let calm = Generator::default();
        let parts = [
            GeneratorPart { name: "calm", own: Some(&calm), usage: Some(usage(S)), ..PART },
            GeneratorPart { name: "late", lateness: Some(&late), ..PART },
            GeneratorPart { name: "stalled", own: Some(&stalled), ..PART },
            GeneratorPart { name: "busy", usage: Some(usage(8 * S)), ..PART },
        ]
        .map(|part| GeneratorPart { transactions: 1_000, ..part });
        let found = found(&parts, Some(offered));
        let told: Vec<_> = found.iter().map(|it| (it.code, it.subject.clone())).collect();
        let expected = [
            (Code::GeneratorLate, of("late")),
            (Code::GeneratorStalledLong, of("stalled")),
            (Code::ClientSaturated, of("busy")),
        ];
        assert_eq!(told, expected);
        // One of its four seconds; all together it is one of the eight of two processes that watched themselves.
        assert_eq!(found[1].value("stalled"), Some(&Value::Part(0.25)));
        let trial = seconds_of(&[1_000; 4]);
        let measured = Measured { generators: &parts, window: (S, 5 * S), ..trial.measured() };
        assert_eq!(summarize(&measured).generator.unwrap().stalled, 0.125);
    }

    #[test]
    fn generators_that_share_a_host_are_out_of_cpu_together() {
        let host =
            |name: &str, cores| HostFacts { host: name.to_owned(), cores, ..HostFacts::default() };
        let (small, large) = (host("small", 2), host("large", 8));
        // Each kept one thread busy in the four seconds, of the two that it could have used alone.
        let usage = Usage { user_ns: 4 * S, system_ns: 0, switches: 0, threads: 2 };
        let part = |name, host| GeneratorPart {
            name,
            host: Some(host),
            usage: Some(usage),
            transactions: 1_000,
            client_events: &[1_000],
            ..PART
        };
        let parts = [part("a", &small), part("b", &large), part("c", &small), part("d", &large)];
        let found = found(&parts, None);
        let [saturated] = found.as_slice() else { panic!("{found:?}") };
        let subject = Subject::Host("small".to_owned());
        assert_eq!((saturated.code, &saturated.subject), (Code::ClientSaturated, &subject));
        let values = [("used_threads", Value::Number(2.0)), ("usable_threads", Value::Small(2))];
        assert_eq!(saturated.values, values);
    }

    #[test]
    fn clients_are_compared_with_those_of_their_own_generator() {
        let part = |name, client_events: &'static [u64]| GeneratorPart {
            name,
            client_events,
            transactions: client_events.iter().sum(),
            ..PART
        };
        let found =
            found(&[part("even", &[1_000; 4]), part("odd", &[400, 1_600, 400, 1_600])], None);
        let told: Vec<_> = found.iter().map(|it| (it.code, it.subject.clone())).collect();
        assert_eq!(told, [(Code::Unfair, of("odd"))]);
        assert_eq!(found[0].value("variation"), Some(&Value::Part(0.6)));
    }
}
