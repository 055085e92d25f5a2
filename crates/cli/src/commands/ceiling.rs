//! `dyno ceiling`: what a path and both kernels carry.

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use driver::rpc::{Protocol, Service};
use net::FixedSizes;
use plan::CeilingPlan;
use runner::{CeilingProbe, event_loops_beside_a_service, start_echo};
use system::{Daemon, ProgressEvent, Scratch};

use super::WrongArgument;
use super::subject::bare_seconds;
use crate::args::CeilingArgs;
use crate::output::print_error;
use crate::signals;

/// A shorter measurement shows chance alone.
const TIME_MIN: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &CeilingArgs) -> Result<ExitCode> {
    let plan = plan_of(args)?;
    let stop = signals::listen().context("cannot listen for signals")?;
    let scratch = Scratch::make()?;
    let workers =
        args.workers.map_or_else(event_loops_beside_a_service, |count| usize::from(count.get()));
    let mut until_stopped = |_: ProgressEvent<'_>| match stop.is_asked() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let echo = match &args.to {
        Some(_) => None,
        None => Some(start_echo(workers, scratch.path(), &mut until_stopped)?),
    };
    let local = echo.as_ref().map(|echo| format!("127.0.0.1:{}", echo.port()));
    let Some(address) = args.to.clone().or(local) else {
        bail!("give --to ADDRESS:PORT, or --local");
    };
    let sizes = FixedSizes { request: args.request_size.get(), answer: args.response_size.get() };
    let probe = CeilingProbe {
        plan: &plan,
        address,
        server: echo.as_ref().map(Daemon::pid),
        sizes,
        connections: args.connections.get(),
        workers,
        cpus: Vec::new(),
    };
    print_error(&format!("measuring for {}", plan::show_duration(plan.length())));
    match probe.measure(&stop) {
        Ok(ceiling) => super::print(&report::ceiling(&ceiling, super::output_width()))?,
        Err(_) if stop.is_asked() => return Ok(ExitCode::from(signals::INTERRUPTED)),
        Err(cause) => return Err(cause),
    }
    echo.map_or(Ok(()), Daemon::stop)?;
    Ok(ExitCode::SUCCESS)
}

fn plan_of(args: &CeilingArgs) -> Result<CeilingPlan> {
    if let Some(address) = &args.to {
        let checked =
            Service::check(Protocol::Tcp { announces: true }, &format!("tcp://{address}"));
        checked.map_err(|error| WrongArgument(format!("--to {address:?}: {error}")))?;
    }
    let text = bare_seconds(Some(&args.time)).unwrap_or_default();
    let time = plan::parse_duration(&text).filter(|time| *time >= TIME_MIN).ok_or_else(|| {
        WrongArgument(format!(
            "--time {:?} is not a duration of 50ms or more, such as 1s",
            args.time
        ))
    })?;
    Ok(CeilingPlan {
        to: None,
        in_flight: usize::from(args.in_flight),
        rounds: args.rounds.get(),
        time,
    })
}
