//! A generator's TCP connections to the system during a load: their counters go to the process of the run, reading by
//! reading, because only the kernel of the generator knows them.

use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use measure::{ConnectionsReading, Nanos};
use net::{Clock, TcpDiagnosis};

use crate::trial_watch::{ConnectionWatch, Continue, Peers, WatchCommand};

/// What a generator tells of its connections: a reading, and whether it is the last, or why there is none.
pub(super) type Told = Result<(ConnectionsReading, bool), String>;

pub(super) struct OwnConnections {
    commands: Sender<WatchCommand>,
}

impl OwnConnections {
    /// Reads the counters of the connections to these peers each period, in a trial whose clock begins at this time
    /// of the kernel's, and tells them. `None` when that cannot be; then the reason has been told.
    pub(super) fn begin(
        peers: Peers,
        (kernel_ns, period): (Nanos, Duration),
        mut send: impl FnMut(Told) + Send + 'static,
    ) -> Option<Self> {
        let addresses = match peers {
            Peers::Tcp(addresses) => addresses,
            Peers::None(reason) => {
                send(Err(reason));
                return None;
            }
            Peers::OfGenerators(_) => return None,
        };
        let diagnosis = match TcpDiagnosis::open() {
            Ok(diagnosis) => diagnosis,
            Err(cause) => {
                send(Err(format!("the kernel does not report TCP connections: {cause}")));
                return None;
            }
        };
        let (commands, inbox) = mpsc::channel();
        let work = move || {
            let clock = Clock::since_kernel(kernel_ns);
            let watch = ConnectionWatch::new(diagnosis, addresses);
            let mut last = None;
            let watched = watch.until_the_end((&clock, period), &inbox, |reading| {
                last = Some(reading);
                send(Ok((reading, false)));
                Continue::Yes
            });
            match (watched, last) {
                (Err(cause), _) => send(Err(format!("{cause:#}"))),
                (Ok(()), Some(last)) => send(Ok((last, true))),
                (Ok(()), None) => {}
            }
        };
        let thread = thread::Builder::new().name("connection watcher".to_owned());
        // Without it the load is as good.
        thread.spawn(work).ok()?;
        Some(Self { commands })
    }

    /// A phase begins: takes a reading at its edge.
    pub(super) fn phase(&self) {
        // A thread that has failed does not receive it.
        let _ = self.commands.send(WatchCommand::Read);
    }

    /// The window is over: takes the last reading.
    pub(super) fn end(self) {
        let _ = self.commands.send(WatchCommand::End);
    }
}
