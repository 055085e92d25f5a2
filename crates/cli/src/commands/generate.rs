//! `dyno generate WORKLOAD`: a workload's data as files, for a system's own bulk loader.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use plan::{Draft, DraftPart, Files, Plan, Problems};
use workload::{Export, LoadProgress};

use super::WrongArgument;
use super::option_names::at_argument;
use super::subject::split_all;
use crate::args::GenerateArgs;
use crate::signals;

/// Interval between updates of the progress.
const POLL_PERIOD: Duration = Duration::from_millis(500);

pub(crate) fn run(args: &GenerateArgs) -> Result<ExitCode> {
    let options = split_all(&args.options, "--option")?;
    let draft = Draft {
        systems: vec![DraftPart { kind: "sqlite".to_owned(), ..DraftPart::default() }],
        workloads: vec![DraftPart {
            kind: args.workload.clone(),
            options,
            texts: workload::text_options(&args.workload),
        }],
        ..Draft::default()
    };
    let named = |problems| at_argument(problems, &args.workload, &args.options);
    let plan = Plan::parse(plan::compose(&draft)).map_err(named)?;
    let workload = workload::read(&plan.workloads[0], &Files::of("."))
        .map_err(|problems| named(Problems::new(&plan.source, problems)))?;
    if !workload.can_export() {
        let message = format!(
            "the data of {} cannot be written as files; those of tpcc and tpch can",
            args.workload
        );
        return Err(WrongArgument(message).into());
    }
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make {}", args.out.display()))?;
    if std::fs::read_dir(&args.out)?.next().is_some() {
        bail!(
            "{} is not empty: choose a folder that is empty or does not exist",
            args.out.display()
        );
    }
    let stop = signals::listen().context("cannot listen for signals")?;
    let progress = LoadProgress::new();
    let export = Export {
        folder: args.out.clone(),
        database: args.database.clone().unwrap_or_else(|| args.workload.clone()),
        // The bulk loaders for such files belong to servers of the MySQL protocol.
        dialect: &driver::mysql::DIALECT,
        seed: args.seed.unwrap_or(plan.seed),
        now: jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S").to_string(),
        writers: thread::available_parallelism().map_or(1, std::num::NonZero::get),
        progress: &progress,
        stop: &stop,
    };
    let written = thread::scope(|scope| {
        let job = scope.spawn(|| workload.export(&export));
        while !args.quiet && !job.is_finished() {
            thread::park_timeout(POLL_PERIOD);
            show_progress(&progress);
        }
        job.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause))
    });
    match written {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(_) if stop.is_asked() => Ok(ExitCode::from(signals::INTERRUPTED)),
        Err(failure) => bail!("{failure}"),
    }
}

fn show_progress(progress: &LoadProgress) {
    let (stage, done, total) = progress.current();
    if total > 0 {
        crate::output::print_error(&format!("{stage}: {done} of {}", total.max(done)));
    }
}
