//! The systems under test: finding, building, starting, watching and stopping them.
//!
//! [`read`] turns a system of the plan into a [`System`]. Its start returns a [`Running`], which holds how to access
//! the system ([`Access`]) and its [`Identity`]. Processes that are started here never outlive dyno. [`catalogue`]
//! describes all kinds.

mod account;
mod argument;
mod aside;
mod ask;
mod build_command;
mod cache;
mod contract;
mod copy;
mod daemon;
mod echo;
pub mod evidence;
mod go;
pub mod go_echo;
pub mod http;
mod kind;
mod kinds;
mod log_tail;
pub mod mariadb;
mod mysql;
mod options;
mod ports;
pub mod postgres;
pub mod private_file;
mod process;
pub mod profile;
mod programs;
mod running;
mod scratch;
mod secret;
mod service;
mod simulated;
pub mod slowdown;
mod sqlite;
mod subprocess;
#[cfg(test)]
mod testing;
pub mod tidb;
mod tidb_cluster;
pub mod watch;

pub use argument::from_argument;
pub use aside::aside;
pub use build_command::build_by_command;
pub use cache::{CACHE_VARIABLE, cache_folder};
pub use contract::{Access, Offer, ProgressEvent, ProgressListener, System};
pub use daemon::Daemon;
pub use echo::{EchoOptions, EchoProcess, EchoServer};
pub use go::go_program;
pub use kind::Kind;
pub use kinds::{catalogue, read};
pub use measure::Identity;
pub use process::{
    FlushGate, PipedProcess, Pipes, ProcessReference, command, demand_cpus, reaching_command,
    toolchain_command,
};
pub use running::{LostMember, MetricsEndpoint, Running, ServerProcess};
pub use scratch::Scratch;
pub use secret::LoginUrl;
pub use watch::{StatementCounters, StatementPages, server_kinds};
