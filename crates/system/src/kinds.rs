//! Finds the kind of a system that a plan names.

use std::path::Path;

use plan::{Options, Problem, SystemPlan, nearest};

use crate::{
    System, catalogue, echo, go_echo, mariadb, mysql, service, simulated, sqlite, tidb,
    tidb_cluster,
};

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
    read(&plan.options, folder)
}

fn unknown(plan: &SystemPlan) -> Vec<Problem> {
    let names: Vec<&str> = catalogue().iter().map(|kind| kind.name).collect();
    let list = format!("there are {}; `dyno systems` explains them", names.join(", "));
    let help = match nearest(&plan.kind, &names) {
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

#[cfg(test)]
mod tests;
