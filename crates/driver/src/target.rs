//! The address of a system and the login for it.

use std::fmt;
use std::sync::Arc;

use measure::Failure;
use net::{Endpoint, Handle};

use crate::limits::{self, Footprint};
use crate::opening::ConnectOptions;
use crate::portable::PortableLogin;
use crate::session::Connection;
use crate::{
    Address, Capabilities, Demand, Dialect, Facts, PortableTarget, Secrets, ServerCounters,
    ServerLimits, Session, Shortage, Timeouts, mysql, postgres, sqlite,
};

/// A database to connect to. Its passwords are never printed or written.
#[derive(Clone, Debug)]
pub struct Target {
    driver: Driver,
    timeouts: Timeouts,
    sends_local_rows: bool,
}

#[derive(Clone, Debug)]
enum Driver {
    MySql(Arc<mysql::Config>),
    Postgres(Arc<postgres::Config>),
    Sqlite(Arc<sqlite::Config>),
}

impl Target {
    pub fn mysql(config: mysql::Config) -> Self {
        Self::of(Driver::MySql(Arc::new(config)))
    }

    pub fn postgres(config: postgres::Config) -> Self {
        Self::of(Driver::Postgres(Arc::new(config)))
    }

    pub fn sqlite(config: sqlite::Config) -> Self {
        Self::of(Driver::Sqlite(Arc::new(config)))
    }

    fn of(driver: Driver) -> Self {
        Self { driver, timeouts: Timeouts::default(), sends_local_rows: false }
    }

    /// The same target with other time-outs for its sessions.
    #[must_use]
    pub fn with_timeouts(self, timeouts: Timeouts) -> Self {
        Self { timeouts, ..self }
    }

    /// Its form for another process, with its secrets; `None` if it is embedded.
    pub fn portable(&self) -> Option<(PortableTarget, Secrets)> {
        match &self.driver {
            Driver::MySql(config) => {
                let (password, encryption) = (&config.password, &config.encryption);
                let login = PortableLogin::MySql(config.without_secrets());
                Some(PortableTarget::of(login, password, encryption, self.timeouts))
            }
            Driver::Postgres(config) => {
                let (password, encryption) = (&config.password, &config.encryption);
                let login = PortableLogin::Postgres(config.without_secrets());
                Some(PortableTarget::of(login, password, encryption, self.timeouts))
            }
            Driver::Sqlite(_) => None,
        }
    }

    /// The same target with sessions that send rows by LOAD DATA LOCAL, where the system has it. Only for sessions that
    /// load data: on such a session a server may ask for rows, and gets those of the open [`crate::Loader`].
    #[must_use]
    pub fn with_local_rows(&self) -> Self {
        Self { sends_local_rows: true, ..self.clone() }
    }

    /// The same target for sessions beside the load, which its servers know by a name of their own; `None` if its servers
    /// tell nothing by SQL that is watched.
    pub(crate) fn for_watching(&self, timeouts: Timeouts) -> Option<Self> {
        let Driver::Postgres(config) = &self.driver else { return None };
        let config = postgres::Config { is_for_watching: true, ..(**config).clone() };
        Some(Self { timeouts, driver: Driver::Postgres(Arc::new(config)), ..self.clone() })
    }

    /// Asks the system for its product, version, settings and limits.
    ///
    /// # Errors
    /// When it cannot be reached or refuses the login, with what to do about it.
    pub async fn probe(&self, handle: &Handle) -> Result<Facts, Failure> {
        let Session(connection) = self.connect(handle, 0).await?;
        match connection {
            Connection::MySql(mut session) => {
                let facts = mysql::probe(handle, &mut session, self.timeouts.connect).await?;
                session.close().await;
                Ok(facts)
            }
            Connection::Postgres(mut session) => {
                let facts = postgres::probe(handle, &mut session, self.timeouts.connect).await?;
                session.close().await;
                Ok(facts)
            }
            Connection::Sqlite(mut session) => sqlite::probe(&mut session),
        }
    }

    /// Reads the counters of the servers behind all addresses, each on a session of its own. `None` if one of
    /// them has no counters.
    ///
    /// # Errors
    /// If one cannot be reached, or does not answer within the connect time-out.
    pub async fn counters(&self, handle: &Handle) -> Result<Option<ServerCounters>, Failure> {
        if self.capabilities().is_embedded {
            return Ok(None);
        }
        let mut readings = Vec::with_capacity(self.servers());
        for index in 0..self.servers() {
            let Session(connection) = self.connect(handle, index).await?;
            let reading = match connection {
                Connection::MySql(mut session) => {
                    let bound = self.timeouts.connect;
                    let read = mysql::read_counters(handle, &mut session, bound).await?;
                    session.close().await;
                    read
                }
                Connection::Postgres(mut session) => {
                    let bound = self.timeouts.connect;
                    let read = postgres::read_counters(handle, &mut session, bound).await?;
                    session.close().await;
                    read
                }
                Connection::Sqlite(_) => None,
            };
            let Some(reading) = reading else { return Ok(None) };
            readings.push(reading);
        }
        Ok(Some(ServerCounters::of(readings)))
    }

