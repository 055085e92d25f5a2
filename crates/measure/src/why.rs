//! What an experiment for the limit of a system recorded: small slow-downs that were switched on and off, and the
//! rate of transactions meanwhile.

use serde::{Deserialize, Serialize};

use crate::{Nanos, Profile};

/// The most servers of a system that are slowed down each on its own.
pub const MEMBERS_MAX: usize = 8;

/// A slow-down that dyno can switch on and off while load runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lever {
    /// Nothing at all: what seems to respond to it is noise.
    Null,
    /// A wait of the client before a transaction.
    Before,
    /// A wait of the client after each answer that leaves its transaction open.
    Inside,
    /// Work on dyno's own event loop before a transaction.
    ClientCpu,
    /// Interrupts of the server's threads while they run, so that all its work takes longer; of a server that they cannot
    /// reach, a statement before a transaction that works there.
    ServerCpu,
    /// A wait of the server before each flush of a file to the disk.
    Flush,
    /// Some of the clients pause.
    Clients,
    /// The server may use one core fewer.
    Cores,
    /// Statements of the plan take a cost away.
    Toggle,
    /// A statement before a transaction sleeps in the server.
    ServerSleep,
    /// The interrupts of [`Lever::ServerCpu`] in one server of several alone: its place in [`Why::members`].
    Member(u8),
}

impl Lever {
    /// The lever's bit in a [`WhyWindow::setting`]; none of a member that a record cannot have.
    pub fn bit(self) -> u32 {
        let place = match self {
            Self::Null => 0,
            Self::Before => 1,
            Self::Inside => 2,
            Self::ClientCpu => 3,
            Self::ServerCpu => 4,
            Self::Flush => 5,
            Self::Clients => 6,
            Self::Cores => 7,
            Self::Toggle => 8,
            Self::ServerSleep => 9,
            Self::Member(number) => 10 + u32::from(number),
        };
        1_u32.checked_shl(place).unwrap_or(0)
    }
}

/// One of several servers of a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhyMember {
    pub name: String,
    /// Cores that it kept busy before any slow-down was its own; `None` where that is not known.
    pub busy: Option<f64>,
    /// Why it has no slow-down of its own; `None` for one that has.
    pub left_out: Option<String>,
}

/// A lever that was used, with its size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsedLever {
    pub lever: Lever,
    /// Of a wait its length, of the client's work its CPU time, of the server's the time between two interrupts, ns;
    /// how many clients pause; how many cores the server keeps.
    pub size: u64,
    /// One of so many transactions of each client gets it; 1 for all.
    pub every: u32,
}

/// A lever that could not be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnusedLever {
    pub lever: Lever,
    pub reason: String,
}

/// What was counted in one window of the experiment, behind the part at its begin that is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhyWindow {
    /// The cycle of all settings to which it belongs.
    pub cycle: u32,
    /// The levers that were on, a bit each.
    pub setting: u32,
    pub counted_ns: Nanos,
    /// Transactions that succeeded.
    pub transactions: u64,
    /// Those of them in about the first half of the counted time, and how long that was.
    #[serde(default)]
    pub first_half: u64,
    #[serde(default)]
    pub first_half_ns: Nanos,
    /// Transactions that failed.
    pub failed: u64,
    /// Times that transactions took, summed, ns.
    pub busy_ns: Nanos,
    /// How long waits of [`Lever::Before`] were to last, summed, ns.
    pub before_ns: Nanos,
    /// The same of [`Lever::Inside`].
    pub inside_ns: Nanos,
    /// The same of [`Lever::Flush`].
    pub flush_ns: Nanos,
    /// How long statements of [`Lever::ServerCpu`] were to work in the server, summed, ns.
    #[serde(default)]
    pub work_ns: Nanos,
    /// How long those of [`Lever::ServerSleep`] were to sleep there, summed, ns.
    #[serde(default)]
    pub asleep_ns: Nanos,
    /// Time between the two readings of the clocks of CPU time, which may be a little late, ns.
    pub cpu_clock_ns: Nanos,
    /// CPU time of dyno between them, ns.
    pub client_cpu_ns: Nanos,
    /// CPU time of the server between them, ns; `None` where it is not known.
    pub server_cpu_ns: Option<Nanos>,
    /// CPU time of each of [`Why::members`] that has a slow-down of its own, between them, ns.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub member_cpu_ns: [Nanos; MEMBERS_MAX],
    /// CPU time of the whole machine between them, other programs included, ns; `None` where it is not known.
    pub host_cpu_ns: Option<Nanos>,
    /// Flushes that the server asked for between them; `None` where they are not seen.
    pub flushes: Option<u64>,
    /// A lever was switched so late that the counted part has none or both of its states.
    pub is_late: bool,
}

fn is_nothing(of_each: &[Nanos; MEMBERS_MAX]) -> bool {
    of_each.iter().all(|ns| *ns == 0)
}

/// A thread, and how long it had a CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusyThread {
    pub name: String,
    pub ran_ns: Nanos,
}

/// How long at least one program of the machine waited for it, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    pub cpu_ns: Nanos,
    pub io_ns: Nanos,
    pub memory_ns: Nanos,
}

/// What the kernel counted of the server's processes on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerEvidence {
    pub span_ns: Nanos,
    pub threads: u64,
    /// How long they had a CPU, all together, ns.
    pub ran_ns: Nanos,
    /// How long they could have run and waited for one, ns.
    pub waited_ns: Nanos,
    /// How often they were given a CPU.
    pub slices: u64,
    /// How long the quota of their cgroup stopped them, ns; `None` without one.
    pub throttled_ns: Option<Nanos>,
    /// `None` where the kernel does not count it.
    pub pressure: Option<Pressure>,
    /// Those that ran longest, the longest first.
    pub busiest: Vec<BusyThread>,
}

/// The experiment of one load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Why {
    pub clients: usize,
    /// dyno's event loops.
    pub loops: usize,
    /// Cores that the server may use; `None` where it is not known.
    pub server_cores: Option<usize>,
    /// Hardware threads of this machine.
    pub host_cores: usize,
    pub window_ns: Nanos,
    /// How much later than asked the kernel ended a wait of dyno's, ns, on average.
    pub timer_late_ns: Nanos,
    pub used: Vec<UsedLever>,
    pub unused: Vec<UnusedLever>,
    /// The servers of a system of several, those with a slow-down of their own first; none of a system of one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<WhyMember>,
    pub windows: Vec<WhyWindow>,
    /// The name of what [`Lever::Toggle`] takes away.
    #[serde(default)]
    pub toggle: Option<String>,
    /// Threads of the server in a flush at the same time, on average; `None` where they are not seen.
    pub flushing: Option<f64>,
    /// `None` where no process of the server is known on this machine.
    #[serde(default)]
    pub evidence: Option<ServerEvidence>,
    /// Where the servers spent their time at the same load, and why that is not known of some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<Profile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unprofiled: Vec<String>,
    /// How long the experiment might have lasted, ns.
    pub at_most_ns: Nanos,
    /// The same with longer windows, where effects changed within a window and there was time for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<Box<Self>>,
    /// Why the experiment ended before it was decided or its time was over; `None` when it did not.
    pub cut_short: Option<String>,
}
