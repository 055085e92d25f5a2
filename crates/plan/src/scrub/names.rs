//! Which names are those of secrets, and what a secret becomes.

/// The replacement for a password.
pub(crate) const BLANK: &str = "***";
/// Values of a setting that is named like a secret but is not one, such as `allow_clear_password`.
const SWITCHES: [&str; 4] = ["true", "false", "on", "off"];

/// Whether a key holds a secret itself, not the name of a place that has one.
pub fn names_secret(key: &str) -> bool {
    const ENDINGS: [&str; 17] = [
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
        "jwt",
        "bearer",
        "signature",
    ];
    let key = key.to_lowercase().replace('-', "_");
    key == "pass" || ENDINGS.iter().any(|ending| key.ends_with(ending))
}

/// Whether the header of a request with this name, a key of `metadata`, holds a secret: names of headers say less than keys
/// of a plan, where `ssl_key` and `session` are none.
pub fn names_secret_header(name: &str) -> bool {
    const PARTS: [&str; 12] = [
        "authorization",
        "authentication",
        "cookie",
        "jwt",
        "bearer",
        "session",
        "signature",
        "token",
        "secret",
        "passw",
        "credential",
        "apikey",
    ];
    const WORDS: [&str; 6] = ["auth", "key", "pass", "pwd", "sid", "sig"];
    let name = name.trim().to_lowercase();
    names_secret(&name)
        || PARTS.iter().any(|part| name.contains(part))
        || name.split(['-', '_', '.']).any(|word| WORDS.contains(&word))
}

/// Whether a value only switches something on or off.
pub(super) fn is_switch(value: &str) -> bool {
    SWITCHES.iter().any(|switch| value.eq_ignore_ascii_case(switch))
}
