//! `dyno watch-host`: the other end of a host that a plan watches. Another dyno starts it.

use std::process::ExitCode;

use anyhow::Result;
use remote::End;

/// The name in lists of processes, of at most 15 characters.
const NAME: &str = "dyno-watch-host";

pub(crate) fn run() -> Result<ExitCode> {
    // Nothing is to be ended: the answers end with the connection.
    let end = End::on_stdio(NAME, |_| {})?;
    let (sender, receiver) = end.split();
    remote::serve_host_watch(&sender, &receiver)?;
    Ok(ExitCode::SUCCESS)
}
