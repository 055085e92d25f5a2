//! The list of workloads with their options, and the reader that picks the workload of a plan.

use plan::declared::{OptionInfo, infos};
use plan::{Files, Problem, WorkloadPlan};

use crate::Workload;
use crate::pgbench::{self, Pgbench};
use crate::random;
use crate::rpc::{self, Rpc};
use crate::sql::SqlWorkload;
use crate::sysbench::{self, BULK_OPTIONS, BulkInsert, Oltp, Script};
use crate::tpcc::{self, Tpcc};
use crate::tpch::{self, Tpch};
use crate::ycsb::{self, Preset, Ycsb};

#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadInfo {
    /// Its kind in a plan, such as `sysbench/oltp_read_write`.
    pub kind: String,
    pub summary: &'static str,
    pub options: Vec<OptionInfo>,
}

const SYSBENCH: &str = "sysbench/";
/// The folder of YCSB's workloads.
const YCSB: &str = "ycsb/";
/// The kind of pgbench.
const PGBENCH: &str = "pgbench";
/// The kind of TPC-C.
const TPCC: &str = "tpcc";
/// The kind of TPC-H.
const TPCH: &str = "tpch";
const BULK_INSERT: &str = "bulk_insert";
/// The file name suffix of user-defined workloads; no built-in workload has it.
const SQL_SUFFIX: &str = ".sql";

pub fn catalogue() -> Vec<WorkloadInfo> {
    let oltp_options = [infos(sysbench::OPTIONS), infos(random::OPTIONS)].concat();
    let mut all: Vec<WorkloadInfo> = Script::ALL
        .into_iter()
        .map(|script| WorkloadInfo {
            kind: format!("{SYSBENCH}{}", script.name()),
            summary: script.summary(),
            options: oltp_options.clone(),
        })
        .collect();
    all.push(WorkloadInfo {
        kind: format!("{SYSBENCH}{BULK_INSERT}"),
        summary: "inserts rows by the thousand",
        options: infos(BULK_OPTIONS),
    });
    all.extend(Preset::ALL.into_iter().map(|preset| WorkloadInfo {
        kind: format!("{YCSB}{}", preset.name()),
        summary: preset.summary(),
        options: ycsb::options(preset),
    }));
    all.push(WorkloadInfo {
        kind: PGBENCH.to_owned(),
        summary: "bank transfers between accounts: the tables and scripts of pgbench",
        options: infos(pgbench::OPTIONS),
    });
    all.push(WorkloadInfo {
        kind: TPCC.to_owned(),
        summary: "orders, payments and deliveries of warehouses: TPC-C 5.11, clauses 1 to 4",
        options: infos(tpcc::OPTIONS),
    });
    all.push(WorkloadInfo {
        kind: TPCH.to_owned(),
        summary: "22 analytical queries over orders, with checked answers: TPC-H 3.0.1",
        options: infos(tpch::OPTIONS),
    });
    all.push(WorkloadInfo {
        kind: "FILE.sql".to_owned(),
        summary: "transactions of your own, in SQL",
        options: infos(SqlWorkload::OPTIONS),
    });
    all.push(WorkloadInfo {
        kind: Rpc::KIND.to_owned(),
        summary: "calls of a method of an RPC service, or requests of a fixed size",
        options: infos(rpc::OPTIONS),
    });
    all
}

/// The whole name of a workload that is given without its family, such as `sysbench/oltp_read_write` for
/// `oltp_read_write`; `None` for any other text. A single letter is no such name.
pub fn whole_name(name: &str) -> Option<String> {
    let is_named = |kind: &String| kind.split_once('/').is_some_and(|(_, last)| last == name);
    let mut named = catalogue().into_iter().map(|info| info.kind).filter(is_named);
    let first = named.next().filter(|_| name.len() > 1)?;
    named.next().is_none().then_some(first)
}

/// The options of a kind of workload whose values on a command line are texts as they stand, whatever they would be in a
/// plan: `message={}`.
pub fn text_options(kind: &str) -> Vec<&'static str> {
    let whole = whole_name(kind).unwrap_or_else(|| kind.to_owned());
    let info = catalogue().into_iter().find(|info| info.kind == whole);
    let options = info.into_iter().flat_map(|info| info.options);
    options.filter(|option| option.is_text).map(|option| option.name).collect()
}

/// Reads a workload of the plan, which names files of `files`.
///
/// # Errors
/// Unknown names and options, each with its place and the nearest known name.
pub fn read(plan: &WorkloadPlan, files: &Files) -> Result<Box<dyn Workload>, Vec<Problem>> {
    let kind = plan.kind.as_str();
    // A weight may follow the name, as in `pay.sql@3`.
    if kind.contains(SQL_SUFFIX) {
        return Ok(Box::new(SqlWorkload::read(kind, files, &plan.options)?));
    }
    if kind == PGBENCH {
        return Ok(Box::new(Pgbench::read(&plan.options)?));
    }
    if kind == TPCC {
        return Ok(Box::new(Tpcc::read(&plan.options)?));
    }
    if kind == TPCH {
        return Ok(Box::new(Tpch::read(&plan.options)?));
    }
    if let Some(name) = kind.strip_prefix(SYSBENCH) {
        if let Some(script) = Script::ALL.into_iter().find(|script| script.name() == name) {
            return Ok(Box::new(Oltp::read(script, &plan.options)?));
        }
        if name == BULK_INSERT {
            return Ok(Box::new(BulkInsert::read(&plan.options)?));
        }
    }
    if let Some(name) = kind.strip_prefix(YCSB)
        && let Some(preset) = Preset::ALL.into_iter().find(|preset| preset.name() == name)
    {
        return Ok(Box::new(Ycsb::read(preset, &plan.options, files)?));
    }
    Err(vec![unknown(plan)])
}

fn unknown(plan: &WorkloadPlan) -> Problem {
    let kind = plan.kind.as_str();
    let all = catalogue();
    let kinds: Vec<&str> = all.iter().map(|info| info.kind.as_str()).collect();
    let is_meant = |folder: &&str| folder.trim_end_matches('/') == kind.trim_end_matches('/');
    let several = [SYSBENCH, YCSB].into_iter().find(is_meant).map(|folder| {
        let own = kinds.iter().filter(|known| known.starts_with(folder));
        own.map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ")
    });
    let nearest = plan::nearest(kind, &kinds).or_else(|| {
        let is_named = |known: &&&str| {
            [SYSBENCH, YCSB].iter().any(|folder| known.strip_prefix(folder) == Some(kind))
        };
        kinds.iter().find(is_named).copied()
    });
    let help = match (several, nearest) {
        (Some(several), _) => format!("name one of its workloads: {several}"),
        (None, Some(nearest)) => format!("did you mean `{nearest}`? `dyno workloads` lists all"),
        (None, None) => "`dyno workloads` lists all; a file of your own ends in .sql".to_owned(),
    };
    plan.options.problem("kind", format!("unknown workload `{kind}`"), help)
}

#[cfg(test)]
mod tests;
