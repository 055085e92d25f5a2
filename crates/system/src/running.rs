//! A running system of any kind: how to access it, its identity, and a handle on its servers.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;
use driver::rpc::Service;
use driver::{Address, Facts, ServerLimits, Target};
use measure::Identity;
use net::Endpoint;

use crate::log_tail::log_tail;
use crate::{Access, FlushGate, LoginUrl, ProgressListener, StatementPages};

/// A page of a server's metrics in the text format of Prometheus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsEndpoint {
    /// The role of the server in the system, such as `tidb`, `tikv` or `pd`.
    pub role: String,
    pub address: String,
    /// The path on that host, such as `/metrics`.
    pub path: String,
}

impl MetricsEndpoint {
    /// The page on which most servers expose their metrics.
    pub(crate) fn standard(role: &str, address: &impl ToString) -> Self {
        Self { role: role.to_owned(), address: address.to_string(), path: "/metrics".to_owned() }
    }
}

/// A process of this machine that belongs to a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerProcess {
    /// Its role in the system, such as `mariadb` or `tidb`.
    pub role: String,
    pub pid: u32,
}

/// A server that was started for a system and has exited by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostMember {
    pub name: String,
    /// The role that it shares with others, such as `tikv`.
    pub role: String,
    pub at: Instant,
    pub status: String,
    /// Its log; `None` when it was killed, because it cannot log that.
    pub(crate) log: Option<PathBuf>,
}

impl LostMember {
    /// The end of its log; empty when it was killed.
    pub fn last_words(&self) -> String {
        self.log.as_deref().map(log_tail).unwrap_or_default()
    }
}

/// A handle on the servers of a running system. Dropping it stops the servers that dyno started.
pub(crate) trait SystemHandle: Send {
    /// Why a managed system cannot serve clients any more, because servers of it have exited; `None` while it can,
    /// and always for an external one.
    fn exited(&mut self) -> Option<String> {
        None
    }

    /// Whether the other servers are left running when one exits.
    fn goes_on_without_members(&self) -> bool {
        false
    }

    /// The servers that were started for it and have exited by themselves, in the order of their exits.
    fn lost_members(&self) -> Vec<LostMember> {
        Vec::new()
    }

    /// Starts a server that has exited again, on its address and its data.
    fn start_member(
        &mut self,
        name: &str,
        _listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        bail!("the system has no {name} that could be started again")
    }

    /// The processes that were started for it and still run.
    fn processes(&self) -> Vec<ServerProcess> {
        Vec::new()
    }

    /// What holds the flushes of its servers, of those for which something does.
    fn flush_gates(&self) -> Vec<Arc<FlushGate>> {
        Vec::new()
    }

    /// The addresses on which its servers listen for clients, on any machine.
    fn addresses(&self) -> Vec<SocketAddr> {
        Vec::new()
    }

    /// The pages on which its servers expose their metrics.
    fn metrics(&self) -> Vec<MetricsEndpoint> {
        Vec::new()
    }

