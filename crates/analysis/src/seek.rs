//! The search for a system's capacity: the highest load that keeps bounds on latency or errors.
//!
//! [`Seek`] decides on the load of each probe, a short trial, from the results of those before. It raises the load
//! until a probe breaks a bound, bisects, and then spreads probes around the place where the bounds begin to break. A
//! curve through the shares of their transactions above each bound ([`curve`]) gives the capacity with its interval.
//! Longer trials at the low end of that interval confirm it.

mod capacity;
mod crossing;
mod curve;
mod judged;
mod search;

pub use capacity::Capacity;
pub use judged::{BoundShare, JudgedProbe, assess, transactions_needed};
pub use search::{NextProbe, Seek, SeekOutcome, Step};
