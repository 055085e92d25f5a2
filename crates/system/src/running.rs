//! A running system of any kind: how to reach it, its identity, and a handle on its servers.

use std::fmt;
use std::net::SocketAddr;

use anyhow::bail;
use driver::{Facts, ServerLimits, Target};
use measure::Identity;

use crate::{Access, LoginUrl, StatementPages};

/// A page of a server's figures in the text form of Prometheus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsEndpoint {
    /// What the server does in the system, such as `tidb`, `tikv` or `pd`.
    pub role: String,
    /// Host and port.
    pub address: String,
    /// Where on that host, such as `/metrics`.
    pub path: String,
}

impl MetricsEndpoint {
    /// The page where most servers show them.
    pub(crate) fn standard(role: &str, address: &impl ToString) -> Self {
        Self { role: role.to_owned(), address: address.to_string(), path: "/metrics".to_owned() }
    }
}

/// A process of this machine that belongs to a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerProcess {
    /// What it does in the system, such as `mariadb` or `tidb`.
    pub role: String,
    /// Its process id.
    pub pid: u32,
}

/// A handle on the servers of a running system. Dropping it stops what was started.
pub(crate) trait SystemHandle: Send {
    /// Why a managed server is no longer there; `None` while it is, and always for a external one.
    fn exited(&mut self) -> Option<String> {
        None
    }

    /// What was started for it and still is there.
    fn processes(&self) -> Vec<ServerProcess> {
        Vec::new()
    }

    /// Where its servers listen for clients, on whichever machine.
    fn addresses(&self) -> Vec<SocketAddr> {
        Vec::new()
    }

    /// Where its servers show their figures.
    fn metrics(&self) -> Vec<MetricsEndpoint> {
        Vec::new()
    }

    /// Keeps the state of the data.
    fn snapshot(&mut self) -> anyhow::Result<()>;

    /// Brings back the state that `snapshot` kept.
    fn restore(&mut self) -> anyhow::Result<()>;

    /// Stops what was started, and waits for its end.
    fn stop(self: Box<Self>) -> anyhow::Result<()> {
        Ok(())
    }
}

/// A system that is up. Dropping it stops what was started for it.
pub struct Running {
    access: Access,
    identity: Identity,
    limits: ServerLimits,
    login: Option<LoginUrl>,
    system_handle: Box<dyn SystemHandle>,
}

impl Running {
    /// A database that has told `facts` about itself.
    pub(crate) fn database(
        target: Target,
        facts: Facts,
        system_handle: impl SystemHandle + 'static,
    ) -> Self {
        Self {
            access: Access::Database(target),
            identity: facts.identity,
            limits: facts.limits,
            login: None,
            system_handle: Box::new(system_handle),
        }
    }

    /// Something that is no database and has no state.
    pub(crate) fn simulated(access: Access, identity: Identity) -> Self {
        let limits = ServerLimits::default();
        Self { access, identity, limits, login: None, system_handle: Box::new(Stateless) }
    }

    /// The same, with the login that dyno has made for it.
    #[must_use]
    pub(crate) fn with_login(self, login: Option<LoginUrl>) -> Self {
        Self { login, ..self }
    }

    /// The same, with settings that the server does not tell but dyno knows, by name.
    #[must_use]
    pub(crate) fn with_settings(mut self, settings: Vec<(String, String)>) -> Self {
        self.identity.settings.extend(settings);
        self
    }

    /// How to speak to it.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// The URL with a password that dyno has made for it; `None` for a system that dyno did not start.
    pub fn login(&self) -> Option<&LoginUrl> {
        self.login.as_ref()
    }

    /// What it is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How much it takes, so that too little is noticed before load is offered.
    pub fn limits(&self) -> ServerLimits {
        self.limits
    }

    /// The processes that were started for it and still are there; nothing for a external server.
    pub fn processes(&self) -> Vec<ServerProcess> {
        self.system_handle.processes()
    }

    /// Where its servers listen for clients, on whichever machine; nothing when embedded.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.system_handle.addresses()
    }

    /// Where its servers show their figures; nothing when they do not, or nobody said where.
    pub fn metrics(&self) -> Vec<MetricsEndpoint> {
        self.system_handle.metrics()
    }

    /// The pages on which its servers count statements. `None` when they do not, and when there are fewer pages
    /// than servers, which would tell a part for the whole.
    pub fn statement_pages(&self) -> Option<StatementPages> {
        let pages = self.metrics();
        let is_whole = pages.len() >= self.addresses().len();
        StatementPages::of(if is_whole { pages } else { Vec::new() })
    }

    /// Why a managed server is no longer there; `None` while it is, and always for a external one.
    pub fn exited(&mut self) -> Option<String> {
        self.system_handle.exited()
    }

    /// Keeps the state of the data, for [`Running::restore`].
    ///
    /// # Errors
    /// When the system cannot, with what to use instead.
    pub fn snapshot(&mut self) -> anyhow::Result<()> {
        self.system_handle.snapshot()
    }

    /// Brings back the state that `snapshot` kept. Sessions made before are broken.
    ///
    /// # Errors
    /// When that fails.
    pub fn restore(&mut self) -> anyhow::Result<()> {
        self.system_handle.restore()
    }

    /// Stops what was started for it, and waits for its end.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(self) -> anyhow::Result<()> {
        self.system_handle.stop()
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("identity", &self.identity).finish_non_exhaustive()
    }
}

/// External servers: dyno neither starts nor stops them.
pub(crate) struct External {
    /// Where they listen.
    pub(crate) addresses: Vec<SocketAddr>,
}

impl SystemHandle for External {
    fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.clone()
    }

    fn snapshot(&mut self) -> anyhow::Result<()> {
        bail!(
            "the data of a server that was not started here cannot be copied: say between = \
             \"reload\" (or \"keep\"), or let dyno start one with kind = \"mariadb\" or \"tidb\""
        )
    }

    fn restore(&mut self) -> anyhow::Result<()> {
        self.snapshot()
    }
}

/// A system without data to keep.
struct Stateless;

impl SystemHandle for Stateless {
    fn snapshot(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    fn restore(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}
