//! A cluster that is up: started in order, watched, copied and brought back, stopped in reverse.

use std::net::SocketAddr;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};

use super::member::Role;
use super::pd::{Pd, page};
use super::placement::{lacks, replicas};
use super::program::Program;
use super::store::Store;
use crate::daemon::Daemon;
use crate::ports::local;
use crate::running::Backing;
use crate::tidb::{Server, Settings, Storage};
use crate::{MetricsEndpoint, ServerProcess};

/// Between two looks whether the cluster is complete.
const LOOK: Duration = Duration::from_millis(100);
/// So many looks before it is given up: two minutes.
const LOOKS: u32 = 1200;
/// Between two tries of a PD to join others, and how many there are.
const JOIN_PAUSE: Duration = Duration::from_secs(1);
const JOIN_TRIES: u32 = 30;
/// How PD says that the others do not take it yet.
const NOT_YET: &str = "unhealthy cluster";
/// Where servers show their figures.
const METRICS: &str = "/metrics";

/// What is started in a role.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) program: Program,
    pub(super) settings: Settings,
    pub(super) count: usize,
}

/// What is started in all.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) pd: Part,
    pub(super) tikv: Part,
    pub(super) tidb: Part,
}

/// A cluster that is up. Dropping it stops it and removes its data.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    // Dropped in this order, which is that of stopping.
    tidbs: Vec<Server>,
    stores: Vec<Daemon<Store>>,
    pds: Vec<Daemon<Pd>>,
    replicas: usize,
    /// Whether the stores show figures.
    stores_tell: bool,
}

impl Cluster {
    /// Starts PD, then the stores, and TiDB once every region has its replicas; their data lie below
    /// `scratch`.
    ///
    /// # Errors
    /// When one of them does not start or the cluster is not complete in time, with what is missing.
    pub(super) fn start(parts: &Parts, scratch: &Path) -> anyhow::Result<Self> {
        let mut cluster = Self::default();
        for number in 1..=parts.pd.count {
            let pd = start_pd(|| cluster.pd(number, &parts.pd), scratch);
            cluster.pds.push(named(Role::Pd, number, pd)?);
        }
        for number in 1..=parts.tikv.count {
            let store = cluster.store(&parts.tikv);
            cluster.stores.push(named(Role::TiKv, number, Daemon::start(store, scratch))?);
        }
        cluster.settle()?;
        for number in 1..=parts.tidb.count {
            let (program, settings) =
                (parts.tidb.program.path.clone(), parts.tidb.settings.clone());
            let storage = Storage::Cluster(cluster.pd_addresses());
            let tidb = Server::start_on(storage, program, settings, scratch);
            cluster.tidbs.push(named(Role::TiDb, number, tidb)?);
        }
        let tells = |store: &Daemon<Store>| page(store.recipe.status_address(), METRICS).is_ok();
        cluster.stores_tell = cluster.stores.iter().all(tells);
        Ok(cluster)
    }

    fn pd(&self, number: usize, part: &Part) -> Pd {
        Pd {
            program: part.program.clone(),
            settings: part.settings.clone(),
            name: format!("{}-{number}", Role::Pd.name()),
            joins: self.pd_addresses().first().copied(),
            port: 0,
            peer_port: 0,
        }
    }

    fn store(&self, part: &Part) -> Store {
        Store {
            program: part.program.clone(),
            settings: part.settings.clone(),
            pds: self.pd_addresses(),
            port: 0,
            status_port: 0,
        }
    }

    /// The ports of 127.0.0.1 on which TiDB listens.
    pub(super) fn ports(&self) -> Vec<u16> {
        self.tidbs.iter().map(Server::port).collect()
    }

    /// How many replicas each region has.
    pub(super) fn replicas(&self) -> usize {
        self.replicas
    }

    fn pd_addresses(&self) -> Vec<SocketAddr> {
        self.pds.iter().map(|pd| pd.recipe.address()).collect()
    }

    /// Waits until every store is up and every region has its replicas; TiDB is not there then.
    fn settle(&mut self) -> anyhow::Result<()> {
        let pd = *self.pd_addresses().first().context("a cluster without a PD")?;
        let stores: Vec<SocketAddr> =
            self.stores.iter().map(|store| store.recipe.address()).collect();
        self.replicas = replicas(pd, stores.len());
        let mut lack = String::new();
        for _ in 0..LOOKS {
            if let Some(why) = told(self.storage_ends()) {
                bail!(why);
            }
            match lacks(pd, &stores, self.replicas) {
                Some(this) => lack = this,
                None => return Ok(()),
            }
            thread::sleep(LOOK);
        }
        bail!("the cluster is not complete after {:?}: {lack}", LOOK * LOOKS)
    }

    /// Which servers have ended, and their last words.
    fn ended(&self) -> Option<String> {
        let tidbs = self.tidbs.iter().map(Server::exited).enumerate();
        let tidbs = tidbs.filter_map(|(at, why)| Some((Role::TiDb, at, why?)));
        told(self.storage_ends().chain(tidbs))
    }

    /// Which PDs and stores have ended.
    fn storage_ends(&self) -> impl Iterator<Item = (Role, usize, String)> {
        let pds = self.pds.iter().map(Daemon::exited).enumerate();
        let stores = self.stores.iter().map(Daemon::exited).enumerate();
        pds.filter_map(|(at, why)| Some((Role::Pd, at, why?)))
            .chain(stores.filter_map(|(at, why)| Some((Role::TiKv, at, why?))))
    }

