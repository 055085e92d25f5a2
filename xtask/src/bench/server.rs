//! The server that all contestants load, and its counters.

use std::fs::{self, Permissions};
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use driver::LoginSources;
use driver::{Datum, Target, mysql, postgres};
use measure::Series;
use system::go_echo::EchoServer;
use system::watch::read_page;
use system::{Daemon, mariadb, postgres as managed_postgres, tidb};
use tempfile::TempDir;

use super::Bench;
use super::parts::{Facts, Part, ServerKind, facts, path, pinned};
use super::process::server_cpu;
use super::window::Client;
use crate::{servers, sql};

/// The account of the floor, which does not support passwords: it may only read.
const FLOOR_USER: &str = "floor";
/// Everybody logs in by a password, but the floor.
const POSTGRES_RULES: &str =
    "host all floor 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
/// How long a page of metrics may take.
const PAGE_BOUND: Duration = Duration::from_secs(5);
/// Time between two looks whether a server has started, and how many there are.
const POLL_PERIOD: Duration = Duration::from_millis(50);
const POLLS_MAX: usize = 200;
/// A message of gRPC: no compression, 7 bytes, field 1 is "hello".
const GRPC_BODY: &[u8] = b"\0\0\0\0\x07\x0a\x05hello";

/// A server with temporary data, which is stopped when it is dropped.
pub(super) struct Server {
    running: Running,
    port: u16,
    /// The statements that end a transaction, where they are not those of SQL.
    ends: Option<String>,
    /// Dropped after the server whose files it holds.
    scratch: TempDir,
}

enum Running {
    Sql {
        daemon: Daemon,
        target: Target,
        kind: ServerKind,
    },
    /// A program that answers calls, and where it tells how many requests it has received.
    Calls {
        process: Client,
        counter: Counter,
    },
}

enum Counter {
    /// The first eight bytes of a file.
    File(PathBuf),
    /// A page of metrics.
    Page(String),
}

impl Server {
    /// Starts the server of a part.
    pub(super) fn start(part: &Part, bench: &Bench) -> anyhow::Result<Self> {
        Ok(Self { ends: part.ends.clone(), ..Self::of(part, bench)? })
    }

    fn of(part: &Part, bench: &Bench) -> anyhow::Result<Self> {
        let scratch = tempfile::tempdir().context("no folder for the server's files")?;
        let cpus = part.cores.as_ref().map(|[server, _]| server.as_str());
        let interrupt = &bench.interrupt;
        match part.server {
            ServerKind::None => bail!("the part has no server"),
            ServerKind::Mariadb => {
                let cpus = cpus.map(mariadb::parse_cpus).transpose().map_err(|why| anyhow!(why))?;
                let settings = mariadb::Settings { cpus, ..mariadb::Settings::default() };
                Self::of_sql(mariadb::start(settings, scratch.path())?, part.server, scratch)
            }
            ServerKind::Postgres => {
                let cpus = cpus.map(mariadb::parse_cpus).transpose().map_err(|why| anyhow!(why))?;
                let rules = scratch.path().join("hba");
                fs::write(&rules, POSTGRES_RULES)?;
                fs::set_permissions(scratch.path(), Permissions::from_mode(0o755))?;
                let settings = vec![
                    // It counts each execution at once; the server's own counts are a second late.
                    "shared_preload_libraries=pg_stat_statements".to_owned(),
                    format!("hba_file={}", path(&rules)),
                ];
                let settings = managed_postgres::Settings { cpus, settings, ..Default::default() };
                let daemon = managed_postgres::start(settings, scratch.path())?;
                Self::of_sql(daemon, part.server, scratch)
            }
            ServerKind::Tidb => {
                let settings = tidb::Settings::default();
                let program = servers::tidb(interrupt)?;
                Self::of_sql(tidb::start(program, settings, scratch.path())?, part.server, scratch)
            }
            ServerKind::Floor => Self::floor(bench, cpus, scratch),
            ServerKind::Trpc => Self::echo(bench, EchoServer::Trpc, cpus, scratch),
            ServerKind::Grpc => Self::echo(bench, EchoServer::Grpc, cpus, scratch),
        }
    }

    fn of_sql(daemon: Daemon, kind: ServerKind, scratch: TempDir) -> anyhow::Result<Self> {
        let (url, sources) = (daemon.url(), LoginSources::default());
        let target = match kind {
            ServerKind::Postgres => {
                Target::postgres(postgres::Url::parse(&url)?.resolve(&sources)?)
            }
            _ => Target::mysql(mysql::Url::parse(&url)?.resolve(&sources)?),
        };
        let port = daemon.port();
        let running = Running::Sql { daemon, target, kind };
        let server = Self { running, port, ends: None, scratch };
        server.rows(&format!("CREATE USER {FLOOR_USER}"))?;
        let (reads, more) = match kind {
            ServerKind::Postgres => {
                ("pg_read_all_data".to_owned(), "CREATE EXTENSION pg_stat_statements")
            }
            _ => (format!("SELECT ON {}.*", server.login().1), "SELECT 1"),
        };
        server.rows(&format!("GRANT {reads} TO {FLOOR_USER}"))?;
        server.rows(more)?;
        Ok(server)
    }

