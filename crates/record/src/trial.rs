//! One trial in the record.

use std::time::Duration;

use jiff::Timestamp;
use measure::{
    Ceiling, Condition, DecidedEnds, Edges, Failure, FailureExamples, Generator, Identity,
    Interval, LatencyHistogram, LoadedRows, MemberExit, Nanos, Operation, OperationTally, Outage,
    Phase, QueryPlan, Rules, Tally, TimedTurn, TrialStatus, Watched, Why,
};
use plan::{Arrivals, Rate};
use serde::{Deserialize, Serialize};

use crate::file_names::TRIAL;
use crate::values::{arrivals, is_default, loaded_rows, nanos, steps};
use crate::{ClientUsage, CrossCheck, Damage, GeneratorRecord, IntervalRecord};

/// The facts about a trial that are known before it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialHeader {
    /// Its position in the run, from 0.
    pub index: usize,
    pub system: String,
    /// The variant, if the system is one of several that are compared.
    pub variant: Option<VariantRecord>,
    pub identity: Identity,
    /// Whether the system runs inside this process, so that the client's CPU time counts its work.
    pub is_embedded: bool,
    pub workload: WorkloadRecord,
    /// The operations that are timed, in the order of every tally.
    pub operations: Vec<Operation>,
    pub clients: usize,
    pub repetition: u32,
    pub load: LoadRecord,
    /// Its place in a seek; `None` when the loads of the run are fixed.
    pub probe: Option<ProbeRecord>,
    /// Its window, from 0, where the load alternates between variants that are all up; `None` for other trials, and for
    /// the windows of a round together.
    pub window: Option<u32>,
    /// Names of the other systems of the plan that were up, idle, during the load.
    pub beside: Vec<String>,
}

/// The place of a trial in a seek.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// Its number in the seek, from 0.
    pub number: usize,
    /// Whether it is a longer trial that confirms the capacity.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_confirming: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantRecord {
    pub of: String,
    pub name: String,
    /// Its position among the variants in the plan, from 0; the others are compared with the first.
    pub place: usize,
    /// Whether it is the first variant once more: how far the two differ is the noise floor.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_baseline_again: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkloadRecord {
    pub name: String,
    /// Kind of workload, such as `sysbench/oltp_read_write`.
    pub kind: String,
    /// Its options in a sentence, such as `4 tables of 100,000 rows, special distribution`.
    pub description: String,
    /// Its own figures and the mix that it must keep.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rules: Rules,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// In a sentence, such as `closed loop, 10 s after 2 s of warm-up`.
    pub description: String,
    pub threads: usize,
    /// Pause of a client between transactions, Z in Little's law.
    #[serde(rename = "think_time_ns", with = "nanos")]
    pub think_time: Duration,
    #[serde(rename = "interval_ns", with = "nanos")]
    pub interval: Duration,
    /// The CPUs that its threads may use; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<usize>,
    /// The schedule of arrivals; `None` in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenRecord>,
    /// How clients call a service; `None` when the system is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallsRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallsRecord {
    /// The method; `None` where the protocol has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    pub connections: usize,
    /// How long a client waits for an answer, ns; `None` without a bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ns: Option<Nanos>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenRecord {
    /// Mean rate over the measured time as planned, arrivals a second.
    pub rate_per_s: f64,
    /// Distribution of the arrivals around their rate.
    #[serde(with = "arrivals")]
    pub arrivals: Arrivals,
    /// Number of arrivals that may wait for a client before the trial counts as overloaded.
    pub backlog_max: u64,
    /// Rates over the measured time; the warm-up uses the first rate.
    #[serde(rename = "steps", with = "steps")]
    pub rate: Rate,
}

/// When a phase began and how long it took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseRecord {
    pub phase: Phase,
    /// When it began, by the wall clock.
    pub started: Timestamp,
    /// How long it took, by the monotonic clock.
    #[serde(rename = "duration_ns", with = "nanos")]
    pub duration: Duration,
    /// Batches that were loaded again because their connection was lost.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loaded_again: u64,
    /// Rows that the phase loaded; `None` when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "loaded_rows")]
    pub loaded: Option<LoadedRows>,
    /// What a reader of the results must know of the data, as the phase has found it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub remarks: Vec<String>,
}

