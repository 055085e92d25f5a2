//! What a generator must know to offer its part of a trial's load: the workload, the access to the system, and the size
//! of the whole load. A job has secrets; it is written only into the pipe to a generator.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use driver::{Demand, PortableService, PortableTarget, Secrets, ServerLimits, Shortage, Timeouts};
use engine::{Load, OfferedLoad, Stop};
use net::Endpoint;
use plan::{Existing, Password, PhaseSql, Place};
use runner::{SharedTrial, ShippedWorkload, TrialWorkload, tcp_peers};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use system::Access;
use workload::{LoadKey, LoadPart, LoadProgress, WorkloadContext};

/// The other ends of TCP connections to the system, or why there are none, and how often to read the counters.
pub(crate) type Peers = (Result<Vec<SocketAddr>, String>, Duration);

#[derive(Serialize, Deserialize)]
pub(crate) struct GeneratorJob {
    workload: ShippedWorkload,
    access: JobAccess,
    secrets: JobSecrets,
    system: String,
    seed: u64,
    load_key: LoadKey,
    part: LoadPart,
    /// Statements on every client's session, when it connects.
    run_session: Vec<String>,
    /// Connections of all clients together.
    connections: usize,
    /// What the coordinator's process has found out about the data.
    knowledge: Vec<u64>,
    /// The load of all generators together.
    offer: OfferedLoad,
    /// How often the counters of its connections are read; `None` where nothing is watched.
    connections_period: Option<Duration>,
}

#[derive(Serialize, Deserialize)]
enum JobAccess {
    Database(PortableTarget),
    Service(PortableService, Timeouts),
}

impl GeneratorJob {
    /// The job of one generator in a trial of this whole load.
    ///
    /// # Errors
    /// When a generator at that place cannot reach the system, or cannot offer the load.
    pub(crate) fn of(
        trial: &SharedTrial<'_>,
        (part, place): (LoadPart, &Place),
        offer: &OfferedLoad,
    ) -> Result<Self> {
        let (access, secrets) = match &trial.access {
            Access::Database(target) => {
                let portable = target.portable().context("the system is in this process")?;
                let (portable, secrets) = portable;
                (JobAccess::Database(portable), secrets)
            }
            Access::Service(service) => {
                let (portable, secrets) = service.portable();
                (JobAccess::Service(portable, trial.timeouts), secrets)
            }
            Access::Simulated(_) => bail!("the system is simulated in this process"),
        };
        if let Some(why) = unreachable(&trial.access.endpoints(), place) {
            bail!(why);
        }
        Ok(Self {
            workload: trial.workload.clone(),
            access,
            secrets: JobSecrets::of(secrets),
            system: trial.system.to_owned(),
            seed: trial.seed,
            load_key: trial.load_key,
            part,
            run_session: trial.run_session.clone(),
            connections: trial.connections,
            knowledge: trial.knowledge.clone(),
            offer: offer.clone(),
            connections_period: trial.connections_period,
        })
    }

    /// The load of all generators together, with the clients that this one starts of it.
    ///
    /// # Errors
    /// When the clients cannot be made here, such as settings of TLS that this machine cannot use.
    pub(crate) fn load(&self) -> Result<(OfferedLoad, Box<dyn Load>)> {
        let workload = self.workload.read().map_err(|problems| {
            let told: Vec<String> = problems.into_iter().map(|it| it.message).collect();
            anyhow!("workload {}: {}", self.workload.kind(), told.join("; "))
        })?;
        let secrets = self.secrets.driver();
        let load = match (&workload, &self.access) {
            (TrialWorkload::Database(workload), JobAccess::Database(target)) => {
                let target = target.target(&secrets)?;
                let sql = PhaseSql { run_session: self.run_session.clone(), ..PhaseSql::default() };
                let context = WorkloadContext {
                    system: &self.system,
                    target: &target,
                    keeps_data: true,
                    loaders: 1,
                    existing: Existing::Reuse,
                    seed: self.seed,
                    load_key: self.load_key,
                    sql: &sql,
                    progress: &LoadProgress::new(),
                    reconnect_limit: None,
                    stop: &Stop::new(),
                };
                if let Some(parts) = workload.in_parts() {
                    parts.learn(&context, &self.knowledge);
                }
                workload.load_part(&context, self.part)
            }
            (TrialWorkload::Service(rpc), JobAccess::Service(service, timeouts)) => {
                let (service, key) = (service.service(&secrets)?, (self.seed, self.load_key));
                // The coordinator ends this process when it must.
                rpc.load(&service, *timeouts, key, &Stop::new())?
            }
            _ => bail!("the workload does not fit the system"),
        };
        Ok((self.offer.clone(), load))
    }

