//! The server that all contestants load, and what it counted.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, anyhow};
use driver::mysql::{LoginSources, Url};
use driver::{Datum, Target};
use net::{Clock, Runtime};
use system::mariadb::{DATABASE, Server, Settings, USER};
use tempfile::TempDir;

use crate::interrupt::Interrupt;
use crate::shell;

/// Rows of the one table that point selects read.
pub(super) const ROWS: u32 = 10_000;

/// A MariaDB for the contestants, on data that is thrown away.
pub(super) struct BenchServer {
    server: Server,
    target: Target,
    /// Dropped after the server that lives in it.
    scratch: TempDir,
}

impl BenchServer {
    /// Starts one, on `cpus` only when they are given.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) fn start(cpus: Option<&str>) -> anyhow::Result<Self> {
        let scratch = tempfile::tempdir().context("no folder for the server's data")?;
        let cpus = cpus.map(system::mariadb::parse_cpus).transpose().map_err(|why| anyhow!(why))?;
        let server = Server::start(Settings { cpus, ..Settings::default() }, scratch.path())?;
        let config = Url::parse(&server.url())?.resolve(&LoginSources::default())?;
        Ok(Self { server, target: Target::mysql(config), scratch })
    }

    /// Makes the table that point selects read, as sysbench itself makes it.
    ///
    /// # Errors
    /// When sysbench fails.
    pub(super) fn fill(&self, interrupt: &Interrupt) -> anyhow::Result<()> {
        let mut prepare = shell::command("sysbench", &["oltp_point_select"]);
        prepare.args(self.sysbench_login());
        prepare.args([
            "--tables=1".to_owned(),
            format!("--table-size={ROWS}"),
            "prepare".to_owned(),
        ]);
        shell::must(prepare.stdout(Stdio::null()), interrupt)
    }

    /// What sysbench needs to log in.
    pub(super) fn sysbench_login(&self) -> Vec<String> {
        vec![
            "--db-driver=mysql".to_owned(),
            "--mysql-host=127.0.0.1".to_owned(),
            format!("--mysql-port={}", self.server.port()),
            format!("--mysql-user={USER}"),
            format!("--mysql-db={DATABASE}"),
        ]
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

    /// A folder for what contestants write.
    pub(super) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Prepared statements that were executed until now, by anyone.
    ///
    /// # Errors
    /// What the server says.
    pub(super) fn executions(&self) -> anyhow::Result<u64> {
        let rows = self.rows("SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'")?;
        match rows.first().and_then(|row| row.get(1)) {
            Some(Datum::Text(count)) => count.parse().context("a count is a number"),
            Some(Datum::Int(count)) => u64::try_from(*count).context("a count is not negative"),
            other => Err(anyhow!("the server counts no executions: {other:?}")),
        }
    }

    /// Asks over a connection of its own, which is gone afterwards.
    fn rows(&self, sql: &str) -> anyhow::Result<Vec<Vec<Datum>>> {
        let mut runtime = Runtime::new(Clock::monotonic())?;
        let (handle, target, sql) = (runtime.handle(), self.target.clone(), sql.to_owned());
        let asked = runtime.block_on(async move {
            let mut session = target.connect(&handle, 0).await?;
            let rows = session.rows(&sql).await;
            session.close().await;
            rows
        });
        if let Some(why) = self.server.exited() {
            return Err(anyhow!(why));
        }
        Ok(asked??)
    }
}
