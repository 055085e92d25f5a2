//! A running cluster: started in order, watched, copied and restored, stopped in reverse.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use net::Clock;
use plan::Password;

use super::member::Role;
use super::pd::{Pd, page};
use super::placement::{lacks, replicas};
use super::program::Program;
use super::store::Store;
use crate::daemon::Daemon;
use crate::ports::local;
use crate::running::SystemHandle;
use crate::secret::Secret;
use crate::tidb::{Settings, Storage, TiDb, joined};
use crate::{LoginUrl, MetricsEndpoint, ProgressEvent, ProgressListener, ServerProcess};

/// Time between two checks whether the cluster is complete.
const POLL_PERIOD: Duration = Duration::from_millis(100);
/// Time between two checks while servers are stopped or started.
const LOOK_PERIOD: Duration = Duration::from_millis(20);
/// How long a cluster may take until it is complete.
const COMPLETE_BOUND: Duration = Duration::from_secs(120);
/// The pause between two attempts of a PD to join others, and the number of attempts.
const JOIN_PAUSE: Duration = Duration::from_secs(1);
const JOIN_TRIES: u32 = 30;
/// PD's message when the others do not accept it yet.
const NOT_YET: &str = "unhealthy cluster";
/// The path of the page on which servers expose their metrics.
const METRICS: &str = "/metrics";

/// The servers of one role.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) program: Program,
    pub(super) settings: Settings,
    pub(super) count: usize,
}

/// The servers of all roles.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) pd: Part,
    pub(super) tikv: Part,
    pub(super) tidb: Part,
}

/// A running cluster. Dropping it stops the cluster and removes its data.
#[derive(Debug)]
pub(super) struct Cluster {
    // Dropped in this order, which is the order of stopping.
    tidbs: Vec<Daemon>,
    stores: Vec<Daemon>,
    pds: Vec<Daemon>,
    replicas: usize,
    /// Whether the stores expose metrics.
    stores_tell: bool,
    /// The password of all its TiDBs, which share their accounts.
    secret: Secret,
}

impl Cluster {
    /// Starts PD, then the stores, then TiDB once every region has its replicas; their data are below `scratch`.
    ///
    /// # Errors
    /// When a server does not start, or the cluster is not complete in time, with what is missing; or when a stop was
    /// requested.
    pub(super) fn start(
        parts: &Parts,
        scratch: &Path,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Self> {
        let mut cluster = Self {
            tidbs: Vec::new(),
            stores: Vec::new(),
            pds: Vec::new(),
            replicas: 0,
            stores_tell: false,
            secret: Secret::random()?,
        };
        for number in 1..=parts.pd.count {
            let start = |listener: &mut ProgressListener<'_>| {
                start_pd(|| cluster.pd(number, &parts.pd), scratch, listener)
            };
            let pd = named(Role::Pd, number, listener, start)?;
            cluster.pds.push(pd);
        }
        for number in 1..=parts.tikv.count {
            let store = cluster.store(&parts.tikv);
            let start =
                |listener: &mut ProgressListener<'_>| Daemon::start(store, scratch, listener);
            cluster.stores.push(named(Role::TiKv, number, listener, start)?);
        }
        cluster.settle(listener)?;
        for number in 1..=parts.tidb.count {
            let tidb = cluster.tidb(&parts.tidb);
            let start =
                |listener: &mut ProgressListener<'_>| Daemon::start(tidb, scratch, listener);
            cluster.tidbs.push(named(Role::TiDb, number, listener, start)?);
        }
        let tells = |store: &Daemon| page(local(store.status_port()), METRICS).is_ok();
        cluster.stores_tell = cluster.stores.iter().all(tells);
        Ok(cluster)
    }

    fn pd(&self, number: usize, part: &Part) -> Pd {
        Pd {
            program: part.program.clone(),
            settings: part.settings.clone(),
            name: member(Role::Pd, number),
            joins: self.pd_addresses().first().copied(),
        }
    }

    fn store(&self, part: &Part) -> Store {
        Store {
            program: part.program.clone(),
            settings: part.settings.clone(),
            pds: self.pd_addresses(),
        }
    }

    fn tidb(&self, part: &Part) -> TiDb {
        let storage = Storage::Cluster(self.pd_addresses());
        TiDb::new(part.program.path.clone(), part.settings.clone(), storage, self.secret.clone())
    }

