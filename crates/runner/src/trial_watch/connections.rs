//! Watches dyno's TCP connections to the system. The kernel lists all of them each period, and reports each
//! connection that ends in between.

mod totals;

use std::collections::HashSet;
use std::fs;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use anyhow::{Context, Result};
use measure::{ConnectionsReading, Nanos, nanos};
use net::{Clock, CloseNotice, TcpDiagnosis};

use super::context::{WatchCommand, next};
use super::log::Continue;
use totals::ConnectionTotals;

/// How long to listen for closed connections before checking for commands.
const LISTEN: Duration = Duration::from_millis(50);
/// How long the kernel may take to report the end of a connection: it does so in the background.
const SETTLE: Duration = Duration::from_millis(500);

/// The connections that are watched, and the sources of readings and close notices.
pub struct ConnectionWatch {
    diagnosis: TcpDiagnosis,
    addresses: Vec<SocketAddr>,
    totals: ConnectionTotals,
}

impl ConnectionWatch {
    /// Nothing is read yet.
    pub fn new(diagnosis: TcpDiagnosis, addresses: Vec<SocketAddr>) -> Self {
        Self { diagnosis, addresses, totals: ConnectionTotals::default() }
    }

    /// Watches until the command to end, or until a reading is not kept.
    pub fn until_the_end(
        mut self,
        (clock, period): (&Clock, Duration),
        commands: &Receiver<WatchCommand>,
        mut keep: impl FnMut(ConnectionsReading) -> Continue,
    ) -> Result<()> {
        let mut continued = Continue::Yes;
        let mut read_at: Nanos = 0;
        while continued == Continue::Yes {
            let command = commands.try_recv();
            if command == Err(TryRecvError::Disconnected) {
                return Ok(());
            }
            if command.is_ok() || read_at <= clock.now() {
                continued = keep(self.read(clock)?);
                read_at = next(clock.now(), period);
            }
            if command == Ok(WatchCommand::End) {
                return Ok(());
            }
            let wait = Duration::from_nanos(read_at.saturating_sub(clock.now()));
            self.listen(wait.min(LISTEN))?;
        }
        Ok(())
    }

    fn read(&mut self, clock: &Clock) -> Result<ConnectionsReading> {
        let mut found = Vec::new();
        for address in &self.addresses {
            let of_one = self.diagnosis.connections_to(*address);
            found.extend(of_one.context("the kernel does not report TCP connections")?);
        }
        let at_ns = clock.now();
        self.totals.take_in(&found, own_sockets);
        // Close notices that arrived in time are counted, even if this thread was descheduled meanwhile.
        let mut bound = LISTEN;
        while self.totals.has_gone() && (self.listen(bound)? || !bound.is_zero()) {
            if clock.now() >= at_ns + nanos(SETTLE) {
                bound = Duration::ZERO;
            }
        }
        Ok(self.totals.close(at_ns))
    }

    /// Listens for a connection that ends; returns whether one did.
    fn listen(&mut self, bound: Duration) -> Result<bool> {
        let ended = self.diagnosis.next_ended(bound);
        // A missed notice is detected at the next reading, which lacks the connection.
        let CloseNotice::Connection(ended) =
            ended.context("the kernel does not report closed connections")?
        else {
            return Ok(false);
        };
        self.totals.ended(&ended);
        Ok(true)
    }
}

/// The numbers of the sockets that this process has open.
fn own_sockets() -> HashSet<u32> {
    let Ok(files) = fs::read_dir("/proc/self/fd") else { return HashSet::new() };
    let links = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
    let number = |link: std::path::PathBuf| {
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    links.filter_map(number).collect()
}

#[cfg(test)]
mod tests;