    /// User and database of the server's login.
    fn login(&self) -> (&'static str, &'static str) {
        match &self.running {
            Running::Sql { kind: ServerKind::Postgres, .. } => ("postgres", "postgres"),
            _ => (mariadb::USER, mariadb::DATABASE),
        }
    }

    fn floor(bench: &Bench, cpus: Option<&str>, scratch: TempDir) -> anyhow::Result<Self> {
        let file = scratch.path().join("counter");
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let pinned = cpus.map(pinned).unwrap_or_default();
        let command = format!("{pinned}{{rpc-server}} {port} {}", path(&file));
        let mut command = bench.parts.command(&command, &bench.facts)?;
        let process = Client::start(&mut command).context("cannot start the floor")?;
        let counter = Counter::File(file);
        wait(&process, || counter.requests().ok())?;
        Ok(Self { running: Running::Calls { process, counter }, port, ends: None, scratch })
    }

    fn echo(
        bench: &Bench,
        server: EchoServer,
        cpus: Option<&str>,
        scratch: TempDir,
    ) -> anyhow::Result<Self> {
        let program = path(&servers::echo(server, &bench.interrupt)?);
        let pinned = cpus.map(pinned).unwrap_or_default();
        let mut command = bench.parts.command(&format!("{pinned}{program}"), &bench.facts)?;
        let process = Client::start(&mut command);
        let process = process.with_context(|| format!("cannot start {program}"))?;
        let (port, page) = wait(&process, || addresses(&process.said().ok()?))?;
        let counter = Counter::Page(page);
        Ok(Self { running: Running::Calls { process, counter }, port, ends: None, scratch })
    }

    /// What stands for its names in commands.
    pub(super) fn facts(&self) -> Facts {
        let (url, password) = match &self.running {
            Running::Sql { daemon, .. } => (daemon.url(), servers::password(daemon)),
            Running::Calls { .. } => Default::default(),
        };
        let body = self.scratch().join("body");
        // A file that cannot be written is missed by the contestant, which says so.
        let _ = fs::write(&body, GRPC_BODY);
        facts([
            ("url", url),
            ("port", self.port.to_string()),
            ("password", password),
            ("user", self.login().0.to_owned()),
            ("database", self.login().1.to_owned()),
            ("floor_user", FLOOR_USER.to_owned()),
            ("address", format!("127.0.0.1:{}", self.port)),
            ("scratch", path(self.scratch())),
            ("grpc_body", path(&body)),
        ])
    }

    /// CPU time of all of its processes until now.
    pub(super) fn cpu(&self) -> anyhow::Result<Duration> {
        server_cpu(match &self.running {
            Running::Sql { daemon, .. } => daemon.pid(),
            Running::Calls { process, .. } => process.pid(),
        })
    }

    /// The processes of the sessions by which dyno watches the server, where each session has one.
    pub(super) fn watching(&self) -> anyhow::Result<Vec<u32>> {
        if !matches!(self.running, Running::Sql { kind: ServerKind::Postgres, .. }) {
            return Ok(Vec::new());
        }
        let of = "SELECT pid FROM pg_stat_activity WHERE application_name = 'dyno-watch'";
        let rows = self.rows(of)?;
        let pids = rows.iter().map(|row| sql::number(row.first()?));
        pids.collect::<Option<_>>().context("a session without a process")
    }

    /// A folder for files of the contestants.
    pub(super) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The number of prepared statements that all clients have executed until now, or of requests that it has received.
    pub(super) fn queries(&self) -> anyhow::Result<u64> {
        match &self.running {
            Running::Calls { counter, .. } => counter.requests(),
            // TiDB has no such status variable; its page of metrics counts commands.
            Running::Sql { daemon, kind: ServerKind::Tidb, .. } => {
                let page = format!("http://127.0.0.1:{}/metrics", daemon.status_port());
                let counted = counted_by(&page, "tidb_server_query_total");
                daemon.exited().map_or(counted, |why| Err(anyhow!(why)))
            }
            Running::Sql { kind: ServerKind::Postgres, .. } => {
                self.number("SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements")
            }
            Running::Sql { .. } => self.status(&["Com_stmt_execute"]),
        }
    }

