//! Speaks to a system. A [`Target`] says where it is and how to log in; a [`Session`] is one
//! connection. What a system can do stands in its [`Capabilities`]: workloads ask that, never the
//! product's name.

mod capabilities;
mod facts;
mod limits;
mod loader;
pub mod mysql;
mod password;
mod rows;
mod running;
mod session;
pub mod sqlite;
mod statement;
mod target;
mod timeouts;
mod value;

pub use capabilities::{Capabilities, PlaceholderStyle};
pub use facts::{Facts, ServerLimits};
pub use limits::{Demand, Shortage};
pub use loader::Loader;
pub use mysql::{ServerCounters, ServerCounts};
pub use password::Password;
pub use rows::Rows;
pub use running::Running;
pub use session::Session;
pub use statement::{Answer, Statement};
pub use target::Target;
pub use timeouts::Timeouts;
pub use value::{Datum, Value};
