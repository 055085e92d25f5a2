//! The search for a system's capacity: the highest load that keeps bounds on latency or errors.
//!
//! [`Seek`] decides on the load of each probe, a short trial, from the results of those before. It raises the load
//! until a probe breaks a bound, bisects, and then spreads probes around the place where the bounds begin to break. A
//! curve through the shares of their transactions above each bound ([`curve`]) gives the capacity with its interval.
//! Longer trials at the low end of that interval confirm it. When the probes show that the system has changed ([`change`]),
//! the search goes on with those since then.

mod capacity;
mod change;
mod crossing;
mod curve;
mod judged;
mod search;

pub use capacity::{Capacity, CapacityBasis};
pub use judged::{BoundShare, JudgedProbe, assess, transactions_needed};
pub use search::{NextProbe, Seek, SeekOutcome, Step, SystemState};