    /// The ports of 127.0.0.1 on which TiDB listens.
    pub(super) fn ports(&self) -> Vec<u16> {
        self.tidbs.iter().map(Daemon::port).collect()
    }

    /// The login to its TiDBs with the password that dyno has made; `None` when dyno made none.
    pub(super) fn login(&self) -> Option<LoginUrl> {
        self.tidbs.first()?.login()?;
        Some(self.secret.url_at(&joined(&addresses(&self.tidbs))))
    }

    /// The password of its TiDBs; empty when dyno has made none.
    pub(super) fn password(&self) -> Password {
        self.tidbs.first().map(Daemon::password).unwrap_or_default()
    }

    /// How many replicas each region has.
    pub(super) fn replicas(&self) -> usize {
        self.replicas
    }

    fn pd_addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.pds)
    }

    /// Waits until every store is up and every region has its replicas; TiDB does not run yet.
    fn settle(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        let pd = *self.pd_addresses().first().context("a cluster without a PD")?;
        let stores = addresses(&self.stores);
        self.replicas = replicas(pd, stores.len());
        let stage = format!("waiting for {} replicas of each region", self.replicas);
        let mut lack = String::new();
        let clock = Clock::monotonic();
        while Duration::from_nanos(clock.now()) < COMPLETE_BOUND {
            if let Some(why) = ends(&self.members()[..2]) {
                bail!(why);
            }
            match lacks(pd, &stores, self.replicas) {
                Some(this) => lack = this,
                None => return Ok(()),
            }
            pause(POLL_PERIOD, &stage, listener)?;
        }
        bail!("the cluster is not complete after {COMPLETE_BOUND:?}: {lack}")
    }

    /// Its members by role, in the order of their dependencies.
    fn members(&self) -> [(Role, &[Daemon]); 3] {
        [(Role::Pd, &self.pds), (Role::TiKv, &self.stores), (Role::TiDb, &self.tidbs)]
    }

    /// Shuts all down cleanly; those of one role at once, because each stop takes a while. Once the listener requests a
    /// stop, those that still run are killed. Returns whether none was.
    fn stop_processes(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<bool> {
        let is_patient = AtomicBool::new(true);
        let mut look = || {
            let step = ProgressEvent::stage("stopping the cluster");
            is_patient.fetch_and(listener(step).is_continue(), Ordering::Relaxed);
        };
        for servers in [&mut self.tidbs, &mut self.stores, &mut self.pds] {
            let stop = |server: &mut Daemon| {
                server.stop_process(&mut || is_patient.load(Ordering::Relaxed))
            };
            at_once_while(servers, stop, &mut look)?;
        }
        Ok(is_patient.into_inner())
    }

    /// Starts all again on their ports and data. A PD answers only when most PDs run.
    fn start_again(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        pause(Duration::ZERO, "starting the cluster again", listener)?;
        at_once(&mut self.pds, Daemon::start_again)?;
        at_once(&mut self.stores, Daemon::start_again)?;
        self.settle(listener)?;
        at_once(&mut self.tidbs, Daemon::start_again)
    }

    /// Does work on the data of all servers while all are stopped.
    fn while_stopped(
        &mut self,
        work: fn(&Daemon, &mut ProgressListener<'_>) -> anyhow::Result<()>,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        if let Some(why) = ends(&self.members()) {
            bail!(why);
        }
        let is_clean = self.stop_processes(listener)?;
        let mut servers = self.stores.iter().chain(&self.pds);
        let worked = match is_clean {
            true => servers.try_for_each(|server| work(server, listener)),
            false => Err(anyhow!("interrupted while stopping the cluster")),
        };
        // Even if the copy failed, callers expect the cluster to run afterwards. A stop that is still requested ends
        // this too.
        let started = self.start_again(listener);
        worked.and(started)
    }
}

impl SystemHandle for Cluster {
    fn exited(&mut self) -> Option<String> {
        ends(&self.members())
    }

    fn processes(&self) -> Vec<ServerProcess> {
        let of_role = |(role, servers): (Role, &[Daemon])| {
            let name = |at: usize| match servers.len() {
                1 => role.name().to_owned(),
                _ => member(role, at + 1),
            };
            let process = |(at, server): (usize, &Daemon)| ServerProcess {
                role: name(at),
                pid: server.pid(),
            };
            servers.iter().enumerate().map(process).collect::<Vec<_>>()
        };
        self.members().into_iter().flat_map(of_role).collect()
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        addresses(&self.tidbs)
    }

