//! The password of a new TiDB: checks whether it is set, and sets it if not.

use anyhow::Context;
use driver::Address;
use driver::mysql::Config;
use driver::{Target, Timeouts};
use net::Endpoint;
use plan::Password;

use super::USER;
use crate::ProgressListener;
use crate::ask::rows;
use crate::mysql::native_hash;
use crate::ports::local;
use crate::secret::Secret;

/// The statement that tests whether a login works.
const QUESTION: &str = "SELECT 1";

/// The statement that sets root's password; it contains only the hash.
pub(super) fn set_password(secret: &Secret) -> String {
    let hash = native_hash(&secret.password());
    format!("ALTER USER '{USER}'@'%' IDENTIFIED WITH 'mysql_native_password' AS '{hash}'")
}

/// Logs in with the password. A server that could not read the password before it listened, such as one of an older
/// version, still has an account without one; this then sets the password.
///
/// # Errors
/// When the server cannot be reached, or refuses the login.
pub(super) fn demand_password(
    secret: &Secret,
    port: u16,
    listener: &mut ProgressListener<'_>,
) -> anyhow::Result<()> {
    let with = |password| target(port, password);
    if rows(&with(secret.password()), QUESTION, listener).is_ok() {
        return Ok(());
    }
    rows(&with(Password::default()), &set_password(secret), listener)
        .context("cannot set the password of the new server")?;
    rows(&with(secret.password()), QUESTION, listener)
        .map(drop)
        .context("the new server does not take the password that was set")
}

fn target(port: u16, password: Password) -> Target {
    let address = local(port);
    let config = Config {
        addresses: vec![Address { name: address.to_string(), endpoint: Endpoint::Tcp(address) }],
        user: USER.to_owned(),
        password,
        ..Config::default()
    };
    Target::mysql(config).with_timeouts(Timeouts::default())
}
