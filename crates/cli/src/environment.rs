//! Passwords in the environment: known to the scrubber and to later logins.

use std::env;
use std::os::unix::ffi::OsStringExt;

use driver::{password_variables, set_environment_passwords};
use plan::Password;

/// Has the passwords of the environment blanked in all output, and gives the first one to later logins.
pub(crate) fn take_passwords() {
    let value = |name: &'static str| {
        let value = env::var_os(name).filter(|value| !value.is_empty())?;
        Some((name, Password::of_bytes(value.into_vec())))
    };
    let given: Vec<_> = password_variables().into_iter().filter_map(value).collect();
    given.iter().for_each(|(_, password)| password.hide());
    set_environment_passwords(given);
}
