//! A server as the handle of a system of one server.

use std::net::SocketAddr;
use std::sync::Arc;

use super::Daemon;
use crate::ports::local;
use crate::running::SystemHandle;
use crate::{FlushGate, LostMember, MetricsEndpoint, ProgressListener, ServerProcess};

impl Daemon {
    fn role(&self) -> String {
        self.recipe.name().to_lowercase()
    }
}

impl SystemHandle for Daemon {
    fn exited(&mut self) -> Option<String> {
        Daemon::exited(self)
    }

    fn lost_members(&self) -> Vec<LostMember> {
        self.lost(self.role(), self.role()).into_iter().collect()
    }

    fn processes(&self) -> Vec<ServerProcess> {
        vec![ServerProcess { role: self.role(), pid: self.pid() }]
    }

    fn flush_gates(&self) -> Vec<Arc<FlushGate>> {
        self.recipe.flushes().into_iter().collect()
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        vec![local(self.port())]
    }

    fn metrics(&self) -> Vec<MetricsEndpoint> {
        self.recipe.metrics(self.reserved.ports).into_iter().collect()
    }

    fn snapshot(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        Daemon::snapshot(self, listener)
    }

    fn restore(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        Daemon::restore(self, listener)
    }

    fn stop(self: Box<Self>, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        // Whether it ended cleanly or was killed: its data are removed.
        self.stop_process(&mut || self.goes_on(listener))
    }
}
