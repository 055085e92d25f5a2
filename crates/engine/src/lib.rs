//! Offers load: clients, pacing, workers, phases, and a simulated system in exact virtual time.
//!
//! The engine names no workload and no database. It drives one trait, [`Load`], which starts the clients of one
//! worker at a time ([`Clients`]), so that they can share resources such as a connection. A client is one future for
//! its whole life: it gets a handle ([`ClientHandle`]), awaits its turns and reports the results. [`offer`] runs a
//! whole trial's load and passes each closed [`measure::Interval`] to a [`TrialObserver`]; [`worker_pool::run`] runs
//! jobs in parallel, to prepare data.
//!
//! A load may also be offered by several processes, the generators: each runs [`serve`] with its [`Part`], and
//! [`coordinate`] does for them what [`offer`] does for the workers of one process. Generators report as workers do,
//! so one coordinator serves both.

mod assignment;
mod client;
mod client_handle;
mod control;
mod coordinator;
#[cfg(test)]
mod fuzz;
mod generator_links;
mod interval_grid;
mod levers;
mod observer;
mod offer;
mod open_intervals;
mod outages;
mod outcome;
mod pacing;
mod part;
mod quiet;
mod report;
mod schedule;
mod serve;
mod server_choice;
mod simulated;
mod steering;
mod stop;
mod trial;
mod window;
mod worker;
pub mod worker_pool;
mod worker_state;
mod worker_threads;

pub use client::{Clients, Load, LocalBoxFuture, News};
pub use client_handle::ClientHandle;
pub use generator_links::{FromGenerator, GeneratorLink, Generators, coordinate};
pub use levers::{LeverSizes, Levers, ServerStatements, Slowed, rounds_per_us};
pub use observer::{GeneratorEnd, TrialObserver};
pub use offer::{OfferedLoad, PhaseEnds, Workers};
pub use outcome::{ClientOutcome, LoadEnd, Outcome, TrialError};
pub use pacing::{NextStart, Pacing, Turn};
pub use part::Part;
pub use report::{Command, Report};
pub use schedule::Schedule;
pub use serve::{GeneratorObserver, serve};
pub use simulated::{MachineNoise, Simulated, SimulatedChance};
pub use stop::{Stop, StopLevel};
pub use trial::offer;
pub use worker::WORKER_THREAD;
