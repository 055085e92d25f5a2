//! The kind `tidb-cluster` of a plan: a managed cluster as a system under test.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use driver::Timeouts;
use plan::{OptionReader, Options, Problem};

use super::cluster::{Cluster, Part, Parts};
use super::identity::{unreported_settings_of, warning, with_storage};
use super::loss::OnMemberExit;
use super::member::{Member, Role};
use super::program::{Choice, Program};
use crate::tidb::ServerSetup;
use crate::{ProgressEvent, ProgressListener, Running, System};

/// The most servers of one role; one machine cannot run more.
const SERVERS_MAX: u64 = 64;

#[derive(Clone, Debug)]
struct Managed {
    pd: RequestedServers,
    tikv: RequestedServers,
    tidb: RequestedServers,
    setup: ServerSetup,
    on_member_exit: OnMemberExit,
    /// The environment of all servers, which none of them reports.
    environment: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
struct RequestedServers {
    role: Role,
    choice: Choice,
    count: usize,
    member: Member,
}

/// Reads the options of a cluster; relative files are relative to `folder`.
pub(crate) fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let environment = reader.settings("env");
    let mut asked = |role, count, default| RequestedServers {
        role,
        choice: Choice::read(role, &mut reader, folder),
        count: count_of(&mut reader, count, default),
        member: Member::read(role, &mut reader, &environment, folder),
    };
    let pd = asked(Role::Pd, "pds", 1);
    let tikv = asked(Role::TiKv, "stores", 3);
    let tidb = asked(Role::TiDb, "tidbs", 1);
    let setup = ServerSetup::read(&mut reader);
    let on_member_exit =
        reader.choice("on_member_exit", OnMemberExit::Continue, &OnMemberExit::CHOICES);
    reader.finish()?;
    Ok(Box::new(Managed { pd, tikv, tidb, setup, on_member_exit, environment }))
}

fn count_of(reader: &mut OptionReader<'_>, name: &str, default: u64) -> usize {
    usize::try_from(reader.integer(name, default, 1..=SERVERS_MAX)).unwrap_or(usize::MAX)
}

impl RequestedServers {
    fn program(&self) -> anyhow::Result<Program> {
        self.choice.find(self.role, &self.member.settings.environment)
    }

    fn part(&self) -> anyhow::Result<Part> {
        let program = self.program()?;
        Ok(Part { program, settings: self.member.settings.clone(), count: self.count })
    }
}

impl System for Managed {
    fn provide(&self, listener: &mut ProgressListener<'_>) -> anyhow::Result<()> {
        for asked in [&self.pd, &self.tikv, &self.tidb] {
            let program = asked.program()?;
            let Some(warning) = warning(asked.role, &program) else { continue };
            if listener(ProgressEvent::Note(&warning)) == ControlFlow::Break(()) {
                bail!("interrupted before the cluster was started");
            }
        }
        Ok(())
    }

    fn start(
        &self,
        scratch: &Path,
        timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running> {
        let parts = Parts {
            pd: self.pd.part()?,
            tikv: self.tikv.part()?,
            tidb: self.tidb.part()?,
            on_member_exit: self.on_member_exit,
        };
        let cluster = Cluster::start(&parts, scratch, listener)?;
        let (ports, password) = (cluster.ports(), cluster.password());
        let (target, mut facts) = self.setup.say(&ports, &password, timeouts, listener)?;
        facts.identity = with_storage(facts.identity, &parts.tikv.program, parts.tikv.count);
        let unreported_settings = self.unreported_settings(&parts, &cluster);
        let login = cluster.login();
        Ok(Running::database(target, facts, cluster)
            .with_settings(unreported_settings)
            .with_login(login))
    }
}

impl Managed {
    /// Settings that affect performance and that TiDB does not report.
    fn unreported_settings(&self, parts: &Parts, cluster: &Cluster) -> Vec<(String, String)> {
        let counts = [
            ("pds", parts.pd.count),
            ("stores", parts.tikv.count),
            ("tidbs", parts.tidb.count),
            ("replicas", cluster.replicas()),
        ];
        let mut unreported_settings: Vec<(String, String)> =
            counts.map(|(name, count)| (name.to_owned(), count.to_string())).to_vec();
        unreported_settings.extend(unreported_settings_of(&[
            (Role::Pd, &parts.pd.program),
            (Role::TiKv, &parts.tikv.program),
            (Role::TiDb, &parts.tidb.program),
        ]));
        unreported_settings.extend(self.environment.iter().cloned());
        for asked in [&self.pd, &self.tikv, &self.tidb] {
            unreported_settings.extend(asked.member.unreported_settings.iter().cloned());
        }
        unreported_settings
    }
}

#[cfg(test)]
mod tests;
