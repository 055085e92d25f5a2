//! What a generator must know to offer its part of a trial's load: the workload, the access to the system, and the size
//! of the whole load. A job has secrets; it is written only into the pipe to a generator.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use driver::{Demand, PortableService, PortableTarget, Secrets, ServerLimits, Shortage, Timeouts};
use engine::{Load, OfferedLoad, Stop};
use plan::{Existing, Password, PhaseSql, Place, Trial};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use system::Access;
use workload::{LoadKey, LoadPart, LoadProgress, WorkloadContext};

use super::job_workload::JobWorkload;
use super::unfit::unreachable;
use crate::Experiment;
use crate::experiment::TrialWorkload;
use crate::test_bed::TestBed;
use crate::trial::load_key;
use crate::trial_watch::{Peers, host_period};

#[derive(Serialize, Deserialize)]
pub(crate) struct GeneratorJob {
    workload: JobWorkload,
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
        experiment: &Experiment,
        trial: Trial,
        test_bed: &TestBed<'_>,
        (part, place): (LoadPart, &Place),
        offer: &OfferedLoad,
    ) -> Result<Self> {
        let workload =
            experiment.shipped.get(trial.workload).context("the plan has no generators")?;
        let (access, secrets) = match test_bed.access() {
            Access::Database(_) => {
                let portable = test_bed.load_target()?.portable();
                let (target, secrets) = portable.context("the system is in this process")?;
                (JobAccess::Database(target), secrets)
            }
            Access::Service(service) => {
                let (portable, secrets) = service.portable();
                (JobAccess::Service(portable, test_bed.timeouts()), secrets)
            }
            Access::Simulated(_) => bail!("the system is simulated in this process"),
        };
        if let Some(why) = unreachable(&test_bed.endpoints(), place) {
            bail!(why);
        }
        Ok(Self {
            workload: workload.clone(),
            access,
            secrets: JobSecrets::of(secrets),
            system: experiment.plan.systems[trial.system].name.clone(),
            seed: experiment.plan.seed,
            load_key: load_key(trial),
            part,
            run_session: test_bed.run_session().to_vec(),
            connections: experiment.connections(trial),
            knowledge: test_bed.knowledge(trial.workload)?,
            offer: offer.clone(),
            connections_period: experiment
                .plan
                .watch
                .is_on
                .then(|| host_period(&experiment.plan.load)),
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
                    part: self.part,
                    sql: &sql,
                    progress: &LoadProgress::new(),
                    reconnect_limit: None,
                    stop: &Stop::new(),
                };
                workload.learn(&context, &self.knowledge);
                workload.load(&context)
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
    pub(super) fn watched_peers(&self) -> Option<(Peers, Duration)> {
        let secrets = self.secrets.driver();
        let endpoints = match &self.access {
            JobAccess::Database(target) => target.target(&secrets).ok()?.endpoints(),
            JobAccess::Service(service, _) => service.service(&secrets).ok()?.endpoints(),
        };
        Some((Peers::at(&endpoints), self.connections_period?))
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
