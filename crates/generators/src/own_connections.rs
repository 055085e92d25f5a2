//! A generator's TCP connections to the system during a load: their counters go to the process of the run, reading by
//! reading, because only the kernel of the generator knows them.

use std::net::SocketAddr;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use measure::Nanos;
use net::{Clock, TcpDiagnosis};
use runner::{ConnectionWatch, Continue, ToldConnections, WatchCommand};

/// A thread that reads the counters.
pub(crate) struct OwnConnections {
    commands: Sender<WatchCommand>,
}

impl OwnConnections {
    /// Reads the counters of the connections to these peers each period, in a trial whose clock begins at this time
    /// of the kernel's, and tells them. `None` when that cannot be; then the reason has been told.
    pub(crate) fn begin(
        peers: Result<Vec<SocketAddr>, String>,
        (kernel_ns, period): (Nanos, Duration),
        mut send: impl FnMut(ToldConnections) + Send + 'static,
    ) -> Option<Self> {
        let addresses = match peers {
            Ok(addresses) => addresses,
            Err(reason) => {
                send(Err(reason));
                return None;
            }
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
    pub(crate) fn phase(&self) {
        // A thread that has failed does not receive it.
        let _ = self.commands.send(WatchCommand::Read);
    }

    /// The window is over: takes the last reading.
    pub(crate) fn end(self) {
        let _ = self.commands.send(WatchCommand::End);
    }
}
