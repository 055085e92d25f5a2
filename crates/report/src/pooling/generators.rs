//! The generators over the windows of one trial.

use measure::{CpuSpan, Generator, GeneratorStall, WorkerCpu, sum};
use record::{ClientUsage, GeneratorRecord, TrialEnd};

use super::slot::Slot;

/// Each generator over all windows that it offered load in; none when windows had different ones.
pub(super) fn pooled(ends: &[(&TrialEnd, Slot)]) -> Vec<GeneratorRecord> {
    let mut all: Vec<GeneratorRecord> = Vec::new();
    for (end, slot) in ends.iter().filter(|(end, _)| !end.generators.is_empty()) {
        let each = end.generators.iter().map(|one| placed(one, *slot));
        if all.is_empty() {
            all.extend(each);
            continue;
        }
        let names = |of: &[GeneratorRecord]| -> Vec<String> {
            of.iter().map(|one| one.name.clone()).collect()
        };
        if names(&all) != names(&end.generators) {
            return Vec::new();
        }
        all.iter_mut().zip(each).for_each(|(one, more)| merge(one, more));
    }
    for (at, one) in all.iter_mut().enumerate() {
        let begun = ends.iter().filter(|(end, _)| end.measure_started.is_some());
        one.usage = usage(begun.filter_map(|(end, _)| Some(end.generators.get(at)?.usage)));
    }
    all
}

/// A generator of one window, with the times of all windows together.
fn placed(one: &GeneratorRecord, slot: Slot) -> GeneratorRecord {
    let mut placed = one.clone();
    placed.generator = one.generator.as_ref().map(|generator| on_clock(generator, slot));
    if let Some(lost) = &mut placed.lost {
        lost.at_ns = slot.within(lost.at_ns);
    }
    placed
}

fn on_clock(generator: &Generator, slot: Slot) -> Generator {
    let stalls = generator.stalls.iter().filter(|it| slot.overlaps(it.start_ns, it.end_ns));
    let span = |span: CpuSpan| CpuSpan {
        start_ns: slot.within(span.start_ns),
        end_ns: slot.within(span.end_ns),
        ..span
    };
    Generator {
        oversleep: generator.oversleep.clone(),
        stalls: stalls
            .map(|stall| GeneratorStall {
                start_ns: slot.within(stall.start_ns),
                end_ns: slot.within(stall.end_ns),
            })
            .collect(),
        workers: generator
            .workers
            .iter()
            .map(|worker| WorkerCpu {
                whole: span(worker.whole),
                busiest: span(worker.busiest),
                most_delayed: span(worker.most_delayed),
            })
            .collect(),
    }
}

fn merge(one: &mut GeneratorRecord, more: GeneratorRecord) {
    one.host = one.host.take().or(more.host);
    one.clock = one.clock.or(more.clock);
    one.lost = one.lost.take().or(more.lost);
    one.transactions = sum([one.transactions, more.transactions]);
    one.failed_transactions = sum([one.failed_transactions, more.failed_transactions]);
    one.latencies.merge(&more.latencies);
    one.lateness.merge(&more.lateness);
    one.start_delays.merge(&more.start_delays);
    one.generator = match (one.generator.take(), more.generator) {
        (Some(before), Some(after)) => Some(joined(before, after)),
        _ => None,
    };
}

fn joined(mut before: Generator, after: Generator) -> Generator {
    before.oversleep.merge(&after.oversleep);
    before.stalls.extend(after.stalls);
    if before.workers.len() != after.workers.len() {
        before.workers.clear();
    }
    for (worker, more) in before.workers.iter_mut().zip(&after.workers) {
        worker.whole = CpuSpan {
            start_ns: worker.whole.start_ns,
            end_ns: more.whole.end_ns,
            running_ns: sum([worker.whole.running_ns, more.whole.running_ns]),
            waiting_ns: sum([worker.whole.waiting_ns, more.whole.waiting_ns]),
        };
        if more.busiest.running() > worker.busiest.running() {
            worker.busiest = more.busiest;
        }
        if more.most_delayed.waiting() > worker.most_delayed.waiting() {
            worker.most_delayed = more.most_delayed;
        }
    }
    before
}

/// The use of resources in all windows, where those of which it is not known have that of the others on average; `None`
/// when it is known of fewer than half.
pub(super) fn usage(windows: impl Iterator<Item = Option<ClientUsage>>) -> Option<ClientUsage> {
    let all: Vec<Option<ClientUsage>> = windows.collect();
    let known: Vec<ClientUsage> = all.iter().flatten().copied().collect();
    let is_enough = known.len() * 2 >= all.len();
    let whole = |sum: ClientUsage| sum.times(all.len() as f64 / known.len() as f64);
    ClientUsage::sum(&known).filter(|_| is_enough).map(whole)
}
