//! Watching hosts and servers while load runs.
//!
//! A running system reports what can be watched of it. [`HostWatch`] reads the counters of this machine's kernel,
//! [`server_processes`] finds the processes of an external server, [`ServerWatch`] asks a server for its metrics.
//! Nothing here has a clock or a thread of its own: the caller decides when to read.

mod discover;
pub(crate) mod exposition;
mod family;
#[cfg(test)]
mod fuzz;
mod host;
mod kinds;
mod left_out;
pub(crate) mod panels;
mod process;
mod process_kinds;
mod pss;
mod server;
mod sql_source;
mod statement_counter;
mod statements;
pub(crate) mod stores;

pub use discover::{
    own_boot, own_identity, processes_by_name, processes_with, server_processes, with_descendants,
};
pub use host::{HostWatch, LOOK_PERIOD};
pub use kinds::server_kinds;
pub(crate) use server::read_bytes;
pub use server::{ServerWatch, read_page};
pub(crate) use statement_counter::StatementCounter;
pub use statements::{StatementCounters, StatementPages};