    /// Connects client `index`; with several addresses, clients use them in turn.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses the login, with what to do about it.
    pub async fn connect(&self, handle: &Handle, index: usize) -> Result<Session, Failure> {
        self.open(handle, index, false).await
    }

    /// Connects client `index` in place of a session that was lost: a name is looked up again, and all its addresses
    /// are tried.
    ///
    /// # Errors
    /// As [`Target::connect`].
    pub async fn connect_again(&self, handle: &Handle, index: usize) -> Result<Session, Failure> {
        self.open(handle, index, true).await
    }

    async fn open(
        &self,
        handle: &Handle,
        index: usize,
        is_again: bool,
    ) -> Result<Session, Failure> {
        let opening = ConnectOptions {
            index,
            timeouts: self.timeouts,
            sends_local_rows: self.sends_local_rows,
            is_again,
        };
        let connection = match &self.driver {
            Driver::MySql(config) => {
                let session = mysql::Session::connect(handle, config, &opening).await?;
                Connection::MySql(Box::new(session))
            }
            Driver::Postgres(config) => {
                let session = postgres::Session::connect(handle, config, &opening).await?;
                Connection::Postgres(Box::new(session))
            }
            Driver::Sqlite(config) => {
                let session = sqlite::Session::open(config, self.timeouts.query)?;
                Connection::Sqlite(Box::new(session))
            }
        };
        Ok(Session(connection))
    }

    /// The resources that this machine, or a server with these limits, has too few of for a load, each with its
    /// remedy. Raises this process's own limit of open files if that is enough.
    pub fn shortages(&self, limits: &ServerLimits, demand: Demand) -> Vec<Shortage> {
        limits::check(&self.footprint(), limits, demand)
    }

    fn footprint(&self) -> Footprint {
        let endpoints = self.endpoints();
        match &self.driver {
            Driver::MySql(config) => Footprint {
                files_per_session: 1,
                prepares_on_server: config.protocol == mysql::StatementProtocol::Prepared,
                packet_bytes: mysql::PACKET_BYTES_MIN,
                endpoints,
            },
            Driver::Postgres(_) => Footprint {
                files_per_session: 1,
                prepares_on_server: false,
                packet_bytes: 0,
                endpoints,
            },
            // The database, its write-ahead log and the log's index.
            Driver::Sqlite(_) => Footprint {
                files_per_session: 3,
                prepares_on_server: false,
                packet_bytes: 0,
                endpoints,
            },
        }
    }

    /// The addresses that its sessions connect to; empty if it is embedded.
    pub fn endpoints(&self) -> Vec<Endpoint> {
        match &self.driver {
            Driver::MySql(config) => endpoints(&config.addresses),
            Driver::Postgres(config) => endpoints(&config.addresses),
            Driver::Sqlite(_) => Vec::new(),
        }
    }

    /// How many servers its sessions may be on: their index decides.
    pub fn servers(&self) -> usize {
        match &self.driver {
            Driver::MySql(config) => config.addresses.len(),
            Driver::Postgres(config) => config.addresses.len(),
            Driver::Sqlite(_) => 1,
        }
    }

    /// How its sessions may be used.
    pub fn capabilities(&self) -> Capabilities {
        match &self.driver {
            Driver::MySql(_) | Driver::Postgres(_) => Capabilities {
                is_embedded: false,
                is_blocking: false,
                has_concurrent_writers: true,
                counts_ended_sessions: matches!(self.driver, Driver::Postgres(_)),
                tells_figures_by_sql: matches!(self.driver, Driver::Postgres(_)),
            },
            Driver::Sqlite(_) => Capabilities {
                is_embedded: true,
                is_blocking: true,
                has_concurrent_writers: false,
                counts_ended_sessions: false,
                tells_figures_by_sql: false,
            },
        }
    }

    pub fn dialect(&self) -> &'static Dialect {
        match &self.driver {
            Driver::MySql(_) => &mysql::DIALECT,
            Driver::Postgres(_) => &postgres::DIALECT,
            Driver::Sqlite(_) => &sqlite::DIALECT,
        }
    }
}

fn endpoints(addresses: &[Address]) -> Vec<Endpoint> {
    addresses.iter().map(|address| address.endpoint.clone()).collect()
}

/// Its address, without a password.
impl Target {
    /// The failure of a statement, with the remedy when the target lacks what it needs.
    #[must_use]
    pub fn explain(&self, failure: Failure) -> Failure {
        match &self.driver {
            Driver::MySql(config) => config.explain(failure),
            Driver::Postgres(_) | Driver::Sqlite(_) => failure,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.driver {
            Driver::MySql(config) => config.fmt(f),
            Driver::Postgres(config) => config.fmt(f),
            Driver::Sqlite(config) => config.fmt(f),
        }
    }
}
