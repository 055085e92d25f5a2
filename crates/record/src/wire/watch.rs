//! One line of watch.jsonl: a host or a server that is watched, or what was seen of it.

use measure::{
    Answer, ConnectionsReading, CpuTimes, DiskCounters, Gap, Host, HostReading, NetworkCounters,
    NewSeries, Process, ProcessReading, Runnable, SegmentCounters, Server, ServerKind, Side,
    TcpCounters, Watched,
};
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::interval::is_zero;
use super::mirror::mirror;

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub(crate) enum WatchLine {
    Host(HostFile),
    Reading(Box<ReadingFile>),
    ServerKinds {
        kinds: Vec<ServerKind>,
    },
    Server(ServerFile),
    Answer(AnswerFile),
    Gap(GapFile),
    Connections(ConnectionsFile),
    NoConnections {
        reason: String,
    },
    /// What a later dyno of this version of the format may add.
    #[serde(other)]
    Other,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HostFile {
    name: String,
    cpu_threads: u64,
    memory_bytes: Option<u64>,
    processes: Vec<ProcessFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ProcessFile {
    name: String,
    pid: u32,
    side: SideName,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SideName {
    Client,
    Server,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReadingFile {
    host: usize,
    at_ns: u64,
    cpu: CpuFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runnable: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocked: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context_switches: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory_available_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disk: Option<DiskFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<NetworkFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loopback: Option<NetworkFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    segments: Option<SegmentsFile>,
    processes: Vec<Option<ProcessReadingFile>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CpuFile {
    user_ns: u64,
    system_ns: u64,
    idle_ns: u64,
    iowait_ns: u64,
    irq_ns: u64,
    softirq_ns: u64,
    steal_ns: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct DiskFile {
    read_bytes: u64,
    written_bytes: u64,
    requests: u64,
    busy_ns: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct NetworkFile {
    received_bytes: u64,
    sent_bytes: u64,
    received_packets: u64,
    sent_packets: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct SegmentsFile {
    received: u64,
    sent: u64,
    retransmitted: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct ProcessReadingFile {
    user_ns: u64,
    system_ns: u64,
    rss_bytes: u64,
    threads: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runnable: Option<RunnableFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RunnableFile {
    looks: u64,
    sum: u64,
    max: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ServerFile {
    name: String,
    url: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AnswerFile {
    server: usize,
    at_ns: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    families: Vec<String>,
    /// Name with labels, first value, and when that was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    new: Vec<(String, Number, u64)>,
    values: Vec<(usize, Number)>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GapFile {
    server: usize,
    at_ns: u64,
    reason: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ConnectionsFile {
    at_ns: u64,
    open: u64,
    ended: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    ended_unheard: u64,
    #[serde(flatten)]
    counters: TcpFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    round_trip_ns: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct TcpFile {
    segments_sent: u64,
    segments_received: u64,
    data_segments_sent: u64,
    data_segments_received: u64,
    segments_retransmitted: u64,
    bytes_acknowledged: u64,
    bytes_received: u64,
}

impl WatchLine {
    pub(crate) fn host(host: &Host) -> Self {
        let process = |process: &Process| ProcessFile {
            name: process.name.clone(),
            pid: process.pid,
            side: match process.side {
                Side::Client => SideName::Client,
                Side::Server => SideName::Server,
            },
        };
        Self::Host(HostFile {
            name: host.name.clone(),
            cpu_threads: host.cpu_threads,
            memory_bytes: host.memory_bytes,
            processes: host.processes.iter().map(process).collect(),
        })
    }

    pub(crate) fn reading(host: usize, reading: &HostReading) -> Self {
        Self::Reading(Box::new(ReadingFile::new(host, reading)))
    }

    pub(crate) fn server(name: &str, url: &str) -> Self {
        Self::Server(ServerFile { name: name.to_owned(), url: url.to_owned() })
    }

    pub(crate) fn answer(server: usize, answer: &Answer) -> Self {
        let new = |new: &NewSeries| (new.key.clone(), short(new.first), new.first_ns);
        Self::Answer(AnswerFile {
            server,
            at_ns: answer.at_ns,
            families: answer.families.clone(),
            new: answer.new.iter().map(new).collect(),
            values: answer.values.iter().map(|(number, value)| (*number, short(*value))).collect(),
        })
    }

    pub(crate) fn gap(server: usize, at_ns: u64, reason: String) -> Self {
        Self::Gap(GapFile { server, at_ns, reason })
    }

    pub(crate) fn connections(reading: ConnectionsReading) -> Self {
        Self::Connections(reading.into())
    }

    /// The line with its end.
    pub(crate) fn text(&self) -> String {
        let mut line = serde_json::to_string(self)
            .expect("plain structs with text keys always have a JSON form");
        line.push('\n');
        line
    }

    /// Adds what the line tells, or says what is wrong with it.
    pub(crate) fn add_to(self, watched: &mut Watched) -> Result<(), String> {
        match self {
            Self::Host(host) => watched.hosts.push(host.into_host()),
            Self::Reading(reading) => {
                let host = watched.hosts.get_mut(reading.host).ok_or("its host is not declared")?;
                host.readings.push(reading.into_reading());
            }
            Self::ServerKinds { kinds } => watched.kinds = kinds,
            Self::Server(ServerFile { name, url }) => {
                watched.servers.push(Server { name, url, ..Server::default() });
            }
            Self::Answer(answer) => server(watched, answer.server)?.add(&answer.into_answer()),
            Self::Gap(GapFile { server: number, at_ns, reason }) => {
                server(watched, number)?.gaps.push(Gap { at_ns, reason });
            }
            Self::Connections(reading) => watched.connections.readings.push(reading.into()),
            Self::NoConnections { reason } => watched.connections.absent = Some(reason),
            Self::Other => {}
        }
        Ok(())
    }
}

fn server(watched: &mut Watched, number: usize) -> Result<&mut Server, String> {
    watched.servers.get_mut(number).ok_or_else(|| "its server is not declared".to_owned())
}

/// Whole numbers without a fraction, as most figures are. There are no others than finite ones.
fn short(value: f64) -> Number {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        return Number::from(value as i64);
    }
    Number::from_f64(value).unwrap_or_else(|| Number::from(0))
}

fn value(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

impl HostFile {
    fn into_host(self) -> Host {
        let process = |process: ProcessFile| Process {
            name: process.name,
            pid: process.pid,
            side: match process.side {
                SideName::Client => Side::Client,
                SideName::Server => Side::Server,
            },
        };
        Host {
            name: self.name,
            cpu_threads: self.cpu_threads,
            memory_bytes: self.memory_bytes,
            processes: self.processes.into_iter().map(process).collect(),
            readings: Vec::new(),
        }
    }
}

impl AnswerFile {
    fn into_answer(self) -> Answer {
        let new = |(key, first, first_ns): (String, Number, u64)| {
            let first = value(&first);
            NewSeries { key, first, first_ns }
        };
        Answer {
            at_ns: self.at_ns,
            families: self.families,
            new: self.new.into_iter().map(new).collect(),
            values: self.values.iter().map(|(number, it)| (*number, value(it))).collect(),
        }
    }
}

impl ReadingFile {
    fn new(host: usize, reading: &HostReading) -> Self {
        Self {
            host,
            at_ns: reading.at_ns,
            cpu: reading.cpu.into(),
            runnable: reading.runnable,
            blocked: reading.blocked,
            context_switches: reading.context_switches,
            memory_available_bytes: reading.memory_available_bytes,
            disk: reading.disk.map(DiskFile::from),
            network: reading.network.map(NetworkFile::from),
            loopback: reading.loopback.map(NetworkFile::from),
            segments: reading.segments.map(SegmentsFile::from),
            processes: reading.processes.iter().map(|it| it.map(Into::into)).collect(),
        }
    }

    fn into_reading(self) -> HostReading {
        HostReading {
            at_ns: self.at_ns,
            cpu: self.cpu.into(),
            runnable: self.runnable,
            blocked: self.blocked,
            context_switches: self.context_switches,
            memory_available_bytes: self.memory_available_bytes,
            disk: self.disk.map(DiskCounters::from),
            network: self.network.map(NetworkCounters::from),
            loopback: self.loopback.map(NetworkCounters::from),
            segments: self.segments.map(SegmentCounters::from),
            processes: self.processes.into_iter().map(|it| it.map(Into::into)).collect(),
        }
    }
}

mirror!(CpuTimes, CpuFile, user_ns, system_ns, idle_ns, iowait_ns, irq_ns, softirq_ns, steal_ns);
mirror!(DiskCounters, DiskFile, read_bytes, written_bytes, requests, busy_ns);
mirror!(NetworkCounters, NetworkFile, received_bytes, sent_bytes, received_packets, sent_packets);
mirror!(SegmentCounters, SegmentsFile, received, sent, retransmitted);
mirror!(Runnable, RunnableFile, looks, sum, max);
mirror!(
    TcpCounters,
    TcpFile,
    segments_sent,
    segments_received,
    data_segments_sent,
    data_segments_received,
    segments_retransmitted,
    bytes_acknowledged,
    bytes_received
);
mirror!(
    ConnectionsReading, ConnectionsFile, at_ns, open, ended, ended_unheard, round_trip_ns;
    into counters
);

impl From<ProcessReading> for ProcessReadingFile {
    fn from(reading: ProcessReading) -> Self {
        Self {
            user_ns: reading.user_ns,
            system_ns: reading.system_ns,
            rss_bytes: reading.rss_bytes,
            threads: reading.threads,
            runnable: (reading.runnable.looks > 0).then(|| reading.runnable.into()),
        }
    }
}

impl From<ProcessReadingFile> for ProcessReading {
    fn from(file: ProcessReadingFile) -> Self {
        Self {
            user_ns: file.user_ns,
            system_ns: file.system_ns,
            rss_bytes: file.rss_bytes,
            threads: file.threads,
            runnable: file.runnable.map(Runnable::from).unwrap_or_default(),
        }
    }
}
