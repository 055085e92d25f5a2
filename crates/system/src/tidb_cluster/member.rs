//! What the members of a cluster have in common: a role, and settings before the start.

use std::path::Path;

use plan::OptionReader;

use crate::options;
use crate::tidb::{RESERVED_ARGUMENTS, Settings};

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

    fn option(self, name: &str) -> String {
        format!("{}_{name}", self.name())
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
        let arguments =
            options::arguments(reader, &role.option("arguments"), role.reserved_arguments());
        let own = reader.settings(&role.option("env"));
        let cpus = reader.text(&role.option("cpus"));
        let mut unreported_settings: Vec<(String, String)> = own
            .iter()
            .map(|(name, value)| (format!("{}_{name}", role.name()), value.clone()))
            .collect();
        if !arguments.is_empty() {
            unreported_settings.push((format!("{}_arguments", role.name()), arguments.join(" ")));
        }
        unreported_settings.extend(cpus.map(|cpus| (format!("{}_cpus", role.name()), cpus)));
        let settings = Settings {
            arguments,
            config: options::file(reader, &role.option("config"), folder),
            environment: environment.iter().cloned().chain(own).collect(),
            cpus: options::cpus_called(reader, &role.option("cpus")),
        };
        Self { settings, unreported_settings }
    }
}
