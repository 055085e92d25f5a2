//! Offers load: clients, pacing, workers, phases, and a simulated system in exact virtual time.
//!
//! The engine names no workload and no database. It drives one trait, [`Client`]: one future for the
//! lifetime of a client, which takes its place ([`Seat`]), awaits its turns and says what happened.
//! [`offer`] runs a whole trial's load and hands each closed [`measure::Interval`] to an
//! [`Observer`]; [`crew::run`] runs jobs side by side, for preparing data.

mod bench;
mod client;
mod control;
pub mod crew;
mod late;
mod offer;
mod outages;
mod pacing;
mod schedule;
mod seat;
mod simulated;
mod stop;
mod trial;
mod worker;

pub use client::{Client, Load, LocalBoxFuture};
pub use offer::{Limit, Offer, Workers};
pub use pacing::{Pacing, Step};
pub use schedule::{Schedule, Segment, Spread};
pub use seat::{Seat, Turn};
pub use simulated::{Simulated, SimulatedSystem, Stall};
pub use stop::{Stop, StopLevel};
pub use trial::{ClientOutcome, Ended, Observer, Outcome, TrialError, offer};