    /// The other ends of its connections, where they are watched, and how often.
    pub(crate) fn watched_peers(&self) -> Option<Peers> {
        let secrets = self.secrets.driver();
        let endpoints = match &self.access {
            JobAccess::Database(target) => target.target(&secrets).ok()?.endpoints(),
            JobAccess::Service(service, _) => service.service(&secrets).ok()?.endpoints(),
        };
        Some((tcp_peers(&endpoints), self.connections_period?))
    }

    /// Every resource that this machine has too few of for so many clients, with its remedy. Raises this process's
    /// own limit of open files if that is enough.
    ///
    /// # Errors
    /// As [`GeneratorJob::load`].
    pub(crate) fn shortages(&self, clients: usize) -> Result<Vec<Shortage>> {
        let connections = clients.min(self.connections);
        let secrets = self.secrets.driver();
        Ok(match &self.access {
            JobAccess::Database(target) => {
                let demand = Demand { clients: connections, statements_per_client: 0 };
                target.target(&secrets)?.shortages(&ServerLimits::default(), demand)
            }
            JobAccess::Service(service, _) => service.service(&secrets)?.shortages(connections),
        })
    }
}

/// Why a generator there cannot reach a system at these addresses.
fn unreachable(endpoints: &[Endpoint], place: &Place) -> Option<String> {
    let is_socket = |endpoint: &&Endpoint| matches!(endpoint, Endpoint::Unix(_));
    let socket = endpoints.iter().find(is_socket).filter(|_| *place != Place::Local)?;
    let Endpoint::Unix(path) = socket else { return None };
    Some(format!(
        "generator {place} cannot use the unix socket {} of this machine: give the system's URL with a TCP address that \
         the generator can reach",
        path.display()
    ))
}

/// Shows no option, no statement and no secret.
impl fmt::Debug for GeneratorJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeneratorJob")
            .field("workload", &self.workload.kind())
            .field("system", &self.system)
            .field("part", &self.part)
            .field("load_key", &self.load_key)
            .finish_non_exhaustive()
    }
}

/// The secrets of a job: the only form in which any are written.
#[derive(Serialize, Deserialize)]
struct JobSecrets {
    password: Secret,
    certificate: Option<[Secret; 2]>,
}

/// A secret that is written and read as its bytes.
struct Secret(Password);

impl JobSecrets {
    fn of(secrets: Secrets) -> Self {
        let Secrets { password, certificate } = secrets;
        Self { password: Secret(password), certificate: certificate.map(|it| it.map(Secret)) }
    }

    fn driver(&self) -> Secrets {
        let certificate = self.certificate.as_ref().map(|it| it.each_ref().map(|it| it.0.clone()));
        Secrets { password: self.password.0.clone(), certificate }
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.reveal(|bytes| to.serialize_bytes(bytes))
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_bytes(SecretBytes)
    }
}

struct SecretBytes;

impl Visitor<'_> for SecretBytes {
    type Value = Secret;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Secret, E> {
        Ok(Secret(Password::of_bytes(bytes.to_vec())))
    }
}

#[cfg(test)]
mod tests;
