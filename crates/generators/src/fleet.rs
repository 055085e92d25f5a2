//! All generators of a run.

use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Result};
use engine::{
    Command, GeneratorLink, Generators, Load, OfferedLoad, Outcome, Part, Stop, TrialError,
    TrialObserver,
};
use measure::{ClockComparison, HostFacts};
use plan::{LoadPlan, OnGeneratorLoss, Place, generator_names};
use remote::Sender;
use runner::{KnownGenerators, LoadProcesses, SharedTrial};
use workload::LoadPart;

use crate::job::GeneratorJob;
use crate::member::{Member, Sink};
use crate::message::ToGenerator;

/// The generators of a run. They end when this is dropped.
pub struct Fleet {
    generators: Vec<Generator>,
    keep_copies: bool,
    go_on_without_lost: bool,
    loads: u64,
}

struct Generator {
    name: String,
    place: Place,
    host: HostFacts,
    /// `None` when it was lost; it is started again for the next load.
    member: Option<Member>,
}

impl Fleet {
    /// The generators of a plan, which do not run yet.
    pub fn of(plan: &LoadPlan) -> Self {
        let named = generator_names(&plan.generators).into_iter().zip(&plan.generators);
        let generator = |(name, place): (String, &Place)| Generator {
            name,
            place: place.clone(),
            host: HostFacts::default(),
            member: None,
        };
        Self {
            generators: named.map(generator).collect(),
            keep_copies: plan.keep_copies,
            go_on_without_lost: plan.on_generator_loss == OnGeneratorLoss::Continue,
            loads: 0,
        }
    }

    /// Divides the load of a trial among the generators, which have so many event loops each.
    fn parts(
        &self,
        trial: &SharedTrial<'_>,
        (offer, loops): (&OfferedLoad, &[usize]),
    ) -> Result<Vec<(Part, GeneratorJob)>> {
        let generators = self.generators.len();
        let job = |(part, one): (Part, &Generator)| {
            let place = (LoadPart { generator: part.generator, generators }, &one.place);
            let job = GeneratorJob::of(trial, place, offer)?;
            Ok((part, job))
        };
        Part::divide(loops).into_iter().zip(&self.generators).map(job).collect()
    }

    fn start_missing(&mut self, stop: &Stop) -> Result<()> {
        let keep_copies = self.keep_copies;
        let results = thread::scope(|scope| {
            let start =
                |generator: &'_ mut Generator| generator.start_if_missing(keep_copies, stop);
            let threads: Vec<_> =
                self.generators.iter_mut().map(|it| scope.spawn(move || start(it))).collect();
            let ended = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause))
            });
            ended.collect::<Vec<Result<()>>>()
        });
        results.into_iter().collect()
    }

    fn offer_parts(
        &mut self,
        (offer, load): (&OfferedLoad, &dyn Load),
        parts: Vec<(Part, GeneratorJob)>,
        known: &KnownGenerators,
        stop: &Stop,
        observer: &mut dyn TrialObserver,
    ) -> Result<Outcome, TrialError> {
        self.loads += 1;
        let clocks = self.compare_clocks(stop)?;
        let (to_engine, reports) = mpsc::channel();
        let outcome = thread::scope(|scope| {
            let mut links = Vec::with_capacity(parts.len());
            let each = self.generators.iter().zip(&clocks).zip(parts);
            for ((generator, clock), (part, job)) in each {
                let Some(member) = &generator.member else { continue };
                let clients = part.clients(offer, load);
                let of = (&part, clients);
                let facts = (&generator.host, member.peer.identity(), *clock);
                known.add(&generator.name, facts, of, load.operations().len());
                let number = part.generator;
                let (reports, known) = (to_engine.clone(), known.clone());
                member.listen(Sink { load: self.loads, generator: number, reports, known });
                let message =
                    ToGenerator::Job { load: self.loads, part: part.clone(), job: Box::new(job) };
                // One that is lost has said so.
                let _ = member.sender.send(&message);
                let (commands, sent) = mpsc::channel();
                let (sender, number) = (member.sender.clone(), self.loads);
                scope.spawn(move || send_commands(&sent, &sender, number, *clock));
                let (name, uncertainty_ns) = (generator.name.clone(), clock.uncertainty_ns);
                links.push(GeneratorLink { name, part, commands, uncertainty_ns });
            }
            drop(to_engine);
            let go_on_without_lost = self.go_on_without_lost;
            let generators = Generators { links, reports: &reports, go_on_without_lost };
            engine::coordinate(offer, load, generators, stop, observer)
        });
        self.after_load(known);
        outcome
    }

    /// Compares all clocks; those that were lost are started again before.
    fn compare_clocks(&mut self, stop: &Stop) -> Result<Vec<ClockComparison>, TrialError> {
        let failed = |cause: anyhow::Error| {
            let reason = format!("{cause:#}");
            if stop.is_asked() { TrialError::Interrupted } else { TrialError::Generators(reason) }
        };
        self.start_missing(stop).map_err(failed)?;
        let compared = self.generators.iter().map(|generator| {
            let member = generator.member.as_ref().context("it does not run")?;
            let compared = member.peer.compare_clocks();
            compared.with_context(|| format!("the clock of generator {}", generator.name))
        });
        compared.collect::<Result<_>>().map_err(failed)
    }

    /// Compares the clocks again, and gives up generators that are lost.
    fn after_load(&mut self, known: &KnownGenerators) {
        let lost = known.lost_ones();
        for (number, generator) in self.generators.iter_mut().enumerate() {
            let Some(member) = &generator.member else { continue };
            member.end_of_load();
            if lost.contains(&number) {
                generator.member = None;
            } else if let Ok(after) = member.peer.compare_clocks() {
                known.clock_after(number, after);
            }
        }
    }
}

impl LoadProcesses for Fleet {
    fn start(&mut self, stop: &Stop) -> Result<()> {
        self.start_missing(stop)
    }

    fn hosts(&self) -> Vec<HostFacts> {
        self.generators.iter().map(|generator| generator.host.clone()).collect()
    }

    fn offer(
        &mut self,
        (trial, loops): (&SharedTrial<'_>, &[usize]),
        load: (&OfferedLoad, &dyn Load),
        known: &KnownGenerators,
        stop: &Stop,
        observer: &mut dyn TrialObserver,
    ) -> Result<Outcome, TrialError> {
        let parts = self.parts(trial, (load.0, loops));
        let parts = parts.map_err(|cause| TrialError::Generators(format!("{cause:#}")))?;
        self.offer_parts(load, parts, known, stop, observer)
    }
}

impl Generator {
    fn start_if_missing(&mut self, keep_copies: bool, stop: &Stop) -> Result<()> {
        if self.member.as_ref().is_some_and(|member| !member.is_lost()) {
            return Ok(());
        }
        self.member = None;
        let member = Member::start(&self.place, keep_copies, stop)
            .with_context(|| format!("generator {} does not start", self.name))?;
        self.host = member.peer.hello().clone();
        self.member = Some(member);
        Ok(())
    }
}

/// Sends the commands of a load, on the clock of the generator, until there are no more.
fn send_commands(
    commands: &mpsc::Receiver<Command>,
    sender: &Sender,
    load: u64,
    clock: ClockComparison,
) {
    for command in commands {
        let command = command.on_clock_of(clock.offset_ns);
        // One that is lost needs no commands.
        let _ = sender.send(&ToGenerator::Command { load, command });
    }
}
