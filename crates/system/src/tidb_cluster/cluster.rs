//! A running cluster: started in order, watched, copied and restored, stopped in reverse.

use std::net::SocketAddr;
use std::ops::ControlFlow::{Break, Continue};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use net::Clock;
use plan::Password;

use super::loss::{OnMemberExit, RoleCount, unserved};
use super::member::Role;
use super::pd::{PAGE_BOUND, Pd, page};
use super::placement::{lacks, replicas};
use super::program::Program;
use super::store::Store;
use crate::aside::aside;
use crate::daemon::Daemon;
use crate::mysql::MANAGED;
use crate::ports::local;
use crate::running::SystemHandle;
use crate::secret::Secret;
use crate::tidb::{Settings, Storage, TiDb, joined};
use crate::{
    LoginUrl, LostMember, MetricsEndpoint, ProgressEvent, ProgressListener, ServerProcess,
};

/// Time between two checks whether the cluster is complete.
const POLL_PERIOD: Duration = Duration::from_millis(100);
/// Time between two checks while servers are stopped or started.
const LOOK_PERIOD: Duration = Duration::from_millis(20);
/// How long a cluster may take until it is complete.
const COMPLETE_BOUND: Duration = Duration::from_secs(120);
/// The pause between two attempts of a PD to join others, and the number of attempts.
const JOIN_PAUSE: Duration = Duration::from_secs(1);
const JOIN_TRIES: u32 = 30;
/// The stage in which all servers are started again.
const STARTING_AGAIN: &str = "starting the cluster again";
/// PD's message when the others do not accept it yet.
const NOT_YET: &str = "unhealthy cluster";
/// The path of the page on which servers expose their metrics.
const METRICS: &str = "/metrics";

#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) program: Program,
    pub(super) settings: Settings,
    pub(super) count: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) pd: Part,
    pub(super) tikv: Part,
    pub(super) tidb: Part,
    pub(super) on_member_exit: OnMemberExit,
}

