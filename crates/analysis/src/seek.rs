//! The search for a system's capacity: the highest load that keeps bounds on latency or errors.
//!
//! [`Seek`] decides on the load of each probe, a short trial, from the results of those before. It raises the load until
//! a probe breaks a bound, bisects, and then spreads probes around the place where the bounds begin to break. A line
//! through these ([`capacity`]) gives the capacity with its interval. Longer trials at the low end of that interval
//! confirm it.

mod capacity;
mod judged;
mod search;

pub use capacity::Capacity;
pub use judged::{JudgedProbe, ProbeFacts, assess, transactions_needed};
pub use search::{NextProbe, Seek, SeekOutcome, Step};