/// The facts about a trial that are known at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialEnd {
    pub status: TrialStatus,
    /// When the measured load began, by the wall clock; `None` when it never did.
    pub measure_started: Option<Timestamp>,
    /// When the measured load ended, by the wall clock; `None` when it never began.
    pub measure_ended: Option<Timestamp>,
    /// Each client in order; empty when the load never began.
    pub clients: Vec<ClientRecord>,
    /// One failed transaction of each class and code, tried again or not.
    pub failures: FailureExamples,
    /// When each transaction ran, in the order of their starts; empty unless the workload has so few that each is
    /// kept.
    pub turns: Vec<TimedTurn>,
    /// What crosses the edges of the measured window.
    pub edges: Edges,
    /// Delay of the load generator in an open loop: from the intended to the actual start of measured
    /// transactions for which an idle client was waiting.
    pub lateness: LatencyHistogram,
    /// In an open loop, the delay from the intended to the actual start of all transactions that were due in the window
    /// and were sent, the wait for a client included.
    pub start_delays: LatencyHistogram,
    /// Round trips of the smallest statement before the load, when every client was connected and idle; empty
    /// when not known.
    pub idle_round_trips: LatencyHistogram,
    /// Statements that the server and dyno counted; `None` when the system does not report them.
    pub cross_check: Option<CrossCheck>,
    /// CPU and memory use of the load generator during the measured load; `None` when not known.
    pub usage: Option<ClientUsage>,
    /// The processes that offered the load, which together have the figures above; empty in virtual time, and when
    /// nothing is known of them.
    pub generators: Vec<GeneratorRecord>,
    /// How the phases ended that may end by what is measured.
    pub decided_ends: DecidedEnds,
    /// The phase before the load that failed and ended the trial; `None` when none did.
    pub failed_phase: Option<Phase>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRecord {
    /// Measured transactions that succeeded.
    pub events: u64,
    /// Why the client left early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TrialRecord {
    pub header: TrialHeader,
    /// Its phases in the order in which they ended.
    pub phases: Vec<PhaseRecord>,
    /// Its intervals in order, warm-up included.
    pub intervals: Vec<IntervalRecord>,
    /// All measured intervals added up, every operation with its histograms.
    pub total: Tally,
    /// The watched data; empty when nothing was watched.
    pub watched: Watched,
    /// Times in which clients had lost the system or no transaction succeeded, as far as they are known.
    pub outages: Vec<Outage>,
    /// Members of the system that exited, and without which it went on, in the order of their exits.
    pub member_exits: Vec<MemberExit>,
    /// Results of the checks of conditions on the data after the load; empty when there are no conditions, or
    /// they were not checked.
    pub conditions: Vec<Condition>,
    /// What the path to the system carried after the load; `None` when it was not measured.
    pub ceiling: Option<Ceiling>,
    /// The experiment for what holds the system back; `None` when there was none.
    pub why: Option<Why>,
    /// The plans of the load's queries; empty when the workload keeps none.
    pub plans: Vec<QueryPlan>,
    /// The facts from the end of the trial; `None` when the trial was cut short or still runs.
    pub end: Option<TrialEnd>,
    /// Why the trial could not be read to its end; the rest of it is what could be read.
    pub damage: Option<Damage>,
    /// The windows that this trial is made of, in the order in which they ran, where a view has put them together;
    /// empty as it is read. The times of the trial are those of its measured windows, one directly after the other.
    pub windows: Vec<TrialRecord>,
}

impl TrialEnd {
    /// The end of a trial whose load never began, with the reason.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self {
            status: TrialStatus::Failed(reason.into()),
            measure_started: None,
            measure_ended: None,
            clients: Vec::new(),
            failures: FailureExamples::default(),
            turns: Vec::new(),
            edges: Edges::default(),
            lateness: LatencyHistogram::new(),
            start_delays: LatencyHistogram::new(),
            idle_round_trips: LatencyHistogram::new(),
            cross_check: None,
            usage: None,
            generators: Vec::new(),
            decided_ends: DecidedEnds::default(),
            failed_phase: None,
        }
    }

    /// Whether the threads of the run's own process ran, where that process offered the whole load; `None` when that is
    /// not known, too.
    pub fn lone_generator(&self) -> Option<&Generator> {
        match self.generators.as_slice() {
            [only] if only.is_lone() => only.generator.as_ref(),
            _ => None,
        }
    }

    /// The generators with a part of the load each; empty where the process of the run offered the whole.
    pub fn generator_parts(&self) -> &[GeneratorRecord] {
        match self.generators.as_slice() {
            [only] if only.is_lone() => &[],
            parts => parts,
        }
    }
}