/// A running cluster. Dropping it stops the cluster and removes its data.
#[derive(Debug)]
pub(super) struct Cluster {
    // Dropped in this order, which is the order of stopping.
    tidbs: Vec<Daemon>,
    stores: Vec<Daemon>,
    pds: Vec<Daemon>,
    replicas: usize,
    on_member_exit: OnMemberExit,
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
            on_member_exit: parts.on_member_exit,
            stores_tell: false,
            secret: Secret::random()?,
        };
        for number in 1..=parts.pd.count {
            let start = |listener: &mut ProgressListener<'_>| {
                start_pd(|| cluster.pd(number, &parts.pd), scratch, listener)
            };
            let pd = named(&member(Role::Pd, number, parts.pd.count), listener, start)?;
            cluster.pds.push(pd);
        }
        for number in 1..=parts.tikv.count {
            let store = cluster.store(&parts.tikv);
            let start =
                |listener: &mut ProgressListener<'_>| Daemon::start(store, scratch, listener);
            let name = member(Role::TiKv, number, parts.tikv.count);
            cluster.stores.push(named(&name, listener, start)?);
        }
        cluster.settle(listener)?;
        for number in 1..=parts.tidb.count {
            let tidb = cluster.tidb(&parts.tidb);
            let start =
                |listener: &mut ProgressListener<'_>| Daemon::start(tidb, scratch, listener);
            let name = member(Role::TiDb, number, parts.tidb.count);
            cluster.tidbs.push(named(&name, listener, start)?);
        }
        let pages: Vec<u16> = cluster.stores.iter().map(Daemon::status_port).collect();
        let tells = |port: u16| page(local(port), METRICS, PAGE_BOUND).is_ok();
        let all_expose = move || pages.into_iter().all(tells);
        cluster.stores_tell = aside("asking the stores for metrics", listener, all_expose)?;
        Ok(cluster)
    }

    fn pd(&self, number: usize, part: &Part) -> Pd {
        Pd {
            program: part.program.clone(),
            settings: part.settings.clone(),
            name: format!("{}-{number}", Role::Pd.name()),
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
        Some(self.secret.url_at(&MANAGED, &joined(&addresses(&self.tidbs))))
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
        let count = stores.len();
        let counted = aside("asking PD for its settings", listener, move || replicas(pd, count))?;
        self.replicas = counted;
        let stage = format!("waiting for {} replicas of each region", self.replicas);
        let mut lack = String::new();
        let clock = Clock::monotonic();
        while Duration::from_nanos(clock.now()) < COMPLETE_BOUND {
            if let Some(why) = exit_messages(&self.members()[..2]) {
                bail!(why);
            }
            let stores = stores.clone();
            match aside(&stage, listener, move || lacks(pd, &stores, counted))? {
                Some(this) => lack = this,
                None => return Ok(()),
            }
            pause(POLL_PERIOD, &stage, listener)?;
        }
        bail!("the cluster is not complete after {COMPLETE_BOUND:?}: {lack}")
    }

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
            at_once(servers, stop, &mut look)?;
        }
        Ok(is_patient.into_inner())
    }

    /// Starts all again on their ports and data. A PD answers only when most PDs run.
    fn start_again(&mut self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        pause(Duration::ZERO, STARTING_AGAIN, listener)?;
        start_all(&mut self.pds, listener)?;
        start_all(&mut self.stores, listener)?;
        self.settle(listener)?;
        start_all(&mut self.tidbs, listener)
    }

    /// Does work on the data of all servers while all are stopped.
    fn while_stopped(
        &mut self,
        work: fn(&Daemon, &mut ProgressListener<'_>) -> anyhow::Result<()>,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        if let Some(why) = exit_messages(&self.members()) {
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
        let members = self.members();
        if self.on_member_exit == OnMemberExit::Crash {
            return exit_messages(&members);
        }
        let count = |(role, servers): (Role, &[Daemon])| RoleCount {
            role,
            started: servers.len(),
            running: servers.iter().filter(|server| server.exit().is_none()).count(),
        };
        // Before the logs are read: this is called several times a second.
        let unserved = unserved(&members.map(count), self.replicas)?;
        Some(format!("{unserved}\n{}", exit_messages(&members)?))
    }

    fn goes_on_without_members(&self) -> bool {
        self.on_member_exit == OnMemberExit::Continue
    }

    fn lost_members(&self) -> Vec<LostMember> {
        let members = self.members();
        let lost = each(&members)
            .filter_map(|(role, name, server)| server.lost(name, role.name().to_owned()));
        let mut lost: Vec<LostMember> = lost.collect();
        lost.sort_by_key(|member| member.at);
        lost
    }

    fn start_member(
        &mut self,
        name: &str,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<()> {
        let roles = [
            (Role::Pd, &mut self.pds),
            (Role::TiKv, &mut self.stores),
            (Role::TiDb, &mut self.tidbs),
        ];
        for (role, servers) in roles {
            let count = servers.len();
            let mut numbered = servers.iter_mut().zip(1..);
            if let Some((server, _)) = numbered.find(|(_, at)| member(role, *at, count) == name) {
                return named(name, listener, |listener| server.start_again_with(listener));
            }
        }
        let all: Vec<String> = each(&self.members()).map(|(_, name, _)| name).collect();
        bail!("there is no {name} in this cluster: it has {}", all.join(", "))
    }

    fn processes(&self) -> Vec<ServerProcess> {
        let process =
            |(_, role, server): (_, String, &Daemon)| ServerProcess { role, pid: server.pid() };
        each(&self.members()).map(process).collect()
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

/// The name of one of `count` servers of a role, such as `tikv-2`, or `tidb` for the only one.
fn member(role: Role, number: usize, count: usize) -> String {
    match count {
        1 => role.name().to_owned(),
        _ => format!("{}-{number}", role.name()),
    }
}

fn each<'a>(members: &[(Role, &'a [Daemon])]) -> impl Iterator<Item = (Role, String, &'a Daemon)> {
    members.iter().flat_map(|&(role, servers)| {
        let name = move |at| member(role, at, servers.len());
        servers.iter().zip(1..).map(move |(server, at)| (role, name(at), server))
    })
}

/// The exit messages of the servers that have exited; `None` while all run.
fn exit_messages(members: &[(Role, &[Daemon])]) -> Option<String> {
    let messages: Vec<String> = each(members)
        .filter_map(|(_, name, server)| Some(format!("{name}: {}", server.exited()?)))
        .collect();
    (!messages.is_empty()).then(|| messages.join("\n"))
}

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
    let mut left = length;
    loop {
        if listener(ProgressEvent::stage(stage)).is_break() {
            bail!("interrupted while {stage}");
        }
        let slice = left.min(POLL_PERIOD);
        if slice.is_zero() {
            return Ok(());
        }
        thread::sleep(slice);
        left -= slice;
    }
}

/// Starts servers again that have exited, all at once, unless the listener requests a stop.
fn start_all(servers: &mut [Daemon], listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
    let goes_on = AtomicBool::new(true);
    let start = |server: &mut Daemon| {
        server.start_again_with(&mut |_: ProgressEvent<'_>| {
            if goes_on.load(Ordering::Relaxed) { Continue(()) } else { Break(()) }
        })
    };
    let mut look = || {
        let step = ProgressEvent::stage(STARTING_AGAIN);
        goes_on.fetch_and(listener(step).is_continue(), Ordering::Relaxed);
    };
    at_once(servers, start, &mut look)
}

/// Starts a server under its name in the cluster, which progress and errors mention.
fn named<T>(
    name: &str,
    listener: &mut ProgressListener<'_>,
    start: impl FnOnce(&mut ProgressListener<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let stage = format!("starting {name}");
    let mut by_name = |_: ProgressEvent<'_>| listener(ProgressEvent::stage(&stage));
    start(&mut by_name).map_err(|error| anyhow!("{name}: {error:#}"))
}

/// Does the same for all servers at once; returns the first error. `look` is called from time to time until all is
/// done.
fn at_once(
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
