//! Passwords in the environment: known to the scrubber and to later logins.

use std::env;
use std::os::unix::ffi::OsStringExt;

use driver::{password_variables, set_environment_passwords};
use plan::Password;

/// Has the passwords of the environment blanked in all output, and gives the first one to later logins.
pub(crate) fn take_passwords() {
    let variables = password_variables().into_iter();
    let given: Vec<_> = variables
        .filter_map(|name| Some((name, env::var_os(name)?)))
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name, Password::of_bytes(value.into_vec())))
        .collect();
    given.iter().for_each(|(_, password)| password.hide());
    set_environment_passwords(given);
}
