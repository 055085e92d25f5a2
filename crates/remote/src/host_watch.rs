//! Watches a host with a dyno there: it reads the counters of its kernel when it is asked, and samples the threads of
//! servers in between.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, bail};
use measure::{Host, HostReading, Process, ProcessIdentity, Side};
use plan::Place;
use serde::{Deserialize, Serialize};
use system::watch::{HostWatch, own_boot, processes_by_name, processes_with, server_processes};

use crate::link::{Receiver, Sender};
use crate::peer::{Peer, StartOptions};
use crate::problem::{LinkError, Problem};

/// The command of dyno's command line that calls [`serve_host_watch`].
pub const HOST_WATCH_COMMAND: &str = "watch-host";

/// How often a wait for an answer asks whether to give up.
const TICK: Duration = Duration::from_millis(100);
/// An answer may take this many ticks.
const ANSWER_TICKS: u32 = 50;
/// More processes than this are not watched, and a host that reports more is refused.
pub(crate) const PROCESSES_MAX: usize = 64;
/// A text of a host, such as the name of a process, is not longer.
pub(crate) const TEXT_BYTES_MAX: usize = 256;
/// More disks than this are not taken.
const DISKS_MAX: usize = 4_096;
/// More kinds of processes than this are not taken.
const KINDS_MAX: usize = 1_024;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostWatchRequest {
    /// Addresses of servers: processes that listen on them there are watched.
    pub addresses: Vec<SocketAddr>,
    /// Processes with these names are watched, each on its side of the load.
    pub names: Vec<(String, Side)>,
    /// Generators of the load: those of them that run there are watched.
    pub generators: Vec<ProcessIdentity>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Question {
    Describe(HostWatchRequest),
    Read,
}

/// An answer: the JSON of the record, because readings leave out what is not known.
type Answer = Result<Vec<u8>, String>;

#[derive(Debug)]
pub struct RemoteHost {
    /// It ends the dyno there when it is dropped.
    peer: Peer,
    sender: Sender,
    receiver: Receiver,
    processes: usize,
}

impl RemoteHost {
    /// Starts a dyno in a place to watch its host. `stop` says whether to give up.
    ///
    /// # Errors
    /// When the place cannot be reached.
    pub fn start(
        place: &Place,
        options: &StartOptions,
        stop: &dyn Fn() -> bool,
    ) -> anyhow::Result<Self> {
        let peer = Peer::start(place, options, stop)?;
        let (sender, receiver) = peer.split();
        Ok(Self { peer, sender, receiver, processes: 0 })
    }

    /// Whether it is surely the machine on which this dyno runs.
    pub fn is_this_machine(&self) -> bool {
        let boot = &self.peer.hello().boot;
        !boot.is_empty() && *boot == own_boot()
    }

    pub fn is_connected(&self) -> bool {
        self.peer.is_connected()
    }

    /// Begins to watch these processes, and describes the host with them. `stop` says whether to give up.
    ///
    /// # Errors
    /// When the host does not answer, or reports nothing.
    pub fn describe(
        &mut self,
        request: &HostWatchRequest,
        stop: &dyn Fn() -> bool,
    ) -> anyhow::Result<Host> {
        self.sender.send(&Question::Describe(request.clone()))?;
        let answer = self.answer(stop)?;
        let host = description(&answer)?;
        self.processes = host.processes.len();
        Ok(host)
    }

    /// Reads the counters now. The reading's time is that of our clock in the middle of the question and its answer, ns of
    /// the kernel's monotonic clock.
    ///
    /// # Errors
    /// When the host does not answer.
    pub fn read(&mut self) -> anyhow::Result<HostReading> {
        let asked_ns = net::kernel_ns();
        self.sender.send(&Question::Read)?;
        let answer = self.answer(&|| false)?;
        let at_ns = asked_ns.midpoint(net::kernel_ns());
        let reading = reading(&answer, self.processes)?;
        Ok(HostReading { at_ns, ..reading })
    }

    fn answer(&self, stop: &dyn Fn() -> bool) -> anyhow::Result<Vec<u8>> {
        for _ in 0..ANSWER_TICKS {
            match self.receiver.receive_within::<Answer>(TICK)? {
                Some(Ok(answer)) => return Ok(answer),
                Some(Err(why)) => bail!(plan::scrub(&why)),
                None if stop() => bail!("interrupted"),
                None => {}
            }
        }
        bail!("no answer within {}", plan::show_duration(TICK * ANSWER_TICKS))
    }
}

/// A description of a host within the bounds. How the host was reached is known on this side alone.
pub(crate) fn description(json: &[u8]) -> anyhow::Result<Host> {
    let host: Host = serde_json::from_slice(json).context("the host is described wrongly")?;
    let host = Host { place: None, ..host };
    if host.processes.len() > PROCESSES_MAX {
        bail!("the host has {} processes, {PROCESSES_MAX} are the most", host.processes.len());
    }
    let is_long = |text: &String| text.len() > TEXT_BYTES_MAX;
    if is_long(&host.name) || host.processes.iter().any(|process| is_long(&process.name)) {
        bail!("the host has a name of more than {TEXT_BYTES_MAX} bytes");
    }
    Ok(host)
}

pub(crate) fn reading(json: &[u8], processes: usize) -> anyhow::Result<HostReading> {
    let reading: HostReading = serde_json::from_slice(json).context("a reading is wrong")?;
    if reading.processes.len() != processes {
        bail!("a reading has {} processes, not {processes}", reading.processes.len());
    }
    if reading.kinds.len() > KINDS_MAX
        || reading.kinds.iter().any(|it| it.process >= processes || it.kind.len() > TEXT_BYTES_MAX)
    {
        bail!(
            "a reading has more than {KINDS_MAX} kinds of processes, a long name, or one of no process"
        );
    }
    let disks = reading.disk_busy_ns.iter().flatten();
    if disks.clone().count() > DISKS_MAX
        || disks.clone().any(|(name, _)| name.len() > TEXT_BYTES_MAX)
    {
        bail!("a reading has more than {DISKS_MAX} disks, or a long name");
    }
    Ok(reading)
}

/// Answers the questions of the process that has started this one, until it is gone.
///
/// # Errors
/// When the connection ends otherwise than by its close.
pub fn serve_host_watch(sender: &Sender, receiver: &Receiver) -> Result<(), LinkError> {
    let mut watch = HostWatch::new(Vec::new());
    let mut pause = Duration::ZERO;
    loop {
        let question = match receiver.receive_within(pause) {
            Ok(question) => question,
            Err(LinkError { problem: Problem::Closed, .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let answer: Answer = match question {
            None => {
                pause = watch.sample();
                continue;
            }
            Some(Question::Describe(request)) => {
                watch = HostWatch::new(processes(&request));
                written(watch.describe())
            }
            Some(Question::Read) => written(watch.read(0)),
        };
        sender.send(&answer)?;
    }
}

fn written<T: Serialize>(value: anyhow::Result<T>) -> Answer {
    let value = value.map_err(|error| format!("{error:#}"))?;
    serde_json::to_vec(&value).map_err(|error| error.to_string())
}

/// The processes of this machine that a request means, each once.
fn processes(request: &HostWatchRequest) -> Vec<Process> {
    let mut found = server_processes(&request.addresses);
    found.extend(processes_by_name(&request.names));
    found.extend(processes_with(&request.generators, Side::Client));
    found.sort_by_key(|process| process.pid);
    found.dedup_by_key(|process| process.pid);
    found.truncate(PROCESSES_MAX);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_readings_have_bounds() {
        let process = |name: &str| Process { name: name.to_owned(), pid: 1, side: Side::Server };
        let checked = |processes| {
            let place = Some("elsewhere".to_owned());
            let host = Host { processes, place, ..Host::default() };
            description(&serde_json::to_vec(&host).unwrap())
        };
        assert_eq!(checked(vec![process("a"); PROCESSES_MAX]).unwrap().place, None);
        assert!(checked(vec![process("a"); PROCESSES_MAX + 1]).is_err());
        assert!(checked(vec![process(&"a".repeat(TEXT_BYTES_MAX + 1))]).is_err());
        let json = serde_json::to_vec(&HostReading::default()).unwrap();
        assert!(reading(&json, 0).is_ok());
        assert!(reading(&json, 1).unwrap_err().to_string().contains("0 processes, not 1"));
        assert!(reading(b"{}", 0).is_err());
    }
}
