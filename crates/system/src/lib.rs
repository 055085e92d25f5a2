//! The systems under test: found or made, started, watched, stopped.
//!
//! [`read`] turns a system of the plan into a [`System`]; starting that gives a [`Running`], which
//! says how to speak to it ([`Access`]) and what it is ([`Identity`]). What is started here never
//! outlives this process. [`catalogue`] explains what there is.

mod contract;
mod copy;
mod log_tail;
pub mod mariadb;
mod process;
mod programs;

pub use contract::{Access, Identity, Running, System};

/// Reads a system of the plan.
///
/// # Errors
/// A kind that is not known, options that are not: each with its place and the nearest spelling.
pub fn read(
    _plan: &plan::SystemPlan,
    _folder: &std::path::Path,
) -> Result<Box<dyn System>, Vec<plan::Problem>> {
    unimplemented!("the systems are on their way")
}
