//! Which names are those of secrets, and what a secret becomes.

/// The replacement for a password.
pub(crate) const BLANK: &str = "***";
/// Values of a setting that is named like a secret but is not one, such as `allow_clear_password`.
const SWITCHES: [&str; 4] = ["true", "false", "on", "off"];

/// Whether a key holds a secret itself, not the name of a place that has one.
pub fn names_secret(key: &str) -> bool {
    const ENDINGS: [&str; 14] = [
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "_pass",
        "secret",
        "token",
        "apikey",
        "api_key",
        "access_key",
        "secret_key",
        "credentials",
        "authorization",
        "cookie",
    ];
    let key = key.to_lowercase().replace('-', "_");
    key == "pass" || ENDINGS.iter().any(|ending| key.ends_with(ending))
}

/// Whether a value only switches something on or off.
pub(super) fn is_switch(value: &str) -> bool {
    SWITCHES.iter().any(|switch| value.eq_ignore_ascii_case(switch))
}
