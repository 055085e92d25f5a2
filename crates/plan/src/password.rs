//! Passwords in memory: one copy, which is overwritten when nothing needs it any more.
//!
//! What other code does with a password leaves copies in memory that is free again. Those on the stack are overwritten
//! here. Those on the heap stay until that memory is used again.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

use zeroize::{Zeroize, Zeroizing};

/// So much of the stack is overwritten after a password was used: more than any login method takes.
const STACK_BYTES: usize = 64 << 10;

/// A password. Its clones share one copy, which is overwritten with the last of them. It has no `Display`, and its
/// `Debug` shows neither the password nor whether it is empty.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Password(Arc<Zeroizing<Vec<u8>>>);

impl Password {
    /// Takes the password out of `text`, of which nothing is left.
    pub fn new(text: impl Into<String>) -> Self {
        let mut text = text.into();
        let password = Self(Arc::new(Zeroizing::new(text.as_bytes().to_vec())));
        text.zeroize();
        password
    }

    /// Takes other secret bytes, such as a private key, without a copy of them.
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Zeroizing::new(bytes)))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Uses the password itself, only for logging in. What functions that `purpose` calls leave on the stack is
    /// overwritten; what it returns, and what it moves elsewhere, is not.
    pub fn reveal<T>(&self, purpose: impl FnOnce(&[u8]) -> T) -> T {
        let result = within_frame(purpose, &self.0);
        wipe_stack();
        result
    }

    /// Has it blanked in all output, as [`crate::hide`] does.
    pub fn hide(&self) {
        self.reveal(|bytes| crate::hide(&String::from_utf8_lossy(bytes)));
    }
}

/// Calls a function in a stack frame of its own.
#[inline(never)]
fn within_frame<T>(purpose: impl FnOnce(&[u8]) -> T, password: &[u8]) -> T {
    purpose(black_box(password))
}

/// Overwrites the stack below the frame of the caller.
#[inline(never)]
fn wipe_stack() {
    black_box(&mut [0_u8; STACK_BYTES]);
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_one_copy_and_none_is_shown() {
        let password = Password::new("pass-word-4711");
        let clone = password.clone();
        let place = |password: &Password| password.reveal(<[u8]>::as_ptr);
        assert_eq!(place(&password), place(&clone));
        assert_eq!(format!("{password:?} {:?}", Password::default()), "Password Password");
        assert_eq!((password.is_empty(), Password::default().is_empty()), (false, true));
        drop(password);
        assert_eq!(clone.reveal(<[u8]>::to_vec), b"pass-word-4711");
    }
}