impl TrialRecord {
    /// Whether it is a probe of a seek that has a result. A trial that did not run to its end or is damaged has none, and
    /// neither has one that could not begin: it has no operations, and shows nothing of the system under load.
    pub fn is_probe_result(&self) -> bool {
        let has_ended = |end: &TrialEnd| end.status != TrialStatus::Interrupted;
        let has_begun = !self.header.operations.is_empty();
        let is_whole = self.damage.is_none() && self.end.as_ref().is_some_and(has_ended);
        self.header.probe.is_some() && has_begun && is_whole
    }

    pub fn new(header: TrialHeader) -> Self {
        let total = Tally::new(header.operations.len());
        Self {
            header,
            phases: Vec::new(),
            intervals: Vec::new(),
            total,
            watched: Watched::default(),
            outages: Vec::new(),
            member_exits: Vec::new(),
            conditions: Vec::new(),
            ceiling: None,
            why: None,
            plans: Vec::new(),
            end: None,
            damage: None,
            windows: Vec::new(),
        }
    }

    /// Whether its trial.json cannot be read, so that its system, workload and load are not known.
    pub fn is_unknown(&self) -> bool {
        self.damage.as_ref().is_some_and(|damage| damage.file == TRIAL)
    }

    /// The trial of a place in the run whose trial.json cannot be read.
    pub(crate) fn unknown(index: usize) -> Self {
        let unknown = || "unknown".to_owned();
        Self::new(TrialHeader {
            index,
            system: unknown(),
            variant: None,
            identity: Identity::default(),
            is_embedded: false,
            workload: WorkloadRecord { name: unknown(), ..WorkloadRecord::default() },
            operations: Vec::new(),
            clients: 0,
            repetition: 0,
            load: LoadRecord::default(),
            probe: None,
            window: None,
            beside: Vec::new(),
        })
    }

    /// Adds the next interval.
    ///
    /// # Panics
    /// When the interval has other operations than the header.
    pub fn add(&mut self, interval: &Interval) {
        self.add_shared(interval, Vec::new());
    }

    /// Adds the next interval with the transactions of each of several generators.
    ///
    /// # Panics
    /// As [`TrialRecord::add`].
    pub fn add_shared(&mut self, interval: &Interval, generators: Vec<u64>) {
        if interval.phase == Phase::Measure {
            self.total.merge(&interval.tally);
        }
        let mut record = IntervalRecord::new(interval, &self.header.operations);
        record.generators = generators;
        match self.earlier_part(&record) {
            Some(earlier) => earlier.merge(&record),
            None => self.intervals.push(record),
        }
    }

    /// The interval that this is another part of: one of the same times, which was written before all workers had
    /// closed it.
    fn earlier_part(&mut self, part: &IntervalRecord) -> Option<&mut IntervalRecord> {
        if self.intervals.last().is_none_or(|last| last.end_ns <= part.start_ns) {
            return None;
        }
        let at = self.intervals.partition_point(|before| before.start_ns < part.start_ns);
        self.intervals.get_mut(at).filter(|it| it.start_ns == part.start_ns)
    }

    /// Whether the trial ran to its end and can be read to its end. A probe whose load was too high for the system
    /// has run to its end.
    pub fn is_done(&self) -> bool {
        if self.damage.is_some() {
            return false;
        }
        match self.end.as_ref().map(|end| &end.status) {
            Some(TrialStatus::Complete) => true,
            Some(TrialStatus::Failed(_)) => self.header.probe.is_some(),
            _ => false,
        }
    }

    pub fn measured(&self) -> impl Iterator<Item = &IntervalRecord> {
        self.intervals.iter().filter(|interval| interval.phase == Phase::Measure)
    }

    /// Length of the measured window, s.
    pub fn seconds(&self) -> f64 {
        self.measured().fold(0.0, |sum, interval| sum + interval.seconds())
    }

    /// The operations that were due in the measured window, with those that ended after it.
    pub fn due(&self) -> Vec<OperationTally> {
        match &self.end {
            Some(end) => end.edges.due(&self.total),
            None => self.total.operations.clone(),
        }
    }
}
