//! The server that all contestants load, and its counters.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow};
use driver::LoginSources;
use driver::mysql::Url;
use driver::{Datum, Target};
use measure::Series;
use system::mariadb::{DATABASE, USER};
use system::watch::read_page;
use system::{Daemon, mariadb, tidb};
use tempfile::TempDir;

use crate::interrupt::Interrupt;
use crate::shell::{self, with};
use crate::{go, servers, sql};

/// Rows of the table that point selects read.
pub(super) const ROWS: u32 = 10_000;

/// The account of the floor, which does not support passwords: it may only read the generated rows.
pub(super) const FLOOR_USER: &str = "floor";

/// How long TiDB's page of metrics may take.
const PAGE_BOUND: Duration = Duration::from_secs(5);

/// A server for the contestants, with temporary data.
pub(super) struct BenchServer {
    server: Daemon,
    counted: Counted,
    target: Target,
    /// Dropped after the server whose files it holds.
    scratch: TempDir,
}

/// Reads how many prepared statements a server has executed.
type Counted = fn(&BenchServer) -> anyhow::Result<u64>;

impl BenchServer {
    /// Starts a MariaDB, on `cpus` only when they are given.
    pub(super) fn start(cpus: Option<&str>) -> anyhow::Result<Self> {
        let scratch = tempfile::tempdir().context("no folder for the server's data")?;
        let cpus = cpus.map(system::mariadb::parse_cpus).transpose().map_err(|why| anyhow!(why))?;
        let settings = mariadb::Settings { cpus, ..mariadb::Settings::default() };
        let server = mariadb::start(settings, scratch.path())?;
        Self::of(server, |it| it.status(&["Com_stmt_execute"]), scratch)
    }

    /// Starts a TiDB on its embedded storage.
    pub(super) fn start_tidb(program: PathBuf) -> anyhow::Result<Self> {
        let scratch = tempfile::tempdir().context("no folder for the server's data")?;
        let server = tidb::start(program, tidb::Settings::default(), scratch.path())?;
        Self::of(server, |it| executions_by_page(&it.server), scratch)
    }

    fn of(server: Daemon, counted: Counted, scratch: TempDir) -> anyhow::Result<Self> {
        let config = Url::parse(&server.url())?.resolve(&LoginSources::default())?;
        let server = Self { server, counted, target: Target::mysql(config), scratch };
        server.rows(&format!("CREATE USER {FLOOR_USER}"))?;
        server.rows(&format!("GRANT SELECT ON {DATABASE}.* TO {FLOOR_USER}"))?;
        Ok(server)
    }

    /// Creates the table that point selects read, with sysbench itself.
    pub(super) fn fill(&self, interrupt: &Interrupt) -> anyhow::Result<()> {
        let mut prepare = self.sysbench(1, ROWS);
        shell::must(prepare.arg("prepare").stdout(Stdio::null()), interrupt)
    }

    /// sysbench's point selects on so many tables.
    pub(super) fn sysbench(&self, tables: usize, rows: u32) -> Command {
        let login = format!("--mysql-user={USER} --mysql-password={}", self.password());
        let server = format!("--mysql-host=127.0.0.1 --mysql-port={} {login}", self.port());
        let data = format!("--mysql-db={DATABASE} --tables={tables} --table-size={rows}");
        let command = shell::command("sysbench", &["oltp_point_select", "--db-driver=mysql"]);
        with(command, &format!("{server} {data}"))
    }

    /// The password of [`USER`], for contestants that take it separately.
    pub(super) fn password(&self) -> String {
        servers::password(&self.server)
    }

    /// A task of go-tpc on this server.
    pub(super) fn go_tpc(&self, program: &Path, task: &str, options: &str) -> Command {
        go::go_tpc(program, &self.server, task, &format!("--db {DATABASE} {options}"))
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    pub(super) fn port(&self) -> u16 {
        self.server.port()
    }

    pub(super) fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// A folder for files of the contestants.
    pub(super) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The number of prepared statements that all clients have executed until now.
    pub(super) fn executions(&self) -> anyhow::Result<u64> {
        (self.counted)(self)
    }

    /// The number of transactions that all clients have ended until now: committed or rolled back by a statement.
    /// Only MariaDB reports it.
    pub(super) fn transactions(&self) -> anyhow::Result<u64> {
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
        let rows = self.rows(&format!("SELECT COUNT(*) FROM {DATABASE}.{table}"))?;
        let cell = rows.first().and_then(|row| row.first());
        cell.and_then(sql::number).with_context(|| format!("{table} has no count: {rows:?}"))
    }

    fn rows(&self, statement: &str) -> anyhow::Result<Vec<Vec<Datum>>> {
        let rows = sql::ask(&self.target, statement);
        self.server.exited().map_or(rows, |why| Err(anyhow!(why)))
    }
}

/// TiDB has no such status variable; its page of metrics counts commands.
fn executions_by_page(server: &Daemon) -> anyhow::Result<u64> {
    if let Some(why) = server.exited() {
        return Err(anyhow!(why));
    }
    let url = format!("http://127.0.0.1:{}/metrics", server.status_port());
    let page = read_page(&url, PAGE_BOUND).map_err(|why| anyhow!("{url}: {why}"))?;
    Ok(executions_on(&page))
}

fn executions_on(page: &str) -> u64 {
    let figures = page.lines().filter(|line| line.starts_with("tidb_server_query_total{"));
    let counts = figures.filter_map(|line| {
        let (key, value) = line.rsplit_once(' ')?;
        let is_one = Series::parse(key).label("type") == Some("StmtExecute");
        let count: f64 = value.parse().ok()?;
        is_one.then_some(count as u64)
    });
    counts.sum()
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
        assert_eq!(executions_on(page), 1_500_002);
        assert_eq!(executions_on(""), 0);
    }
}
