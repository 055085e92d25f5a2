//! `dyno init [WORKLOAD] [SYSTEM]`: writes a plan with comments, for `dyno run`.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use plan::{Problems, Source};
use runner::Experiment;

use super::WrongArgument;
use crate::args::InitArgs;

pub(crate) fn run(args: &InitArgs) -> Result<ExitCode> {
    let out = args.out.display();
    let folder = match args.out.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let text = plan_text(args, &folder)?;
    let mut file = match File::create_new(&args.out) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let message = format!("{out} already exists; choose another file with --out");
            return Err(WrongArgument(message).into());
        }
        Err(error) => return Err(error).with_context(|| format!("cannot write {out}")),
    };
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {out}"))?;
    super::print(&format!("{out} is written; `dyno run {out}` runs it\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// A plan that dyno accepts; its relative paths start at `folder`.
///
/// # Errors
/// What is wrong with the workload or the system.
fn plan_text(args: &InitArgs, folder: &Path) -> Result<String, Problems> {
    let parts = parts(args);
    let name = args.out.display().to_string();
    let read = |text: &str| {
        let (name, text, folder) = (name.clone(), text.to_owned(), folder.to_owned());
        Experiment::read(Source { name, text, folder })
    };
    // A workload that sets the length of its load itself has no warm-up.
    let is_timed = !read(&parts)?.plan().load.warm_up.is_zero();
    let text = format!("{parts}\n{}", if is_timed { LOAD } else { OWN_LOAD });
    read(&text).map(|_| text)
}

/// The load of a workload that goes on as long as it is asked to.
const LOAD: &str = "\
[load]
clients = [1, 2, 4]          # concurrent clients; a list is a sweep, one trial for each
warm_up = \"1s\"               # load before the measurement
time = \"5s\"                  # length of each measurement
# rate = [100, 200]          # an open loop: transactions arrive at this rate, per second
# think_time = \"10ms\"        # a client's pause between transactions
# until = \"p99 within 5%\"    # end earlier, when this is known
";
/// The load of a workload that says how long it is.
const OWN_LOAD: &str = "\
[load]
clients = 1                  # concurrent clients; a list is a sweep, one trial for each
";

/// All but the load.
fn parts(args: &InitArgs) -> String {
    let workload = workload::whole_name(&args.workload).unwrap_or_else(|| args.workload.clone());
    let name = workload.rsplit('/').next().unwrap_or(&workload).trim_end_matches(".sql");
    let (kind, options) = system::from_argument(&args.system);
    // A plan has no password, which belongs to the environment or a file.
    let options: Vec<(String, String)> = options
        .into_iter()
        .map(|(key, value)| (key, plan::scrub(&value).replace(":***@", "@")))
        .collect();
    let title = format!("{name} on {kind}");
    let options_of_system: String =
        options.iter().map(|(key, value)| format!("{key} = {}\n", quoted(value))).collect();
    let kind_of_system = match options.iter().any(|(key, _)| key == "url") {
        // The URL says it.
        true => String::new(),
        false => format!("kind = {}\n", quoted(&kind)),
    };
    format!(
        "# A plan of dyno. `dyno run FILE` runs it, `dyno run FILE --dry-run` shows its trials and how long they take.\n\
         # Any value can be changed for one run, such as --set load.time=5s. All keys are in docs/plan.md.\n\
         \n\
         title = {title}\n\
         repetitions = 3              # how often each load is measured; one repetition shows no noise\n\
         existing = \"match\"           # tables that exist: match, refuse, reuse or replace\n\
         # cleanup = true             # drop the tables at the end\n\
         # seed = 1                   # the same seed makes the same data and the same queries\n\
         \n\
         # The system under test; `dyno systems {kind}` lists its options. Two such tables are compared.\n\
         [systems.{kind}]\n\
         {kind_of_system}{options_of_system}\
         \n\
         # The workload. Its options, each with its default:\n\
         [workloads.{key}]\n\
         kind = {workload_kind}\n\
         {workload_options}",
        title = quoted(&title),
        key = quoted(name),
        workload_kind = quoted(&workload),
        workload_options = options_of(&workload),
    )
}

/// The options of a workload as comments.
fn options_of(workload: &str) -> String {
    let info = workload::catalogue().into_iter().find(|info| info.kind == workload);
    let options = info.into_iter().flat_map(|info| info.options);
    options.map(|it| format!("# {} ({}): {}\n", it.name, it.default, it.meaning)).collect()
}

/// A text of TOML.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_for_each_kind_of_workload_and_system_is_read() {
        for (workload, system) in [
            ("oltp_read_write", "sqlite"),
            ("sysbench/bulk_insert", "mysql://app:secret@127.0.0.1:3306/test"),
            ("tpcc", "mariadb"),
            ("tpch", "tidb"),
            ("ycsb/a", "sqlite:data/my.db"),
            ("rpc", "grpc://127.0.0.1:1/a.B/C"),
        ] {
            let args = InitArgs {
                workload: workload.to_owned(),
                system: system.to_owned(),
                out: PathBuf::from("plan.toml"),
            };
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("data")).unwrap();
            let text = plan_text(&args, folder.path()).unwrap();
            assert!(!text.contains("secret") && !text.contains("***"), "{text}");
        }
    }
}
