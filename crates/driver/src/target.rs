//! Where a system is and how to log in.

use std::fmt;
use std::sync::Arc;

use measure::Failure;
use net::{Endpoint, Handle};

use crate::limits::{self, Footprint};
use crate::mysql::ServerCounters;
use crate::session::Connection;
use crate::{
    Capabilities, Demand, Facts, ServerLimits, Session, Shortage, Timeouts, mysql, sqlite,
};

/// A database that can be connected to. Passwords in it are neither printed nor written anywhere.
#[derive(Clone, Debug)]
pub struct Target {
    driver: Driver,
    capabilities: Arc<Capabilities>,
    timeouts: Timeouts,
}

#[derive(Clone, Debug)]
enum Driver {
    MySql(Arc<mysql::Config>),
    Sqlite(Arc<sqlite::Config>),
}

impl Target {
    /// A server of the MySQL protocol.
    pub fn mysql(config: mysql::Config) -> Self {
        let capabilities = Arc::new(mysql::without_probe());
        let timeouts = Timeouts::default();
        Self { driver: Driver::MySql(Arc::new(config)), capabilities, timeouts }
    }

    /// A database file.
    pub fn sqlite(config: sqlite::Config) -> Self {
        let capabilities = Arc::new(sqlite::capabilities());
        let timeouts = Timeouts::default();
        Self { driver: Driver::Sqlite(Arc::new(config)), capabilities, timeouts }
    }

    /// The same with other bounds on its sessions.
    #[must_use]
    pub fn with_timeouts(self, timeouts: Timeouts) -> Self {
        Self { timeouts, ..self }
    }

    /// Asks the system what it is and what it can do; the capabilities are known from here on, so this
    /// comes before the target is cloned for others.
    ///
    /// # Errors
    /// When it cannot be reached or refuses the login, with what to do about it.
    pub async fn probe(&mut self, handle: &Handle) -> Result<Facts, Failure> {
        let Session(connection) = self.connect(handle, 0).await?;
        match connection {
            Connection::MySql(mut session) => {
                let (facts, capabilities) =
                    mysql::probe(handle, &mut session, self.timeouts.connect).await?;
                self.capabilities = Arc::new(capabilities);
                session.close().await;
                Ok(facts)
            }
            Connection::Sqlite(mut session) => sqlite::probe(&mut session),
        }
    }

    /// Reads what the servers behind all addresses count themselves, each by a session of its own:
    /// `None` when one of them does not tell.
    ///
    /// # Errors
    /// When one cannot be reached, or does not answer within the bound for connecting.
    pub async fn counters(&self, handle: &Handle) -> Result<Option<ServerCounters>, Failure> {
        let Driver::MySql(config) = &self.driver else { return Ok(None) };
        let mut readings = Vec::with_capacity(config.addresses.len());
        for index in 0..config.addresses.len() {
            let Session(connection) = self.connect(handle, index).await?;
            let Connection::MySql(mut session) = connection else { return Ok(None) };
            let read = mysql::read_counters(handle, &mut session, self.timeouts.connect).await?;
            session.close().await;
            let Some(reading) = read else { return Ok(None) };
            readings.push(reading);
        }
        Ok(Some(ServerCounters::of(readings)))
    }

    /// Connects client `index` (several addresses are shared out by it).
    ///
    /// # Errors
    /// When the server cannot be reached or refuses the login, with what to do about it.
    pub async fn connect(&self, handle: &Handle, index: usize) -> Result<Session, Failure> {
        let connection = match &self.driver {
            Driver::MySql(config) => {
                let opening = mysql::Opening { index, timeouts: self.timeouts };
                let session = mysql::Session::connect(handle, config, &opening).await?;
                Connection::MySql(Box::new(session))
            }
            Driver::Sqlite(config) => Connection::Sqlite(Box::new(sqlite::Session::open(config)?)),
        };
        Ok(Session(connection))
    }

    /// Whether there is room for a load, here and on a server with these limits: everything that is
    /// too little, with its remedy. This process's limit of open files is raised when that suffices.
    pub fn shortages(&self, limits: &ServerLimits, demand: Demand) -> Vec<Shortage> {
        limits::check(&self.footprint(), limits, demand)
    }

    fn footprint(&self) -> Footprint {
        let endpoints = self.endpoints();
        match &self.driver {
            Driver::MySql(config) => Footprint {
                files_per_session: 1,
                prepares_on_server: config.protocol == mysql::StatementProtocol::Prepared,
                endpoints,
            },
            // The database, its write-ahead log and the log's index.
            Driver::Sqlite(_) => {
                Footprint { files_per_session: 3, prepares_on_server: false, endpoints }
            }
        }
    }

    /// Where its sessions connect to; nothing when it is embedded.
    pub fn endpoints(&self) -> Vec<Endpoint> {
        match &self.driver {
            Driver::MySql(config) => {
                config.addresses.iter().map(|it| it.endpoint.clone()).collect()
            }
            Driver::Sqlite(_) => Vec::new(),
        }
    }

    /// What the system can do, as it said when [`Target::probe`] asked it; before that, what every
    /// system of its kind can do.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }
}

/// Where it is, without a password.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.driver {
            Driver::MySql(config) => config.fmt(f),
            Driver::Sqlite(config) => config.fmt(f),
        }
    }
}
