//! The server of the soak test, and the disturbances applied to it.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use driver::LoginSources;
use driver::mysql::Url;
use driver::{Datum, Target};
use jiff::Timestamp;
use nix::errno::Errno;
use nix::sys::signal::Signal;
use system::mariadb::{self, DATABASE, Settings};
use system::{Daemon, ProcessReference};

use super::proxy::Proxy;
use super::schedule::Disturbance;
use crate::sql;

/// The account of the load; it may not write while the server is read-only.
const LOAD_USER: &str = "soak";
/// The time between two checks for killed processes, and the number of checks: ten seconds.
const POLL_PERIOD: Duration = Duration::from_millis(10);
const POLLS_MAX: usize = 1_000;

/// A disturbance that was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AppliedDisturbance {
    pub disturbance: Disturbance,
    /// From just before its start until just after its end.
    pub from: Timestamp,
    pub until: Timestamp,
}

/// A MariaDB behind a proxy.
#[derive(Debug)]
pub(super) struct SoakServer {
    server: Daemon,
    proxy: Proxy,
    /// A login that may do everything, over the server's socket.
    root: Target,
}

impl SoakServer {
    /// Starts both, and creates an account for the load.
    pub(super) fn start(scratch: &Path) -> anyhow::Result<Self> {
        let arguments = ["innodb-flush-log-at-trx-commit=2", "innodb-buffer-pool-size=64M"];
        let arguments = arguments.map(str::to_owned).to_vec();
        let server = mariadb::start(Settings { arguments, ..Settings::default() }, scratch)?;
        let proxy = Proxy::start(server.port())?;
        let login = Url::parse(&server.url())?;
        let over_socket = Url { hosts: Vec::new(), socket: Some(server.socket()), ..login };
        let root = Target::mysql(over_socket.resolve(&LoginSources::default())?);
        let soak_server = Self { server, proxy, root };
        soak_server.ask(&format!("CREATE USER {LOAD_USER}@localhost"))?;
        soak_server.ask(&format!("GRANT ALL ON {DATABASE}.* TO {LOAD_USER}@localhost"))?;
        Ok(soak_server)
    }

    /// The URL for dyno.
    pub(super) fn url(&self) -> String {
        format!("mysql://{LOAD_USER}@127.0.0.1:{}/{DATABASE}", self.proxy.port)
    }

    /// Applies a disturbance to the server, and returns when it is over.
    pub(super) fn apply(&mut self, disturbance: Disturbance) -> anyhow::Result<AppliedDisturbance> {
        if let Some(why) = self.server.exited() {
            bail!("the server went by itself: {why}");
        }
        let from = Timestamp::now();
        match disturbance {
            Disturbance::Stop(length) => {
                self.signal(Signal::SIGSTOP)?;
                thread::sleep(length);
                self.signal(Signal::SIGCONT)?;
            }
            Disturbance::Kill(away) => self.kill(away)?,
            Disturbance::Stall(length) => self.proxy.hold(|| thread::sleep(length)),
            Disturbance::Cut(percent) => self.cut(percent)?,
            Disturbance::ReadOnly(length) => {
                self.ask("SET GLOBAL read_only = ON")?;
                thread::sleep(length);
                self.ask("SET GLOBAL read_only = OFF")?;
            }
        }
        Ok(AppliedDisturbance { disturbance, from, until: Timestamp::now() })
    }

    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = self.server.pid();
        let sent: io::Result<()> = match ProcessReference::open(pid) {
            // Its number was its own when the reference was made, because it has not been waited for yet.
            Some(server) if self.server.exited().is_none() => server.signal(signal),
            _ => Err(Errno::ESRCH.into()),
        };
        sent.with_context(|| format!("cannot send {signal} to the server, {pid}"))
    }

    fn kill(&mut self, away: Duration) -> anyhow::Result<()> {
        self.signal(Signal::SIGKILL)?;
        for _ in 0..POLLS_MAX {
            if self.server.exited().is_some() {
                thread::sleep(away);
                return self.server.start_again().context("the server does not come back");
            }
            thread::sleep(POLL_PERIOD);
        }
        bail!("the server is still there though it was killed");
    }

    /// Ends this many of a hundred of the load's connections.
    fn cut(&self, percent: usize) -> anyhow::Result<()> {
        let rows = self.ask("SHOW PROCESSLIST")?;
        // Its first columns are id and user.
        let of_load = |row: &Vec<Datum>| match row.as_slice() {
            [id, Datum::Text(user), ..] if user == LOAD_USER => sql::number::<i64>(id),
            _ => None,
        };
        let kill = |id| format!("KILL CONNECTION {id}");
        let mut kills: Vec<String> = rows.iter().filter_map(of_load).map(kill).collect();
        kills.truncate((kills.len() * percent).div_ceil(100));
        // One that has gone by itself meanwhile is no longer known: nobody is left to be cut.
        sql::ask_all(&self.root, &kills)
            .map(drop)
            .context("the server does not take the soak's own statements")
    }

    fn ask(&self, statement: &str) -> anyhow::Result<Vec<Vec<Datum>>> {
        sql::ask(&self.root, statement)
            .context("the server does not take the soak's own statements")
    }
}

impl Drop for SoakServer {
    fn drop(&mut self) {
        // A paused server could not handle the request to exit.
        if self.server.exited().is_none() {
            let _ = self.signal(Signal::SIGCONT);
        }
    }
}