    /// Ends all in good order; those of one role at once, because each waits for what it does.
    fn halt(&mut self) -> anyhow::Result<()> {
        at_once(&mut self.tidbs, |tidb| tidb.halt())?;
        at_once(&mut self.stores, |store| store.halt())?;
        at_once(&mut self.pds, |pd| pd.halt())
    }

    /// Starts all again on their ports and data. A PD answers only when most of them are there.
    fn start_again(&mut self) -> anyhow::Result<()> {
        at_once(&mut self.pds, Daemon::start_again)?;
        at_once(&mut self.stores, Daemon::start_again)?;
        self.settle()?;
        at_once(&mut self.tidbs, Server::start_again)
    }

    /// Works on the data of all while all are stopped.
    fn while_halted(
        &mut self,
        of_store: fn(&Daemon<Store>) -> anyhow::Result<()>,
        of_pd: fn(&Daemon<Pd>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if let Some(why) = self.ended() {
            bail!(why);
        }
        self.halt()?;
        let worked = self.stores.iter().try_for_each(of_store);
        let worked = worked.and_then(|()| self.pds.iter().try_for_each(of_pd));
        // Whatever became of the copy, the cluster is expected to be there afterwards.
        self.start_again()?;
        worked
    }
}

impl Backing for Cluster {
    fn exited(&mut self) -> Option<String> {
        self.ended()
    }

    fn processes(&self) -> Vec<ServerProcess> {
        let pds = self.pds.iter().map(Daemon::pid).collect();
        let stores = self.stores.iter().map(Daemon::pid).collect();
        let tidbs = self.tidbs.iter().map(Server::pid).collect();
        let roles: [(Role, Vec<u32>); 3] =
            [(Role::Pd, pds), (Role::TiKv, stores), (Role::TiDb, tidbs)];
        let of_role = |(role, pids): (Role, Vec<u32>)| {
            let is_alone = pids.len() == 1;
            pids.into_iter().enumerate().map(move |(at, pid)| ServerProcess {
                role: if is_alone { role.name().to_owned() } else { member(role, at + 1) },
                pid,
            })
        };
        roles.into_iter().flat_map(of_role).collect()
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        self.ports().into_iter().map(local).collect()
    }

    fn metrics(&self) -> Vec<MetricsEndpoint> {
        let tidbs = self.tidbs.iter().map(|tidb| (Role::TiDb, local(tidb.status_port())));
        let pds = self.pds.iter().map(|pd| (Role::Pd, pd.recipe.address()));
        let telling = self.stores.iter().filter(|_| self.stores_tell);
        let stores = telling.map(|store| (Role::TiKv, store.recipe.status_address()));
        let all = tidbs.chain(pds).chain(stores);
        all.map(|(role, address)| MetricsEndpoint {
            role: role.name().to_owned(),
            address: address.to_string(),
            path: METRICS.to_owned(),
        })
        .collect()
    }

    fn snapshot(&mut self) -> anyhow::Result<()> {
        self.while_halted(Daemon::keep, Daemon::keep)
    }

    fn restore(&mut self) -> anyhow::Result<()> {
        self.while_halted(Daemon::bring_back, Daemon::bring_back)
    }

    fn stop(mut self: Box<Self>) -> anyhow::Result<()> {
        self.halt()
    }
}

/// A server's name in messages, such as `tikv-2`.
fn member(role: Role, number: usize) -> String {
    format!("{}-{number}", role.name())
}

/// Starts a PD. Others take it only once each of them has known the others for some seconds, and until
/// then it ends by itself.
fn start_pd(pd: impl Fn() -> Pd, scratch: &Path) -> anyhow::Result<Daemon<Pd>> {
    for _ in 1..JOIN_TRIES {
        match Daemon::start(pd(), scratch) {
            Err(error) if format!("{error:#}").contains(NOT_YET) => thread::sleep(JOIN_PAUSE),
            started => return started,
        }
    }
    Daemon::start(pd(), scratch)
}

/// The last words of those that have ended, if any has.
fn told(ends: impl Iterator<Item = (Role, usize, String)>) -> Option<String> {
    let ends: Vec<String> =
        ends.map(|(role, at, why)| format!("{}: {why}", member(role, at + 1))).collect();
    (!ends.is_empty()).then(|| ends.join("\n"))
}

/// A start that failed, with the name of the server that it was.
fn named<T>(role: Role, number: usize, started: anyhow::Result<T>) -> anyhow::Result<T> {
    started.map_err(|error| anyhow!("{}: {error:#}", member(role, number)))
}

/// Does the same with all at once; the first error of any.
fn at_once<T: Send>(
    servers: &mut [T],
    work: impl Fn(&mut T) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    thread::scope(|scope| {
        let jobs: Vec<_> = servers.iter_mut().map(|server| scope.spawn(|| work(server))).collect();
        let ends: Vec<anyhow::Result<()>> = jobs
            .into_iter()
            .map(|job| job.join().unwrap_or_else(|_| bail!("a thread of the cluster ended early")))
            .collect();
        ends.into_iter().collect()
    })
}
