//! Speaks to a system. A [`Target`] says where it is and how to log in; a [`Session`] is one
//! connection. What a system can do stands in its [`Capabilities`]: workloads ask that, never the
//! product's name.

mod capabilities;
mod session;
mod target;
mod value;

pub use capabilities::{BulkLoad, Capabilities, PlaceholderStyle};
pub use session::{Answer, Loader, Session, Statement};
pub use target::Target;
pub use value::{Datum, Value};
