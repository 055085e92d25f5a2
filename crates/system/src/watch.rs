//! Watching hosts and servers while load runs.
//!
//! A running system says what of it can be watched. [`HostWatch`] reads what the kernel of this machine counts,
//! [`server_processes`] finds the processes of a server that was there before, [`ServerWatch`] asks a server
//! for the metrics that it reports. Nothing here has a clock or a thread of its own: who calls says when.

mod discover;
pub(crate) mod exposition;
#[cfg(test)]
mod fuzz;
mod host;
pub(crate) mod panels;
mod process;
mod server;
pub(crate) mod stores;

pub use discover::server_processes;
pub use host::{HostWatch, LOOK_PERIOD};
pub use panels::server_kinds;
pub use server::{ServerWatch, read_page};
