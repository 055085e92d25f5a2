//! What a check found: a code, how much it matters, what it is about, and its figures. The words for people
//! are the report's.

use measure::Nanos;

/// Something that a reader must know before trusting a trial or a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What was found.
    pub code: Code,
    /// What it is about.
    pub subject: Subject,
    /// Its figures by name; a unit stands last in the name.
    pub values: Vec<(&'static str, Value)>,
}

/// How much a finding takes from the figures, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Figures are missing, or not those of the system under test.
    Error,
    /// Figures may mislead.
    Warning,
    /// Figures hold, with something to know beside them.
    Note,
}

/// What a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The run as a whole, and the machine that it ran on.
    Run,
    /// A trial.
    Trial,
    /// A host, by its name.
    Host(String),
    /// A server, by its name.
    Server(String),
    /// A condition on the data, by its name.
    Condition(String),
    /// Operations that must have a share of the mix, by their name.
    Operations(String),
}

/// One figure of a finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// How many.
    Count(u64),
    /// A small number, such as one of clients or of hardware threads.
    Small(u64),
    /// How many more; negative when fewer.
    Difference(i64),
    /// Any number.
    Number(f64),
    /// A number of percent, as it was measured.
    Percent(f64),
    /// A number of percent, as someone has set it.
    PercentSet(f64),
    /// A part of a whole, 0 to 1.
    Part(f64),
    /// A change as a part of what was before.
    Change(f64),
    /// A length of time.
    Nanos(Nanos),
    /// A percentile, 0 to 100.
    Percentile(f64),
    /// A text.
    Text(String),
}

/// Everything that a check may find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The trial could not go on.
    Failed,
    /// The server that was started for the trial ended while it ran.
    Crashed,
    /// dyno or the machine went down while the trial ran.
    Cut,
    /// Someone asked for the trial's end.
    Interrupted,
    /// Nothing succeeded.
    NothingMeasured,
    /// Clients had lost the system for a while.
    Outages,
    /// Some clients left early, and the rest had the server to themselves.
    ClientsLeft,
    /// All clients left early.
    EveryClientLeft,
    /// Transactions were given up.
    Failures,
    /// Transactions were tried again.
    Retries,
    /// The load generator was nearly out of CPU, so the figures may be its own limit.
    ClientSaturated,
    /// Less was answered than was offered in an open loop.
    RateMissed,
    /// The load generator did not keep to its schedule, so that latencies are partly its own.
    GeneratorLate,
    /// Throughput and latency do not account for the clients that were there.
    LittlesLaw,
    /// A condition on the data did not hold after the load.
    ConditionBroken,
    /// The workload did not keep the mix that it must keep.
    MixMissed,
    /// Clients were not served evenly.
    Unfair,
    /// Throughput drifted within the window.
    Trend,
    /// Throughput went up and down.
    Unsteady,
    /// The server counted more statements than dyno sent.
    OtherStatements,
    /// The server counted fewer statements than dyno sent.
    FewerStatements,
    /// Requests were never answered: they count at the time that they had waited, and would have taken longer.
    Unfinished,
    /// A percentile rests on very few values.
    FewValues,
    /// The hypervisor took CPU.
    CpuStolen,
    /// Programs that are neither dyno nor the server took CPU.
    CpuUsedByOthers,
    /// One of several servers takes far more than its share of a load.
    LoadUneven,
    /// A member of the cluster takes load and is not watched, though others are.
    MemberNotWatched,
    /// A server did not always answer when it was asked for its metrics.
    ServerGaps,
    /// A server had not answered at all when the trial ended.
    ServerSilent,
    /// Planned trials did not run.
    TrialsMissing,
    /// The CPU may change its clock rate.
    ClockRateVaries,
    /// The machine was busy before the run.
    MachineBusy,
}

impl Code {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// How much it takes from the figures.
    pub fn severity(self) -> Severity {
        self.row().1
    }

    const fn row(self) -> (&'static str, Severity) {
        use Severity::{Error, Note, Warning};
        match self {
            Self::Failed => ("failed", Error),
            Self::Crashed => ("crashed", Error),
            Self::Cut => ("cut", Error),
            Self::Interrupted => ("interrupted", Warning),
            Self::NothingMeasured => ("nothing-measured", Error),
            Self::Outages => ("outages", Warning),
            Self::ClientsLeft => ("clients-left", Error),
            Self::EveryClientLeft => ("every-client-left", Error),
            Self::Failures => ("failures", Warning),
            Self::Retries => ("retries", Note),
            Self::ClientSaturated => ("client-saturated", Error),
            Self::RateMissed => ("rate-missed", Warning),
            Self::GeneratorLate => ("generator-late", Warning),
            Self::LittlesLaw => ("littles-law", Warning),
            Self::ConditionBroken => ("condition-broken", Error),
            Self::MixMissed => ("mix-missed", Warning),
            Self::Unfair => ("unfair", Warning),
            Self::Trend => ("trend", Warning),
            Self::Unsteady => ("unsteady", Warning),
            Self::OtherStatements => ("other-statements", Warning),
            Self::FewerStatements => ("fewer-statements", Warning),
            Self::Unfinished => ("unfinished", Warning),
            Self::FewValues => ("few-values", Note),
            Self::CpuStolen => ("cpu-stolen", Warning),
            Self::CpuUsedByOthers => ("cpu-used-by-others", Warning),
            Self::LoadUneven => ("load-uneven", Warning),
            Self::MemberNotWatched => ("member-not-watched", Warning),
            Self::ServerGaps => ("server-gaps", Warning),
            Self::ServerSilent => ("server-silent", Warning),
            Self::TrialsMissing => ("trials-missing", Error),
            Self::ClockRateVaries => ("clock-rate-varies", Note),
            Self::MachineBusy => ("machine-busy", Warning),
        }
    }
}

impl Severity {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

impl Subject {
    /// What it is, and its name; empty of what has none.
    pub fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Run => ("run", ""),
            Self::Trial => ("trial", ""),
            Self::Host(name) => ("host", name),
            Self::Server(name) => ("server", name),
            Self::Condition(name) => ("condition", name),
            Self::Operations(name) => ("operations", name),
        }
    }
}

impl Finding {
    /// About the trial as a whole.
    pub(crate) fn new(code: Code) -> Self {
        Self::about(Subject::Trial, code)
    }

    pub(crate) fn about(subject: Subject, code: Code) -> Self {
        Self { code, subject, values: Vec::new() }
    }

    /// The same with a figure.
    pub(crate) fn with(mut self, name: &'static str, value: Value) -> Self {
        self.values.push((name, value));
        self
    }

    /// A figure by its name.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}
