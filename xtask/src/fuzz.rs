//! Long checks of the properties of everything that reads outside input. The properties are in the `fuzz` modules of
//! the rooms, next to the code; `cargo test` checks each of them briefly.

use std::process::ExitCode;

use clap::Args;

use crate::interrupt::Interrupt;
use crate::shell;

/// What `cargo xtask fuzz` takes.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Inputs for each target
    #[arg(long, default_value_t = 1_000_000)]
    cases: u32,
    /// Where inputs come from: the same seed makes the same inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only targets whose name contains this, such as `mysql_url`
    #[arg(long, default_value = "fuzz::")]
    only: String,
}

/// Checks every target; an input that breaks a property is shown, as small as it can be made.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::watch()?;
    let mut test = shell::cargo(&["test", "--workspace", "--lib", "--release", "--no-fail-fast"]);
    test.arg(&arguments.only);
    test.env("PROPTEST_CASES", arguments.cases.to_string());
    test.env("PROPTEST_RNG_SEED", arguments.seed.to_string());
    let status = shell::run(&mut test, &interrupt)?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