    /// The number of transactions that all clients have ended until now: committed or rolled back by a statement.
    pub(super) fn transactions(&self) -> anyhow::Result<u64> {
        if let Running::Sql { kind: ServerKind::Postgres, .. } = self.running {
            let ends = self.ends.as_deref().unwrap_or("^(commit|end|rollback)");
            return self.number(&format!(
                "SELECT coalesce(sum(calls), 0)::bigint FROM pg_stat_statements WHERE query ~* '{ends}'"
            ));
        }
        self.status(&["Com_commit", "Com_rollback"])
    }

    /// The sum of status variables.
    fn status(&self, names: &[&str]) -> anyhow::Result<u64> {
        let names = names.join("', '");
        let sql = format!("SHOW GLOBAL STATUS WHERE Variable_name IN ('{names}')");
        let rows = self.rows(&sql)?;
        let counts: Option<Vec<u64>> = rows.iter().map(|row| sql::number(row.get(1)?)).collect();
        match counts {
            Some(counts) if !counts.is_empty() => Ok(counts.iter().sum()),
            _ => Err(anyhow!("the server does not count '{names}': {rows:?}")),
        }
    }

    /// The number of rows of a table.
    pub(super) fn count(&self, table: &str) -> anyhow::Result<u64> {
        // In PostgreSQL a table is in a schema of the database.
        self.number(&format!("SELECT COUNT(*) FROM {table}"))
    }

    fn number(&self, statement: &str) -> anyhow::Result<u64> {
        let rows = self.rows(statement)?;
        let cell = rows.first().and_then(|row| row.first());
        cell.and_then(sql::number).with_context(|| format!("{statement} has no number: {rows:?}"))
    }

    fn rows(&self, statement: &str) -> anyhow::Result<Vec<Vec<Datum>>> {
        let Running::Sql { daemon, target, .. } = &self.running else {
            bail!("the server has no tables")
        };
        let rows = sql::ask(target, statement);
        daemon.exited().map_or(rows, |why| Err(anyhow!(why)))
    }
}

impl Counter {
    fn requests(&self) -> anyhow::Result<u64> {
        match self {
            Self::File(file) => {
                let mut bytes = [0; 8];
                fs::File::open(file)?.read_exact(&mut bytes)?;
                Ok(u64::from_ne_bytes(bytes))
            }
            Self::Page(url) => counted_by(url, "rpc_requests_total"),
        }
    }
}

fn wait<T>(process: &Client, look: impl Fn() -> Option<T>) -> anyhow::Result<T> {
    for _ in 0..POLLS_MAX {
        if let Some(found) = look() {
            return Ok(found);
        }
        thread::sleep(POLL_PERIOD);
    }
    bail!("the server does not start: {}", process.said().unwrap_or_default())
}

/// The port and the page of metrics from the line of JSON that an echo server writes.
fn addresses(said: &str) -> Option<(u16, String)> {
    let line: serde_json::Value = serde_json::from_str(said.lines().next()?).ok()?;
    let (_, port) = line["address"].as_str()?.rsplit_once(':')?;
    Some((port.parse().ok()?, format!("http://{}/metrics", line["metrics"].as_str()?)))
}

fn counted_by(url: &str, name: &str) -> anyhow::Result<u64> {
    let page = read_page(url, PAGE_BOUND).map_err(|why| anyhow!("{url}: {why}"))?;
    Ok(counted_on(&page, name))
}

/// The sum of the series with this name: of those that have a type, only of executions.
fn counted_on(page: &str, name: &str) -> u64 {
    let counts = page.lines().filter_map(|line| {
        let (key, value) = line.rsplit_once(' ')?;
        let is_one = key.split('{').next() == Some(name)
            && Series::parse(key).label("type").is_none_or(|it| it == "StmtExecute");
        is_one.then(|| value.parse::<f64>().ok()).flatten()
    });
    counts.map(|count| count as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_are_found_on_a_page() {
        let page = "# TYPE tidb_server_query_total counter\n\
            tidb_server_query_total{result=\"OK\",type=\"Query\"} 12\n\
            tidb_server_query_total{result=\"OK\",type=\"StmtExecute\"} 1.5e+06\n\
            tidb_server_query_total{result=\"Error\",type=\"StmtExecute\"} 2\n";
        assert_eq!(counted_on(page, "tidb_server_query_total"), 1_500_002);
        assert_eq!(counted_on("rpc_requests_total 7\n", "rpc_requests_total"), 7);
        assert_eq!(counted_on("rpc_requests 7\n", "rpc_requests_total"), 0);
    }

    #[test]
    fn addresses_are_in_the_line_of_json() {
        let line = r#"{"address":"127.0.0.1:8000","metrics":"127.0.0.1:8001","product":"trpc-go"}"#;
        let page = "http://127.0.0.1:8001/metrics".to_owned();
        assert_eq!(addresses(line), Some((8000, page)));
        assert_eq!(addresses(""), None);
    }
}
