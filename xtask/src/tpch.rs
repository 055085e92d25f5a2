//! The answers of every system at the scales that the tests leave out, and go-tpc's tables.

mod go_tpc;

use std::process::{Command, ExitCode};

use anyhow::bail;

use crate::dist::Binary;
use crate::interrupt::Interrupt;
use crate::{needs, paths, shell};
use go_tpc::{Product, SCALE};

/// How long a query may take. Here an answer counts, not its time.
const QUERY_TIMEOUT: &str = "30m";

/// Room for the tables at scale 1. With the default of 128 MB each look at an index reads from the disk.
const MARIADB_ARGUMENT: &str = "--innodb-buffer-pool-size=2G";

/// The scales and systems.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Scale factors that have known answers
    #[arg(long, value_delimiter = ',', default_values_t = ["0.1".to_owned(), "1".to_owned()])]
    scale: Vec<String>,
    /// Systems, as for `dyno bench --system`
    #[arg(long, value_delimiter = ',', default_values_t = ["sqlite", "mariadb", "tidb"].map(str::to_owned))]
    system: Vec<String>,
    #[command(flatten)]
    binary: Binary,
    #[command(flatten)]
    install: needs::Install,
}

/// Loads each scale on each system and runs one stream; at scale 1 dyno and go-tpc also use each other's tables. A wrong
/// answer, a failed query or a failed load is an error.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    arguments.install.provide(&[needs::MARIADB, needs::GO], &interrupt)?;
    let dyno = arguments.binary.provide("release", &interrupt)?;
    let mut failed = Vec::new();
    for scale in &arguments.scale {
        for system in &arguments.system {
            let options =
                format!("bench tpch --option scale={scale} --option load_data_local=true");
            let mut command = shell::with(Command::new(&dyno), &options);
            if system == "mariadb" {
                command.args([
                    "--set",
                    &format!("systems.mariadb.arguments=[\"{MARIADB_ARGUMENT}\"]"),
                ]);
            }
            command
                .args(["--query-timeout", QUERY_TIMEOUT, "--system", system])
                .arg("--out")
                .arg(paths::target().join("tpch"));
            if !shell::run(&mut command, &interrupt)?.success() {
                failed.push(format!("{system} at scale {scale}"));
            }
        }
    }
    let is_compared = arguments.scale.iter().any(|scale| scale == SCALE);
    for product in arguments.system.iter().filter_map(|system| Product::named(system)) {
        if is_compared && let Err(why) = go_tpc::compare(product, &dyno, &interrupt) {
            eprintln!("xtask: {why:#}");
            failed.push(format!("{product:?} with go-tpc"));
        }
    }
    if !failed.is_empty() {
        bail!("these did not answer rightly: {}", failed.join(", "));
    }
    Ok(ExitCode::SUCCESS)
}
