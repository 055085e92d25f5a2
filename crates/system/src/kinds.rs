//! The kinds of systems: what the help shows of each, and how a plan is read.

use std::path::Path;

use plan::{Problem, SystemPlan, nearest};

use crate::kind::Kind;
use crate::options::BINARY;
use crate::programs::is_executable;
use crate::{
    System, echo, go_echo, mariadb, mysql, options, postgres, service, simulated, sqlite, tidb,
    tidb_cluster,
};

static KINDS: [&Kind; 14] = [
    &sqlite::KIND,
    &mariadb::KIND,
    &tidb::KIND,
    &tidb_cluster::KIND,
    &postgres::MANAGED_KIND,
    &mysql::KIND,
    &postgres::KIND,
    &go_echo::TRPC,
    &go_echo::GRPC,
    &service::GRPC,
    &service::TRPC,
    &service::TCP,
    &echo::KIND,
    &simulated::KIND,
];

/// Every kind, in the order in which the help lists them.
pub fn catalogue() -> &'static [&'static Kind] {
    &KINDS
}

/// Reads a system of the plan; relative paths in it are relative to `folder`.
///
/// # Errors
/// An unknown kind or unknown options: each with its place and the nearest spelling.
pub fn read(plan: &SystemPlan, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let kind = KINDS.iter().find(|kind| kind.name == plan.kind).ok_or_else(|| unknown(plan))?;
    let system = (kind.read)(&plan.options, folder)?;
    match missing_program(plan, folder) {
        Some(problem) => Err(vec![problem]),
        None => Ok(system),
    }
}

/// The server's program that the plan names, if it is not there and no build of the plan makes it.
fn missing_program(plan: &SystemPlan, folder: &Path) -> Option<Problem> {
    let binary = plan.options.reader().text(BINARY)?;
    let program = options::program(folder, &binary);
    if plan.build.is_some() || is_executable(&program) {
        return None;
    }
    let message = format!("there is no program {}", program.display());
    let help = "give the path of the server's program, or the name of one on PATH";
    Some(plan.options.problem(BINARY, message, help))
}

fn unknown(plan: &SystemPlan) -> Vec<Problem> {
    let names: Vec<&str> = catalogue().iter().map(|kind| kind.name).collect();
    let list = format!("there are {}; `dyno systems` explains them", names.join(", "));
    let scheme = plan.kind.split("://").next().unwrap_or_default();
    let help = match nearest(&plan.kind, &names) {
        _ if HTTP.contains(&scheme) => format!("HTTP is not supported; {SUPPORTED}"),
        _ if is_login(&plan.kind) => {
            format!("write the scheme before it, such as mysql://{}", plan.kind)
        }
        _ if is_address(&plan.kind) => format!(
            "say what speaks there: mysql://USER@{0}/DATABASE for a database, grpc://{0}/SERVICE/METHOD, \
             trpc://{0}/SERVICE/METHOD or tcp://{0} for a service",
            plan.kind
        ),
        Some(near) => format!("did you mean `{near}`? {list}"),
        None => list,
    };
    let mut reader = plan.options.reader();
    // Without a known kind, its options cannot be checked.
    for (name, _) in plan.options.shown() {
        reader.is_given(&name);
    }
    reader.reject("kind", format!("`{}` is not a known system", plan.kind), help);
    reader.finish().err().unwrap_or_default()
}

/// Schemes of what dyno does not speak.
const HTTP: [&str; 2] = ["http", "https"];
const SUPPORTED: &str = "dyno measures databases with the MySQL and the PostgreSQL protocol and SQLite, and services with gRPC, tRPC and \
                         TCP: see `dyno systems`";

/// `user@host/database`, a URL without its scheme.
fn is_login(text: &str) -> bool {
    text.contains('@') && !text.contains("://")
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok()
    })
}

#[cfg(test)]
mod tests;