    /// Saves the state of the data, unless the listener requests a stop.
    fn snapshot(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()>;

    /// Restores the state that `snapshot` saved, unless the listener requests a stop.
    fn restore(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()>;

    /// Stops the servers that were started, and waits for their exit; cleanly, unless the listener requests a stop.
    fn stop(self: Box<Self>, _listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        Ok(())
    }
}

/// A running system. Dropping it stops the servers that were started for it.
pub struct Running {
    access: Access,
    identity: Identity,
    limits: ServerLimits,
    login: Option<LoginUrl>,
    system_handle: Box<dyn SystemHandle>,
}

impl Running {
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

    pub(crate) fn service(
        service: Service,
        identity: Identity,
        system_handle: impl SystemHandle + 'static,
    ) -> Self {
        Self {
            access: Access::Service(service),
            identity,
            limits: ServerLimits::default(),
            login: None,
            system_handle: Box::new(system_handle),
        }
    }

    /// A system that is not a database and has no state.
    pub(crate) fn simulated(access: Access, identity: Identity) -> Self {
        let limits = ServerLimits::default();
        Self { access, identity, limits, login: None, system_handle: Box::new(Stateless) }
    }

    /// The same, with the login that dyno has made for it.
    #[must_use]
    pub(crate) fn with_login(self, login: Option<LoginUrl>) -> Self {
        Self { login, ..self }
    }

    /// The same, with settings that dyno knows though the server does not report them, by name.
    #[must_use]
    pub(crate) fn with_settings(mut self, settings: Vec<(String, String)>) -> Self {
        self.identity.settings.extend(settings);
        self
    }

    pub fn access(&self) -> &Access {
        &self.access
    }

    /// The URL with a password that dyno has made for it; `None` for a system that dyno did not start.
    pub fn login(&self) -> Option<&LoginUrl> {
        self.login.as_ref()
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Its limits, so that dyno notices limits that are too low before load is offered.
    pub fn limits(&self) -> ServerLimits {
        self.limits
    }

    /// The processes that were started for it and still run; empty for an external server.
    pub fn processes(&self) -> Vec<ServerProcess> {
        self.system_handle.processes()
    }

    /// What holds the flushes of its servers; empty where nothing does.
    pub fn flush_gates(&self) -> Vec<Arc<FlushGate>> {
        self.system_handle.flush_gates()
    }

    /// The addresses on which its servers listen for clients, on any machine; empty when embedded.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.system_handle.addresses()
    }

    /// The pages on which its servers expose their metrics; empty when they do not, or when the plan does not name
    /// them.
    pub fn metrics(&self) -> Vec<MetricsEndpoint> {
        self.system_handle.metrics()
    }

    /// The pages on which its servers count statements. `None` when they do not count them, and when there are fewer
    /// pages than servers: the pages would then show only a part of the statements.
    pub fn statement_pages(&self) -> Option<StatementPages> {
        let pages = self.metrics();
        let is_whole = pages.len() >= self.addresses().len();
        StatementPages::of(if is_whole { pages } else { Vec::new() })
    }

    /// Why a managed system cannot serve clients any more, because servers of it have exited; `None` while it can,
    /// and always for an external one.
    pub fn exited(&mut self) -> Option<String> {
        self.system_handle.exited()
    }

    /// Whether the other servers are left running when one exits.
    pub fn goes_on_without_members(&self) -> bool {
        self.system_handle.goes_on_without_members()
    }

    /// The servers that have exited while the others were left running, in the order of their exits.
    pub fn lost_members(&self) -> Vec<LostMember> {
        self.system_handle.lost_members()
    }

    /// Starts a server that has exited again, on its address and its data; returns when it answers.
    ///
    /// # Errors
    /// When there is no such server, it runs, it does not start, or a stop was requested.
    pub fn start_member(
        &mut self,
        name: &str,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        self.system_handle.start_member(name, listener)
    }

    /// Saves the state of the data, for [`Running::restore`].
    ///
    /// # Errors
    /// When the system cannot do so, with what to use instead, or a stop was requested.
    pub fn snapshot(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.system_handle.snapshot(listener)
    }

    /// Restores the state that `snapshot` saved. Earlier sessions are broken.
    ///
    /// # Errors
    /// When that fails, or a stop was requested.
    pub fn restore(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.system_handle.restore(listener)
    }

    /// Stops the servers that were started for it, and waits for their exit. They shut down cleanly, unless the listener
    /// requests a stop: then they are killed.
    ///
    /// # Errors
    /// When a server does not exit.
    pub fn stop(self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.system_handle.stop(listener)
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("identity", &self.identity).finish_non_exhaustive()
    }
}

/// External servers: dyno neither starts nor stops them.
pub(crate) struct External {
    pub(crate) addresses: Vec<SocketAddr>,
}

impl External {
    /// Servers at these addresses; a unix socket has none.
    pub(crate) fn at(addresses: &[Address]) -> Self {
        let address = |address: &Address| match address.endpoint {
            Endpoint::Tcp(address) => Some(address),
            Endpoint::Unix(_) => None,
        };
        Self { addresses: addresses.iter().filter_map(address).collect() }
    }
}

impl SystemHandle for External {
    fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.clone()
    }

    fn snapshot(&mut self, _listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        bail!(
            "the data of a server that was not started here cannot be copied: set between = \
             \"reload\" (or \"keep\"), or let dyno start one with kind = \"mariadb\" or \"tidb\""
        )
    }

    fn restore(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.snapshot(listener)
    }
}

/// A system without data to save.
struct Stateless;

impl SystemHandle for Stateless {
    fn snapshot(&mut self, _listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        Ok(())
    }

    fn restore(&mut self, _listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        Ok(())
    }
}
