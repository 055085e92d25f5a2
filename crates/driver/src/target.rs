//! Where a system is and how to log in.

use measure::Failure;
use net::Handle;

use crate::{Capabilities, Session};

/// A database that can be connected to. Passwords in it are neither printed nor written anywhere.
#[derive(Clone, Debug)]
pub enum Target {}

impl Target {
    /// Connects client `index` (several addresses are shared out by it).
    ///
    /// # Errors
    /// When the server cannot be reached or refuses the login, with what to do about it.
    pub async fn connect(&self, _handle: &Handle, _index: usize) -> Result<Session, Failure> {
        match *self {}
    }

    /// What the system can do, as it said when [`Target::probe`] asked it.
    pub fn capabilities(&self) -> &Capabilities {
        match *self {}
    }
}
