//! TPC-H at scale 1 by dyno and by go-tpc on one server: the rows of both are equal, dyno's queries answer rightly on
//! go-tpc's tables, and go-tpc's queries on dyno's.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use driver::LoginSources;
use driver::mysql::Url;
use driver::{Datum, Target};
use system::{Daemon, mariadb, tidb};
use tempfile::TempDir;

use crate::go::{self, GO_TPC};
use crate::interrupt::Interrupt;
use crate::shell::{self, with};
use crate::{servers, sql};

/// The only scale at which go-tpc checks answers, and its smallest.
pub(super) const SCALE: &str = "1";
/// The databases.
const OURS: &str = "tpch_of_dyno";
const THEIRS: &str = "tpch_of_go_tpc";
const TABLES: [&str; 8] =
    ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"];
const QUERIES: usize = 22;

/// A system that both tools can load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Product {
    MariaDb,
    TiDb,
}

impl Product {
    /// Of a system's name, as for `dyno bench --system`.
    pub(super) fn named(system: &str) -> Option<Self> {
        match system {
            "mariadb" => Some(Self::MariaDb),
            "tidb" => Some(Self::TiDb),
            _ => None,
        }
    }
}

/// A server with the tables of both.
struct Server<'a> {
    product: Product,
    daemon: Daemon,
    target: Target,
    interrupt: &'a Interrupt,
    _scratch: TempDir,
}

/// Compares both tools on a fresh server.
///
/// # Errors
/// Rows that differ, an answer that is wrong on the tables of the other tool, or a load that fails.
pub(super) fn compare(product: Product, dyno: &Path, interrupt: &Interrupt) -> anyhow::Result<()> {
    let go_tpc = GO_TPC.build(interrupt)?;
    let server = Server::start(product, interrupt)?;
    server.ask(&format!("CREATE DATABASE {THEIRS}"))?;
    server.ask(&format!("CREATE DATABASE {OURS}"))?;
    // Its statements for statistics are TiDB's.
    let analyze = if product == Product::TiDb { "--analyze" } else { "" };
    let load = format!("--threads 4 {analyze}");
    let mut prepare = server.go_tpc(&go_tpc, "prepare", THEIRS, &load);
    shell::must(prepare.stdout(Stdio::null()), interrupt)?;
    shell::must(
        &mut server.dyno(dyno, "prepare", OURS, "--option load_data_local=true"),
        interrupt,
    )?;
    server.compare_rows()?;
    server.check_their_queries(&go_tpc)?;
    if product == Product::MariaDb {
        // Without indexes its queries take hours.
        server.copy_indexes()?;
    }
    shell::must(&mut server.dyno(dyno, "check", THEIRS, ""), interrupt)
}

impl<'a> Server<'a> {
    fn start(product: Product, interrupt: &'a Interrupt) -> anyhow::Result<Self> {
        let scratch = tempfile::tempdir().context("no folder for the server's data")?;
        let daemon = match product {
            Product::MariaDb => {
                let arguments = vec![super::MARIADB_ARGUMENT.to_owned()];
                let settings = mariadb::Settings { arguments, ..mariadb::Settings::default() };
                mariadb::start(settings, scratch.path())?
            }
            Product::TiDb => {
                let program = servers::tidb(interrupt)?;
                tidb::start(program, tidb::Settings::default(), scratch.path())?
            }
        };
        let target = Target::mysql(Url::parse(&daemon.url())?.resolve(&LoginSources::default())?);
        Ok(Self { product, daemon, target, interrupt, _scratch: scratch })
    }

    fn ask(&self, statement: &str) -> anyhow::Result<Vec<Vec<Datum>>> {
        self.interrupt.check()?;
        sql::ask(&self.target, statement).with_context(|| statement.to_owned())
    }

    /// The URL of one of the databases.
    fn url(&self, database: &str) -> String {
        let url = self.daemon.url();
        let (server, _) = url.rsplit_once('/').unwrap_or((&url, ""));
        format!("{server}/{database}")
    }

    fn dyno(&self, dyno: &Path, verb: &str, database: &str, options: &str) -> Command {
        let url = self.url(database);
        let all = format!("{verb} tpch --quiet --system {url} --option scale={SCALE} {options}");
        with(Command::new(dyno), &all)
    }

    fn go_tpc(&self, go_tpc: &Path, verb: &str, database: &str, options: &str) -> Command {
        let options = format!("--db {database} --sf {SCALE} {options}");
        go::go_tpc(go_tpc, &self.daemon, &format!("tpch {verb}"), &options)
    }

    /// Each table has the same rows in both databases: their number, and sum and parity of their checksums.
    fn compare_rows(&self) -> anyhow::Result<()> {
        for table in TABLES {
            let columns = self.ask(&format!(
                "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '{OURS}' \
                 AND TABLE_NAME = '{table}' ORDER BY ORDINAL_POSITION"
            ))?;
            let columns: Vec<&str> = columns.iter().filter_map(|row| text(row.first()?)).collect();
            let row = format!("CRC32(CONCAT_WS('|', {}))", columns.join(", "));
            let [ours, theirs] = [OURS, THEIRS].map(|database| {
                self.ask(&format!(
                    "SELECT COUNT(*), SUM({row}), BIT_XOR({row}) FROM {database}.{table}"
                ))
            });
            let (ours, theirs) = (ours?, theirs?);
            ensure!(ours == theirs, "{table} differs: dyno's {ours:?}, go-tpc's {theirs:?}");
            eprintln!("xtask: {:?}: {table} has equal rows: {ours:?}", self.product);
        }
        Ok(())
    }

    /// go-tpc's queries on dyno's tables, with its own check of the answers.
    fn check_their_queries(&self, go_tpc: &Path) -> anyhow::Result<()> {
        let run = format!("--check --threads 1 --count {QUERIES} --ignore-error");
        let mut command = self.go_tpc(go_tpc, "run", OURS, &run);
        shell::say(&command);
        let output = command.stdin(Stdio::null()).output().context("cannot run go-tpc")?;
        let said = String::from_utf8_lossy(&output.stdout);
        let failed: Vec<&str> = said.lines().filter(|line| line.contains("failed")).collect();
        let passed = said.lines().filter(|line| line.starts_with("[Summary] Q")).count();
        if !failed.is_empty() || passed != QUERIES || !output.status.success() {
            bail!(
                "go-tpc on dyno's tables: {passed} of {QUERIES} queries, {}: {}",
                output.status,
                failed.join("; ")
            );
        }
        eprintln!("xtask: {:?}: go-tpc's check passes on dyno's tables", self.product);
        Ok(())
    }

    /// Gives go-tpc's tables the indexes of dyno's.
    fn copy_indexes(&self) -> anyhow::Result<()> {
        let indexes = self.ask(&format!(
            "SELECT CONCAT('CREATE INDEX ', INDEX_NAME, ' ON {THEIRS}.', TABLE_NAME, ' (', \
             GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX), ')') FROM information_schema.STATISTICS \
             WHERE TABLE_SCHEMA = '{OURS}' AND INDEX_NAME <> 'PRIMARY' GROUP BY TABLE_NAME, INDEX_NAME"
        ))?;
        for create in indexes.iter().filter_map(|row| text(row.first()?)) {
            self.ask(create)?;
        }
        for table in TABLES {
            self.ask(&format!("ANALYZE TABLE {THEIRS}.{table}"))?;
        }
        Ok(())
    }
}

fn text(cell: &Datum) -> Option<&str> {
    if let Datum::Text(text) = cell { Some(text) } else { None }
}
