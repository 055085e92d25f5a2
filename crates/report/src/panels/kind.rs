//! Which server tells, as its own metrics say.

use measure::Server;

/// A kind of server whose metrics are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerKind {
    TiDb,
    TiKv,
    Pd,
    /// Any other that tells what every process can tell, but hosts.
    Other,
}

impl ServerKind {
    pub(crate) const ALL: [Self; 4] = [Self::TiDb, Self::TiKv, Self::Pd, Self::Other];

    /// Whether a server is of this kind. A server that never answered is of none but the last.
    pub(crate) fn takes(self, server: &Server) -> bool {
        Self::of(server) == Some(self)
    }

    /// The kind of a server; `None` for a host.
    pub(crate) fn of(server: &Server) -> Option<Self> {
        let tells = |beginning: &str| server.families.iter().any(|it| it.starts_with(beginning));
        // TiDB has metrics of its client of TiKV and of PD, which begin with its own name.
        match () {
            () if tells("tidb_server_") => Some(Self::TiDb),
            () if tells("tikv_grpc_") || tells("tikv_engine_") => Some(Self::TiKv),
            () if tells("pd_server_") || tells("pd_cluster_") => Some(Self::Pd),
            () if tells("node_cpu_") => None,
            () => Some(Self::Other),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TiDb => "TiDB",
            Self::TiKv => "TiKV",
            Self::Pd => "PD",
            Self::Other => "server",
        }
    }
}

/// What a TiDB without a store that tells metrics leaves in the dark.
pub(crate) fn missing_kinds(servers: &[Server]) -> Option<String> {
    let is_there = |kind: ServerKind| servers.iter().any(|server| kind.takes(server));
    (is_there(ServerKind::TiDb) && !is_there(ServerKind::TiKv)).then(|| {
        "No store tells metrics of its own here (unistore has none), so gRPC durations by type as the \
         stores see them are absent; TiDB's own commands to its storage stand for them."
            .to_owned()
    })
}
