//! What passes between the process of a run and its generators.

use engine::{Command, Part, Report};
use measure::{ConnectionsReading, Generator, Nanos, TcpCounters};
use record::ClientUsage;
use runner::{STALLS_MAX, ToldConnections};
use serde::{Deserialize, Serialize};

use crate::job::GeneratorJob;

/// To a generator. Each load has a number, so that nothing of one load is taken for that of the next.
#[derive(Serialize, Deserialize)]
pub(crate) enum ToGenerator {
    /// Offer a part of a load.
    Job {
        load: u64,
        part: Part,
        job: Box<GeneratorJob>,
    },
    Command {
        load: u64,
        command: Command,
    },
}

#[derive(Serialize, Deserialize)]
pub(crate) enum FromGenerator {
    /// A report on a load.
    Report { load: u64, report: Report },
    /// What its kernel counts of its connections to the system.
    Connections { load: u64, told: Result<ToldReading, String> },
    /// What the generator has seen of itself, before its last report.
    Watched { load: u64, watched: Box<Watched> },
}

/// What a generator has seen of itself during a load.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Watched {
    /// Whether its threads ran; `None` when it did not begin.
    pub(crate) generator: Option<Generator>,
    pub(crate) usage: Option<ClientUsage>,
}

impl Watched {
    /// Why a generator cannot have seen this of itself.
    pub(crate) fn fault(&self) -> Option<String> {
        let stalls = &self.generator.as_ref()?.stalls;
        let have_lengths = stalls.iter().all(|stall| stall.start_ns < stall.end_ns);
        let are_in_order = stalls.is_sorted_by(|one, next| one.end_ns <= next.start_ns);
        let is_wrong = stalls.len() > STALLS_MAX || !have_lengths || !are_in_order;
        is_wrong
            .then(|| "it reported times in which it did not run that are not in order".to_owned())
    }
}

/// A reading of connections. In the form of the record fields are left out, which a reader of this one cannot know.
#[derive(Serialize, Deserialize)]
pub(crate) struct ToldReading {
    at_ns: Nanos,
    open: u64,
    ended: u64,
    ended_unreported: u64,
    counters: TcpCounters,
    round_trip_ns: Option<Nanos>,
    is_last: bool,
}

impl FromGenerator {
    pub(crate) fn connections(load: u64, told: ToldConnections) -> Self {
        let told = told.map(|(reading, is_last)| {
            let ConnectionsReading { at_ns, open, ended, ended_unreported, .. } = reading;
            let ConnectionsReading { counters, round_trip_ns, .. } = reading;
            ToldReading { at_ns, open, ended, ended_unreported, counters, round_trip_ns, is_last }
        });
        Self::Connections { load, told }
    }
}

impl ToldReading {
    pub(crate) fn reading(self) -> (ConnectionsReading, bool) {
        let Self { at_ns, open, ended, ended_unreported, counters, round_trip_ns, is_last } = self;
        let reading =
            ConnectionsReading { at_ns, open, ended, ended_unreported, counters, round_trip_ns };
        (reading, is_last)
    }
}

#[cfg(test)]
mod tests {
    use measure::GeneratorStall;

    use super::*;

    #[test]
    fn times_in_which_a_generator_did_not_run_are_in_order_and_few() {
        let fault = |times: Vec<(Nanos, Nanos)>| {
            let stall = |(start_ns, end_ns)| GeneratorStall { start_ns, end_ns };
            let stalls = times.into_iter().map(stall).collect();
            let generator = Some(Generator { stalls, ..Generator::default() });
            Watched { generator, usage: None }.fault()
        };
        assert_eq!(Watched::default().fault(), None);
        assert_eq!(fault(vec![(1, 2), (2, 5), (7, 8)]), None);
        for times in [vec![(2, 2)], vec![(2, 1)], vec![(1, 3), (2, 5)], vec![(5, 6), (1, 2)]] {
            assert!(fault(times.clone()).is_some(), "{times:?}");
        }
        let many = |count: u64| (0..count).map(|at| (2 * at, 2 * at + 1)).collect();
        assert_eq!(fault(many(STALLS_MAX as u64)), None);
        assert!(fault(many(STALLS_MAX as u64 + 1)).is_some());
    }

    #[test]
    fn readings_are_the_same_on_the_other_side_also_without_a_round_trip() {
        let counters =
            TcpCounters { segments_sent: 7, bytes_received: 9, ..TcpCounters::default() };
        let with = |round_trip_ns| ConnectionsReading {
            at_ns: 5,
            open: 4,
            ended: 3,
            counters,
            round_trip_ns,
            ..ConnectionsReading::default()
        };
        for told in [Ok((with(None), false)), Ok((with(Some(8)), true)), Err("why".to_owned())] {
            let message = FromGenerator::connections(2, told.clone());
            let bytes = postcard::to_stdvec(&message).unwrap();
            let FromGenerator::Connections { load, told: came } =
                postcard::from_bytes(&bytes).unwrap()
            else {
                panic!("another message");
            };
            assert_eq!((load, came.map(ToldReading::reading)), (2, told));
        }
    }
}
