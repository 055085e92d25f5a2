//! The result of a check: a code, a severity, a subject and figures. The report has the words for people.

use measure::Nanos;

/// A reason to trust a trial or a run less.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub code: Code,
    pub subject: Subject,
    /// Its figures by name; a name ends with the unit.
    pub values: Vec<(&'static str, Value)>,
}

/// What a finding makes of the trial that it is about, the most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Invalid: figures are missing, or are not those of the system under test.
    Invalid,
    /// Doubtful: figures may mislead.
    Doubtful,
    Note,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The run as a whole, and its machine.
    Run,
    Trial,
    Host(String),
    Generator(String),
    Server(String),
    Condition(String),
    Operations(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Count(u64),
    /// A small number, such as one of clients or of hardware threads.
    Small(u64),
    /// A difference of counts; negative when lower.
    Difference(i64),
    Number(f64),
    Percent(f64),
    PercentSet(f64),
    /// A part of a whole, 0 to 1.
    Part(f64),
    /// A change relative to the earlier value.
    Change(f64),
    Nanos(Nanos),
    /// A point on the trial's clock, ns.
    At(Nanos),
    /// A percentile, 0 to 100.
    Percentile(f64),
    Text(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The trial could not continue.
    Failed,
    /// The data was not what the workload needs, or could not be checked, before the load.
    DataNotVerified,
    /// The server that was started for the trial exited during the trial.
    Crashed,
    /// dyno or the machine crashed during the trial.
    Cut,
    /// A file of the trial's record is damaged.
    Damaged,
    /// The user ended the trial.
    Interrupted,
    NothingMeasured,
    /// Clients had lost the system, or no transaction succeeded, for a while.
    Outages,
    /// A server of the system exited before the end of the window, and the others went on.
    MemberExited,
    /// Connections broke while the system answered others.
    ConnectionsLost,
    /// The server closed connections that waited for the next transaction.
    IdleConnectionsClosed,
    /// Some clients left early, and the others had less competition.
    ClientsLeft,
    EveryClientLeft,
    /// Transactions failed for good.
    Failures,
    Retries,
    /// The load generator was nearly out of CPU, so the figures may be its own limit.
    ClientSaturated,
    /// An event loop of the load generator was nearly out of CPU for a second or more.
    ClientSaturatedBriefly,
    /// The load generator did not run for a while, so that latencies of that time are its own.
    GeneratorStalled,
    /// As [`Code::GeneratorStalled`], for so long that the figures are not those of the system.
    GeneratorStalledLong,
    /// One of several generators was lost before the end of the load.
    GeneratorLost,
    /// The clock of a generator's host is not known well enough, or moved, for its intervals to be those of the others.
    GeneratorClock,
    /// The clients or event loops of one generator got through far more or far less than those of the others.
    GeneratorsUneven,
    /// In an open loop, fewer transactions were answered than arrived.
    RateMissed,
    /// The load generator was late for its schedule, so that latencies include its own delay.
    GeneratorLate,
    /// Throughput and latency do not account for all clients.
    LittlesLaw,
    /// A condition on the data did not hold after the load.
    ConditionBroken,
    /// The answer to a query was not the known one.
    AnswerWrong,
    /// The answer to a query was not that of another system.
    AnswersDiffer,
    /// The workload did not keep the required mix.
    MixMissed,
    /// Response times were longer than the workload allows.
    LatencyLimitMissed,
    /// The load leaves the definition of its workload.
    WorkloadRemark,
    /// The system's settings, or what it did beside the load, have a part in the figures.
    SystemRemark,
    /// Clients were not served evenly.
    Unfair,
    /// Throughput drifted within the window.
    Trend,
    /// The mean latency drifted within the window.
    LatencyTrend,
    /// Throughput changed from one level to another within the window.
    Step,
    /// Throughput changed to its level in the first third of the window.
    WarmUpShort,
    Unsteady,
    /// The server counted more statements than dyno sent.
    OtherStatements,
    /// The server counted fewer statements than dyno sent.
    FewerStatements,
    /// The server counted more transactions than dyno's sessions and its own routine had, and others were connected.
    OtherTransactions,
    /// The server counted fewer transactions than dyno's sessions had.
    FewerTransactions,
    /// The load was not steady when the measuring began, though the warm-up was to last until it was.
    NeverSteady,
    /// A figure did not become as precise as the measuring was to make it.
    PrecisionMissed,
    /// Clients had waited for long for an answer when the load gave them up.
    StuckClients,
    /// Some requests were never answered. They count with the time that they had waited, a lower bound of their
    /// latency.
    Unfinished,
    /// Percentiles are known only from below.
    CensoredPercentiles,
    /// A percentile of all transactions up to the 99th is based on very few values.
    TooFewValues,
    /// A higher percentile, or one of a rarer operation, is based on very few values.
    FewValues,
    /// The measured window is too short for a rate.
    ShortWindow,
    /// The hypervisor took CPU.
    CpuStolen,
    /// Programs that are neither dyno nor the server took CPU.
    CpuUsedByOthers,
    /// One of several servers takes far more than its share of a load.
    LoadUneven,
    /// A member of the cluster has load and is not watched, although others are.
    MemberNotWatched,
    /// A server did not always answer when its metrics were read.
    ServerGaps,
    /// A server had never answered when the trial ended.
    ServerSilent,
    /// One of several servers that share a load was away when the trial ended, so the others had its part.
    ServerAway,
    ServerRestarted,
    /// Planned trials did not run.
    TrialsMissing,
    /// The CPU's clock rate may change.
    ClockRateVaries,
    MachineBusy,
    /// A baseline that every round measured twice differs from itself.
    BaselineDiffers,
    /// The first windows after each start differ from the later ones.
    FirstWindows,
    /// The record's copy of the plan is damaged.
    PlanDamaged,
}

impl Code {
    /// Every code, in the order of the declaration.
    pub const ALL: [Self; 64] = [
        Self::Failed,
        Self::DataNotVerified,
        Self::Crashed,
        Self::Cut,
        Self::Damaged,
        Self::Interrupted,
        Self::NothingMeasured,
        Self::Outages,
        Self::MemberExited,
        Self::ConnectionsLost,
        Self::IdleConnectionsClosed,
        Self::ClientsLeft,
        Self::EveryClientLeft,
        Self::Failures,
        Self::Retries,
        Self::ClientSaturated,
        Self::ClientSaturatedBriefly,
        Self::GeneratorStalled,
        Self::GeneratorStalledLong,
        Self::GeneratorLost,
        Self::GeneratorClock,
        Self::GeneratorsUneven,
        Self::RateMissed,
        Self::GeneratorLate,
        Self::LittlesLaw,
        Self::ConditionBroken,
        Self::AnswerWrong,
        Self::AnswersDiffer,
        Self::MixMissed,
        Self::LatencyLimitMissed,
        Self::WorkloadRemark,
        Self::SystemRemark,
        Self::Unfair,
        Self::Trend,
        Self::LatencyTrend,
        Self::Step,
        Self::WarmUpShort,
        Self::Unsteady,
        Self::OtherStatements,
        Self::FewerStatements,
        Self::OtherTransactions,
        Self::FewerTransactions,
        Self::NeverSteady,
        Self::PrecisionMissed,
        Self::StuckClients,
        Self::Unfinished,
        Self::CensoredPercentiles,
        Self::TooFewValues,
        Self::FewValues,
        Self::ShortWindow,
        Self::CpuStolen,
        Self::CpuUsedByOthers,
        Self::LoadUneven,
        Self::MemberNotWatched,
        Self::ServerGaps,
        Self::ServerSilent,
        Self::ServerAway,
        Self::ServerRestarted,
        Self::TrialsMissing,
        Self::ClockRateVaries,
        Self::MachineBusy,
        Self::BaselineDiffers,
        Self::FirstWindows,
        Self::PlanDamaged,
    ];

    /// Every code that makes a trial or a run doubtful.
    pub fn doubts() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|code| code.severity() == Severity::Doubtful)
    }

    pub fn name(self) -> &'static str {
        self.row().0
    }

    pub fn severity(self) -> Severity {
        self.row().1
    }

    const fn row(self) -> (&'static str, Severity) {
        use Severity::{Doubtful, Invalid, Note};
        match self {
            Self::Failed => ("failed", Invalid),
            Self::DataNotVerified => ("data-not-verified", Invalid),
            Self::Crashed => ("crashed", Invalid),
            Self::Cut => ("cut", Invalid),
            Self::Damaged => ("damaged", Invalid),
            Self::Interrupted => ("interrupted", Doubtful),
            Self::NothingMeasured => ("nothing-measured", Invalid),
            Self::Outages => ("outages", Doubtful),
            Self::MemberExited => ("member-exited", Doubtful),
            Self::ConnectionsLost => ("connections-lost", Doubtful),
            Self::IdleConnectionsClosed => ("idle-connections-closed", Note),
            Self::ClientsLeft => ("clients-left", Invalid),
            Self::EveryClientLeft => ("every-client-left", Invalid),
            Self::Failures => ("failures", Doubtful),
            Self::Retries => ("retries", Note),
            Self::ClientSaturated => ("client-saturated", Invalid),
            Self::ClientSaturatedBriefly => ("client-saturated-briefly", Doubtful),
            Self::GeneratorStalled => ("generator-stalled", Doubtful),
            Self::GeneratorStalledLong => ("generator-stalled", Invalid),
            Self::GeneratorLost => ("generator-lost", Doubtful),
            Self::GeneratorClock => ("generator-clock", Doubtful),
            Self::GeneratorsUneven => ("generators-uneven", Doubtful),
            Self::RateMissed => ("rate-missed", Doubtful),
            Self::GeneratorLate => ("generator-late", Doubtful),
            Self::LittlesLaw => ("littles-law", Doubtful),
            Self::ConditionBroken => ("condition-broken", Invalid),
            Self::AnswerWrong => ("answer-wrong", Invalid),
            Self::AnswersDiffer => ("answers-differ", Invalid),
            Self::MixMissed => ("mix-missed", Doubtful),
            Self::LatencyLimitMissed => ("latency-limit-missed", Doubtful),
            Self::WorkloadRemark => ("workload-remark", Note),
            Self::SystemRemark => ("system-remark", Note),
            Self::Unfair => ("unfair", Doubtful),
            Self::Trend => ("trend", Doubtful),
            Self::LatencyTrend => ("latency-trend", Doubtful),
            Self::Step => ("step", Doubtful),
            Self::WarmUpShort => ("warm-up-short", Doubtful),
            Self::Unsteady => ("unsteady", Doubtful),
            Self::NeverSteady => ("never-steady", Doubtful),
            Self::PrecisionMissed => ("precision-missed", Note),
            Self::OtherStatements => ("other-statements", Doubtful),
            Self::FewerStatements => ("fewer-statements", Doubtful),
            Self::OtherTransactions => ("other-transactions", Doubtful),
            Self::FewerTransactions => ("fewer-transactions", Doubtful),
            Self::StuckClients => ("stuck-clients", Doubtful),
            Self::Unfinished => ("unfinished", Doubtful),
            Self::CensoredPercentiles => ("censored-percentiles", Doubtful),
            Self::TooFewValues => ("few-values", Doubtful),
            Self::FewValues => ("few-values", Note),
            Self::ShortWindow => ("short-window", Doubtful),
            Self::CpuStolen => ("cpu-stolen", Doubtful),
            Self::CpuUsedByOthers => ("cpu-used-by-others", Doubtful),
            Self::LoadUneven => ("load-uneven", Note),
            Self::MemberNotWatched => ("member-not-watched", Note),
            Self::ServerGaps => ("server-gaps", Note),
            Self::ServerSilent => ("server-silent", Note),
            Self::ServerAway => ("server-away", Doubtful),
            Self::ServerRestarted => ("server-restarted", Doubtful),
            Self::TrialsMissing => ("trials-missing", Invalid),
            Self::ClockRateVaries => ("clock-rate-varies", Note),
            Self::MachineBusy => ("machine-busy", Doubtful),
            Self::BaselineDiffers => ("baseline-differs", Doubtful),
            Self::FirstWindows => ("first-windows", Doubtful),
            Self::PlanDamaged => ("plan-damaged", Note),
        }
    }
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Doubtful => "doubtful",
            Self::Note => "note",
        }
    }
}

impl Subject {
    /// Kind and name of the subject; the name is empty when it has none.
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Run => ("run", ""),
            Self::Trial => ("trial", ""),
            Self::Host(name) => ("host", name),
            Self::Generator(name) => ("generator", name),
            Self::Server(name) => ("server", name),
            Self::Condition(name) => ("condition", name),
            Self::Operations(name) => ("operations", name),
        }
    }
}

impl Finding {
    /// A finding about the trial as a whole.
    pub(crate) fn new(code: Code) -> Self {
        Self::about(Subject::Trial, code)
    }

    pub(crate) fn about(subject: Subject, code: Code) -> Self {
        Self { code, subject, values: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: Value) -> Self {
        self.values.push((name, value));
        self
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_in_the_list() {
        let source = include_str!("finding.rs");
        let of = |severity: &str| source.matches(&format!("\", {severity}),\n")).count();
        assert_eq!(Code::ALL.len(), of("Invalid") + of("Doubtful") + of("Note"));
        assert!(Code::ALL.iter().enumerate().all(|(at, code)| *code as usize == at));
    }
}
