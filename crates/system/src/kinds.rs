//! Finds the kind of a system that a plan names.

use std::path::Path;

use plan::{Options, Problem, SystemPlan, nearest};

use crate::programs::is_executable;
use crate::{
    System, catalogue, echo, go_echo, mariadb, mysql, options, service, simulated, sqlite, tidb,
    tidb_cluster,
};

/// The option that names a server's program, of every kind that has it.
const BINARY: &str = "binary";

type Read = fn(&Options, &Path) -> Result<Box<dyn System>, Vec<Problem>>;

/// Reads a system of the plan; relative paths in it are relative to `folder`.
///
/// # Errors
/// An unknown kind or unknown options: each with its place and the nearest spelling.
pub fn read(plan: &SystemPlan, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let read: Read = match plan.kind.as_str() {
        "sqlite" => sqlite::read,
        "mysql" => mysql::read,
        "mariadb" => mariadb::read,
        "tidb" => tidb::read,
        "tidb-cluster" => tidb_cluster::read,
        "trpc-echo" => go_echo::read_trpc,
        "grpc-echo" => go_echo::read_grpc,
        "grpc" => service::read_grpc,
        "trpc" => service::read_trpc,
        "tcp" => service::read_tcp,
        "echo" => echo::read,
        "simulated" => simulated::read,
        _ => return Err(unknown(plan)),
    };
    let system = read(&plan.options, folder)?;
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
    let help = match nearest(&plan.kind, &names) {
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
    reader.reject("kind", format!("`{}` is no kind of system", plan.kind), help);
    reader.finish().err().unwrap_or_default()
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok()
    })
}

#[cfg(test)]
mod tests;
