//! A password that cannot be printed by accident.

use std::fmt;

/// A password. It has no `Display`, and its `Debug` shows neither the password nor whether it is empty.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Wraps `text`, so that it is not printed.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether there is no password.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The password itself, only for logging in.
    pub(crate) fn reveal(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}
