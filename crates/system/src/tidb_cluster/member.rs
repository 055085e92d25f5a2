//! What the members of a cluster have in common: a role, and settings before the start.

use std::path::Path;

use plan::OptionReader;
use plan::declared::{Named, Number, named, number};

use crate::options;
use crate::tidb::{RESERVED_ARGUMENTS, Settings};

/// The most servers of one role; one machine cannot run more.
const SERVERS_MAX: u64 = 64;

/// The options of the servers of a role.
pub(super) struct RoleOptions {
    pub(super) program: Named,
    pub(super) count: Number<u64>,
    pub(super) config: Named,
    pub(super) arguments: Named,
    pub(super) cpus: Named,
    pub(super) env: Named,
}

pub(super) static PD: RoleOptions = RoleOptions {
    program: named("pd", "pd-server on PATH", "program of PD"),
    count: number("pds", 1, 1..=SERVERS_MAX, "number of PDs, 1 to 64"),
    config: named("pd_config", "none", "configuration file of PD"),
    arguments: named("pd_arguments", "none", "additional arguments of PD, as a list"),
    cpus: named("pd_cpus", "all", "CPUs that PD may use, such as \"0\" or \"0-3,8\""),
    env: named("pd_env", "none", "environment variables of PD"),
};
pub(super) static TIKV: RoleOptions = RoleOptions {
    program: named("tikv", "tikv-server on PATH", "program of the stores"),
    count: number("stores", 3, 1..=SERVERS_MAX, "number of stores, 1 to 64"),
    config: named("tikv_config", "none", "configuration file of the stores"),
    arguments: named("tikv_arguments", "none", "additional arguments of the stores, as a list"),
    cpus: named("tikv_cpus", "all", "CPUs that the stores may use"),
    env: named("tikv_env", "none", "environment variables of the stores"),
};
pub(super) static TIDB: RoleOptions = RoleOptions {
    program: named("tidb", "tidb-server on PATH", "program of TiDB"),
    count: number(
        "tidbs",
        1,
        1..=SERVERS_MAX,
        "number of TiDBs, 1 to 64; clients are divided among them",
    ),
    config: named("tidb_config", "none", "configuration file of TiDB"),
    arguments: named("tidb_arguments", "none", "additional arguments of TiDB, as a list"),
    cpus: named("tidb_cpus", "all", "CPUs that TiDB may use"),
    env: named("tidb_env", "none", "environment variables of TiDB, such as { GOMAXPROCS = 4 }"),
};

/// The role of a server in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Knows the location of the data, and hands out timestamps.
    Pd,
    TiKv,
    TiDb,
}

impl Role {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pd => "pd",
            Self::TiKv => "tikv",
            Self::TiDb => "tidb",
        }
    }

    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Pd => "pd-server",
            Self::TiKv => "tikv-server",
            Self::TiDb => "tidb-server",
        }
    }

    /// Arguments that dyno sets, by which dyno and the other members find its servers.
    fn reserved_arguments(self) -> &'static [&'static str] {
        match self {
            Self::Pd => {
                &["name", "data-dir", "client-urls", "peer-urls", "initial-cluster", "join"]
            }
            Self::TiKv => &["pd", "pd-endpoints", "addr", "A", "status-addr", "data-dir", "s"],
            Self::TiDb => &RESERVED_ARGUMENTS,
        }
    }

    /// The options of its servers.
    pub(super) fn options(self) -> &'static RoleOptions {
        match self {
            Self::Pd => &PD,
            Self::TiKv => &TIKV,
            Self::TiDb => &TIDB,
        }
    }
}

/// The options of the servers of one role.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) settings: Settings,
    /// Settings that affect performance and that the server does not report, by name.
    pub(super) unreported_settings: Vec<(String, String)>,
}

impl Member {
    /// Reads the options of a role; `environment` is that of all roles, and relative files are relative to `folder`.
    pub(super) fn read(
        role: Role,
        reader: &mut OptionReader<'_>,
        environment: &[(String, String)],
        folder: &Path,
    ) -> Self {
        let RoleOptions { config, arguments, cpus, env, .. } = role.options();
        let (arguments_name, cpus_name) = (arguments.name, cpus.name);
        let arguments = options::arguments(reader, arguments_name, role.reserved_arguments());
        let own = reader.settings(env.name);
        let cpus = reader.text(cpus_name);
        let mut unreported_settings: Vec<(String, String)> = own
            .iter()
            .map(|(name, value)| (format!("{}_{name}", role.name()), value.clone()))
            .collect();
        if !arguments.is_empty() {
            unreported_settings.push((arguments_name.to_owned(), arguments.join(" ")));
        }
        unreported_settings.extend(cpus.map(|cpus| (cpus_name.to_owned(), cpus)));
        let settings = Settings {
            arguments,
            config: options::file(reader, config.name, folder),
            environment: environment.iter().cloned().chain(own).collect(),
            cpus: options::cpus_called(reader, cpus_name),
        };
        Self { settings, unreported_settings }
    }
}
