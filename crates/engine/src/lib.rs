//! Offers load: clients, pacing, workers, phases, and a simulated system in exact virtual time.
//!
//! The engine names no workload and no database. It drives one trait, [`Load`], which starts the clients of
//! one worker at a time ([`Clients`]), so that they can share what they need, such as a connection. A client
//! is one future for its whole life: it gets a handle ([`Seat`]), awaits its turns and reports what happened.
//! [`offer`] runs a whole trial's load and hands each closed [`measure::Interval`] to an [`Observer`];
//! [`crew::run`] runs jobs side by side, for preparing data.

mod assignment;
mod bench;
mod client;
mod control;
pub mod crew;
mod late;
mod offer;
mod outages;
mod outcome;
mod pacing;
mod schedule;
mod seat;
mod simulated;
mod stop;
mod trial;
mod worker;

pub use client::{Clients, Load, LocalBoxFuture};
pub use offer::{Offer, Workers};
pub use outcome::{ClientOutcome, Ended, Outcome, TrialError};
pub use pacing::{Pacing, Step, Turn};
pub use schedule::Schedule;
pub use seat::Seat;
pub use simulated::Simulated;
pub use stop::{Stop, StopLevel};
pub use trial::{Observer, offer};
