//! The kind `tidb-cluster` of a plan: a managed cluster as a system under test.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use driver::Timeouts;
use plan::declared::{Choice, Named, choice, named};
use plan::{Options, Problem};

use super::cluster::{Cluster, Part, Parts};
use super::identity::{unreported_settings_of, warning, with_storage};
use super::loss::OnMemberExit;
use super::member::{Member, PD, Role, TIDB, TIKV};
use super::program::{self, Program};
use crate::mysql::PS;
use crate::options::ENV;
use crate::tidb::{SETTINGS, ServerSetup};
use crate::{Kind, ProgressEvent, ProgressListener, Running, System};

const ON_MEMBER_EXIT: Choice<OnMemberExit> = choice(
    "on_member_exit",
    ("continue", OnMemberExit::Continue),
    &[("continue", OnMemberExit::Continue), ("crash", OnMemberExit::Crash)],
    "continue: when a server exits by itself, the others go on as long as clients can be served, and the \
     record names it; crash: the system has crashed",
);
const ENVIRONMENT: Named =
    named(ENV.name, "none", "environment variables of all servers, such as { TZ = \"UTC\" }");
const VARIABLES: Named = named(
    SETTINGS,
    "TiDB's own",
    "global variables of TiDB that are set after the start, such as { tidb_txn_mode = \"optimistic\" }",
);

pub(crate) static KIND: Kind = Kind {
    name: "tidb-cluster",
    summary: "PD, TiKV and TiDB servers that dyno starts with temporary data and stops after the run",
    argument: "tidb-cluster",
    options: &[
        &PD.program,
        &TIKV.program,
        &TIDB.program,
        &PD.count,
        &TIKV.count,
        &TIDB.count,
        &ON_MEMBER_EXIT,
        &PD.config,
        &TIKV.config,
        &TIDB.config,
        &PD.arguments,
        &TIKV.arguments,
        &TIDB.arguments,
        &PD.cpus,
        &TIKV.cpus,
        &TIDB.cpus,
        &ENVIRONMENT,
        &PD.env,
        &TIKV.env,
        &TIDB.env,
        &VARIABLES,
        &PS,
    ],
    read,
};

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
    choice: program::Choice,
    count: usize,
    member: Member,
}

/// Reads the options of a cluster; relative files are relative to `folder`.
fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let environment = reader.settings(ENVIRONMENT.name);
    let mut asked = |role: Role| RequestedServers {
        role,
        choice: program::Choice::read(role, &mut reader, folder),
        count: usize::try_from(role.options().count.read(&mut reader)).unwrap_or(usize::MAX),
        member: Member::read(role, &mut reader, &environment, folder),
    };
    let pd = asked(Role::Pd);
    let tikv = asked(Role::TiKv);
    let tidb = asked(Role::TiDb);
    let setup = ServerSetup::read(&mut reader);
    let on_member_exit = ON_MEMBER_EXIT.read(&mut reader);
    reader.finish()?;
    Ok(Box::new(Managed { pd, tikv, tidb, setup, on_member_exit, environment }))
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