    fn metrics(&self) -> Vec<MetricsEndpoint> {
        let tidbs = self.tidbs.iter().map(|tidb| (Role::TiDb, tidb.status_port()));
        let pds = self.pds.iter().map(|pd| (Role::Pd, pd.port()));
        let telling = self.stores.iter().filter(|_| self.stores_tell);
        let stores = telling.map(|store| (Role::TiKv, store.status_port()));
        let all = tidbs.chain(pds).chain(stores);
        all.map(|(role, port)| MetricsEndpoint::standard(role.name(), &local(port))).collect()
    }

    fn snapshot(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.while_stopped(Daemon::keep, listener)
    }

    fn restore(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.while_stopped(Daemon::reload_snapshot, listener)
    }

    fn stop(mut self: Box<Self>, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        self.stop_processes(listener).map(drop)
    }
}

/// A server's name in messages, such as `tikv-2`.
fn member(role: Role, number: usize) -> String {
    format!("{}-{number}", role.name())
}

/// The exit messages of the servers that have exited, if any have.
fn ends(members: &[(Role, &[Daemon])]) -> Option<String> {
    let mut told = Vec::new();
    for (role, servers) in members {
        let ends = servers.iter().map(Daemon::exited).enumerate();
        told.extend(
            ends.filter_map(|(at, why)| Some(format!("{}: {}", member(*role, at + 1), why?))),
        );
    }
    (!told.is_empty()).then(|| told.join("\n"))
}

/// The addresses of these servers.
fn addresses(servers: &[Daemon]) -> Vec<SocketAddr> {
    servers.iter().map(|server| local(server.port())).collect()
}

/// Starts a PD. The others accept it only once each of them has known the others for some seconds; until then it
/// exits by itself.
fn start_pd(
    pd: impl Fn() -> Pd,
    scratch: &Path,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<Daemon> {
    for _ in 1..JOIN_TRIES {
        match Daemon::start(pd(), scratch, listener) {
            Err(error) if format!("{error:#}").contains(NOT_YET) => {
                pause(JOIN_PAUSE, "joining the other PDs", listener)?;
            }
            started => return started,
        }
    }
    Daemon::start(pd(), scratch, listener)
}

/// Waits for a while, or until a stop is requested.
fn pause(length: Duration, stage: &str, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
    let step = ProgressEvent::stage(stage);
    if listener(step).is_break() {
        bail!("interrupted while {stage}");
    }
    thread::sleep(length);
    Ok(())
}

/// Starts a server under its name in the cluster, which progress and errors mention.
fn named(
    role: Role,
    number: usize,
    listener: &mut ProgressListener<'_>,
    start: impl FnOnce(&mut ProgressListener<'_>) -> anyhow::Result<Daemon>,
) -> anyhow::Result<Daemon> {
    let name = member(role, number);
    let stage = format!("starting {name}");
    let mut by_name = |_: ProgressEvent<'_>| listener(ProgressEvent::stage(&stage));
    start(&mut by_name).map_err(|error| anyhow!("{name}: {error:#}"))
}

/// Does the same for all servers at once; returns the first error.
fn at_once(
    servers: &mut [Daemon],
    work: impl Fn(&mut Daemon) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    at_once_while(servers, work, &mut || ())
}

/// The same; `look` is called from time to time until all is done.
fn at_once_while(
    servers: &mut [Daemon],
    work: impl Fn(&mut Daemon) -> anyhow::Result<()> + Sync,
    look: &mut dyn FnMut(),
) -> anyhow::Result<()> {
    thread::scope(|scope| {
        let jobs: Vec<_> = servers.iter_mut().map(|server| scope.spawn(|| work(server))).collect();
        while jobs.iter().any(|job| !job.is_finished()) {
            look();
            thread::sleep(LOOK_PERIOD);
        }
        let ends: Vec<anyhow::Result<()>> = jobs
            .into_iter()
            .map(|job| job.join().unwrap_or_else(|_| bail!("a thread of the cluster ended early")))
            .collect();
        ends.into_iter().collect()
    })
}
