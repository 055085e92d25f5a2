//! The generators of a trial's load, as the checks need them.

use std::ops::Range;

use analysis::{GeneratorPart, Usage};
use measure::{Generator, GeneratorStall};
use record::{ClientUsage, GeneratorRecord, TrialEnd, TrialRecord};

use crate::digest::Trial;

/// The generators with a part of the load each; empty where the process of the run offered the whole. `events` are
/// the measured transactions of each client of the trial.
pub(super) fn parts<'r>(record: &'r TrialRecord, events: &'r [u64]) -> Vec<GeneratorPart<'r>> {
    let load = &record.header.load;
    let part = |one: &'r GeneratorRecord| GeneratorPart {
        name: &one.name,
        host: one.host.as_ref(),
        client_events: events.get(one.clients.clone()).unwrap_or_default(),
        workers: one.workers,
        transactions: one.transactions,
        latencies: Some(&one.latencies),
        lateness: load.open.as_ref().map(|_| &one.lateness),
        own: one.generator.as_ref(),
        usage: one.usage.map(|usage| {
            let cores = one.host.as_ref().map(|host| host.cores).filter(|cores| *cores > 0);
            usage_of(&usage, cores, one.workers, load.cpus.len())
        }),
        clock: one.clock,
        lost: one.lost.as_ref(),
    };
    let parts = record.end.iter().flat_map(|end| end.generator_parts());
    parts.map(part).collect()
}

/// Clients that left early, without those of lost generators: the loss has a finding of its own.
pub(super) fn clients_left(end: &TrialEnd) -> usize {
    let lost = end.generator_parts().iter().filter(|part| part.lost.is_some());
    let lost: Vec<&Range<usize>> = lost.map(|part| &part.clients).collect();
    let is_lost = |client: usize| lost.iter().any(|clients| clients.contains(&client));
    let left = end.clients.iter().enumerate().filter(|(_, client)| client.failure.is_some());
    left.filter(|(client, _)| !is_lost(*client)).count()
}

/// CPU time of a process of dyno, with the most threads that could run at once: no more than its event loops, and no
/// more than the CPUs that it may use or that the plan gives it. A number of 0 is not known.
pub(super) fn usage_of(
    usage: &ClientUsage,
    usable: Option<u32>,
    workers: usize,
    cpus: usize,
) -> Usage {
    let machine = usable.map_or(usize::MAX, |threads| threads as usize);
    let limits = [workers, cpus].into_iter().filter(|limit| *limit > 0);
    Usage {
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        switches: usage.switches(),
        threads: limits.fold(machine, usize::min),
    }
}

impl<'a> Trial<'a> {
    /// The generators with a part of the load each; empty where the process of the run offered the whole.
    pub(crate) fn generator_parts(&self) -> &'a [GeneratorRecord] {
        self.record.end.as_ref().map_or(&[], |end| end.generator_parts())
    }

    /// The processes that offered the load, as far as they have observed themselves, each with the name of its
    /// generator; the name is empty where the process of the run offered the whole.
    pub(crate) fn generators(&self) -> impl Iterator<Item = (&'a str, &'a Generator)> {
        let lone = self.record.end.as_ref().and_then(|end| end.lone_generator());
        let parts = self.generator_parts().iter();
        let parts = parts.filter_map(|one| Some((one.name.as_str(), one.generator.as_ref()?)));
        lone.map(|generator| ("", generator)).into_iter().chain(parts)
    }

    /// Times in which such a process did not run, each with that name.
    pub(crate) fn stalls(&self) -> impl Iterator<Item = (&'a str, &'a GeneratorStall)> {
        self.generators()
            .flat_map(|(name, generator)| generator.stalls.iter().map(move |stall| (name, stall)))
    }
}
