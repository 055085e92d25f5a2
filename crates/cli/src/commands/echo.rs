//! `dyno echo`: dyno's own echo server, until Ctrl-C.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use net::FixedSizes;
use system::{EchoOptions, EchoServer};

use crate::args::EchoArgs;
use crate::signals;

/// Interval between two checks for a request to stop.
const POLL_PERIOD: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &EchoArgs) -> Result<ExitCode> {
    let stop = signals::listen().context("cannot listen for signals")?;
    let options = EchoOptions { listen: args.listen, threads: args.threads, sizes: sizes(args) };
    let server =
        EchoServer::start(&options).with_context(|| format!("cannot serve on {}", args.listen))?;
    super::print(&listening(server.address()))?;
    while !stop.is_asked() && !server.has_failed() {
        thread::sleep(POLL_PERIOD);
    }
    server.stop().context("the echo server has ended")?;
    Ok(ExitCode::SUCCESS)
}

fn sizes(args: &EchoArgs) -> Option<FixedSizes> {
    let (request, response) = (args.request_size?, args.response_size?);
    Some(FixedSizes { request: request.get(), answer: response.get() })
}

fn listening(address: SocketAddr) -> String {
    format!("listening on {address}; Ctrl-C ends it\n")
}
