//! Passwords in the environment: known to the scrubber and to later logins.

use std::env;
use std::os::unix::ffi::OsStringExt;

use driver::mysql::{PASSWORD_VARIABLES, set_environment_password};
use plan::Password;

/// Has the passwords of the environment blanked in all output, and gives the first one to later logins.
pub(crate) fn take_passwords() {
    let given = PASSWORD_VARIABLES.into_iter().filter_map(env::var_os);
    let given: Vec<Password> = given
        .filter(|value| !value.is_empty())
        .map(|value| Password::of_bytes(value.into_vec()))
        .collect();
    given.iter().for_each(Password::hide);
    set_environment_password(given.into_iter().next());
}
