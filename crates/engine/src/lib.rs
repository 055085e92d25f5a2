//! Offers load: clients, pacing, workers, phases, and a simulated system in exact virtual time.
//!
//! The engine names no workload and no database. It drives one trait, [`Load`], which starts the clients of one
//! worker at a time ([`Clients`]), so that they can share resources such as a connection. A client is one future for
//! its whole life: it gets a handle ([`ClientHandle`]), awaits its turns and reports the results. [`offer`] runs a
//! whole trial's load and passes each closed [`measure::Interval`] to a [`TrialObserver`]; [`worker_pool::run`] runs
//! jobs in parallel, to prepare data.

mod assignment;
mod client;
mod client_handle;
mod control;
mod observer;
mod offer;
mod open_intervals;
mod outages;
mod outcome;
mod pacing;
mod quiet;
mod schedule;
mod simulated;
mod stop;
mod trial;
mod window;
mod worker;
pub mod worker_pool;
mod worker_state;

pub use client::{Clients, Load, LocalBoxFuture};
pub use client_handle::ClientHandle;
pub use observer::TrialObserver;
pub use offer::{OfferedLoad, PhaseEnds, Workers};
pub use outcome::{ClientOutcome, LoadEnd, Outcome, TrialError};
pub use pacing::{NextStart, Pacing, Turn};
pub use schedule::Schedule;
pub use simulated::{MachineNoise, Simulated, SimulatedChance};
pub use stop::{Stop, StopLevel};
pub use trial::offer;
pub use worker::WORKER_THREAD;
