//! Properties of what generators send that hold for any bytes.

use std::sync::mpsc;

use engine::{FromGenerator as EngineMessage, Part};
use measure::{ClockComparison, HostFacts, Operation, OperationKind};
use runner::{KnownGenerators, STALLS_MAX};

use crate::member::Sink;
use crate::message::FromGenerator;

fuzzing::targets! {
    generator_messages: messages;
}

const LOAD: u64 = 2;
const GENERATORS: usize = 2;

/// A message that is written as it was read is the same. Only what is of the load in progress counts: each report of it is
/// passed on once, and so is the loss of a generator that tells nonsense. What is known of the generators is bounded and in
/// order. Each message has the number of its generator before it.
fn messages(bytes: &[u8]) {
    let known = KnownGenerators::default();
    let (reports, passed_on) = mpsc::channel();
    let sink = |(generator, part): (usize, &Part)| {
        let facts = (&HostFacts::default(), None, ClockComparison::default());
        known.add("g", facts, (part, generator..generator + 1), 1);
        Sink { load: LOAD, generator, reports: reports.clone(), known: known.clone() }
    };
    let sinks: Vec<Sink> = Part::divide(&[1; GENERATORS]).iter().enumerate().map(sink).collect();
    for (number, message) in read(bytes) {
        let written = postcard::to_stdvec(&(number, &message)).expect("a message has a form");
        let again = read(&written).next().expect("what was written is read");
        assert_eq!(postcard::to_stdvec(&again), Ok(written), "it is not written as it was read");
        let before = format!("{known:?}");
        let (is_of_load, is_report) = match &message {
            FromGenerator::Report { load, .. } => (*load == LOAD, true),
            FromGenerator::Connections { load, .. } | FromGenerator::Watched { load, .. } => {
                (*load == LOAD, false)
            }
        };
        let generator = usize::from(number) % GENERATORS;
        sinks[generator].take(message);
        let passed_on: Vec<(usize, EngineMessage)> = passed_on.try_iter().collect();
        let reports = passed_on.iter().filter(|it| matches!(it.1, EngineMessage::Report(_)));
        assert_eq!(reports.count(), usize::from(is_of_load && is_report));
        assert!(passed_on.iter().all(|(from, _)| *from == generator), "of another generator");
        let is_of_known = passed_on.is_empty() && is_of_load;
        assert!(is_of_known || format!("{known:?}") == before, "it is known all the same");
    }
    check(&known);
}

/// The messages until the bytes are none, each with the number of its generator.
fn read(mut bytes: &[u8]) -> impl Iterator<Item = (u8, FromGenerator)> {
    std::iter::from_fn(move || {
        let (message, rest) = postcard::take_from_bytes(bytes).ok()?;
        bytes = rest;
        Some(message)
    })
}

/// What is made of what is known, after the load.
fn check(known: &KnownGenerators) {
    let stalls = known.own_stalls();
    assert!(stalls.len() <= GENERATORS * STALLS_MAX, "{} times", stalls.len());
    assert!(stalls.iter().all(|stall| stall.start_ns < stall.end_ns), "{stalls:?}");
    assert!(stalls.is_sorted_by(|one, next| one.end_ns <= next.start_ns), "{stalls:?}");
    let operations = [Operation::new("event", OperationKind::Transaction)];
    let records = known.records(&operations);
    assert_eq!(records.len(), GENERATORS);
    let memory = records.iter().filter_map(|one| Some(one.usage?.peak_rss_bytes)).max();
    if let Some(usage) = known.usage() {
        assert_eq!(Some(usage.peak_rss_bytes), memory, "the memory is that of no generator");
    }
    if let Some(Ok(reading)) = known.connections() {
        assert!(reading.round_trip_ns.is_none() || reading.open > 0, "a mean of no connections");
    }
}
