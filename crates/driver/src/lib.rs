//! Connections to systems. A [`Target`] holds a system's address and login; a [`Session`] is one connection.
//! Workloads use the target's [`Dialect`] for its SQL and its [`Capabilities`] for the abilities of its sessions,
//! never the product's name.

mod address;
mod asked;
mod capabilities;
mod counters;
mod dialect;
mod facts;
mod insert_timer;
mod limits;
mod loader;
mod login;
pub mod mysql;
mod names;
mod opening;
mod portable;
pub mod postgres;
mod received;
mod rows;
pub mod rpc;
mod running;
mod server_figures;
mod session;
pub mod sqlite;
mod ssl_options;
mod statement;
mod target;
mod timeouts;
mod tls_failure;
mod tls_material;
mod url_parts;
mod value;
#[cfg(test)]
mod virtual_peer;

pub use address::{Address, CLOSED_WHILE_IDLE, REFUSED};
pub use capabilities::Capabilities;
pub use counters::{Incomparable, ServerCounters, ServerCounts};
pub use dialect::{Dialect, HashPartitions, Isolation, ParameterType};
pub use facts::{Facts, ServerLimit, ServerLimits};
pub use insert_timer::Added;
pub use limits::{Demand, Shortage};
pub use loader::Loader;
pub use login::{ClientDefaults, LoginSources, password_variables, set_environment_passwords};
pub use portable::{PortableService, PortableTarget, Secrets};
pub use rows::Rows;
pub use running::Running;
pub use server_figures::ServerFigures;
pub use session::Session;
pub use ssl_options::{CertificateCheck, Encryption, SslMode, SslOptions, Tls};
pub use statement::{Answer, PipelineStep, Statement, Unprepared};
pub use target::Target;
pub use timeouts::Timeouts;
pub use url_parts::{Host, HostError};
pub use value::{Datum, Value};
