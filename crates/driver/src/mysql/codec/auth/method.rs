//! The login methods by name, and the remedy for those that dyno does not know.

/// Length of the challenge of all methods but ed25519.
pub(super) const NONCE_BYTES: usize = 20;

/// A login method that dyno knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// SHA-1: MariaDB's and TiDB's default.
    NativePassword,
    /// SHA-256 with a cache in the server: MySQL's default from 8.0 on.
    CachingSha2Password,
    /// The same without a cache: MySQL 5.6 to 8.4.
    Sha256Password,
    /// A signature: MariaDB's plugin `ed25519`.
    Ed25519,
    /// The password itself: for PAM and LDAP.
    ClearPassword,
}

impl Method {
    const ALL: [Self; 5] = [
        Self::NativePassword,
        Self::CachingSha2Password,
        Self::Sha256Password,
        Self::Ed25519,
        Self::ClearPassword,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NativePassword => "mysql_native_password",
            Self::CachingSha2Password => "caching_sha2_password",
            Self::Sha256Password => "sha256_password",
            Self::Ed25519 => "client_ed25519",
            Self::ClearPassword => "mysql_clear_password",
        }
    }

    /// The method of that name, `None` when dyno does not know it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// The method with which a login begins, chosen so that most logins need no change of the method: the server's
    /// preferred method when it reveals nothing, otherwise the one that every server knows.
    pub(super) fn first(liked_by_server: &str) -> Self {
        match Self::named(liked_by_server) {
            Some(Self::CachingSha2Password) => Self::CachingSha2Password,
            _ => Self::NativePassword,
        }
    }
}

/// Why dyno does not log in by this method, and what to do instead.
pub(super) fn unknown(name: &str) -> String {
    let (whose, instead) = match name {
        "tidb_sm3_password" => (" (TiDB's, of SM3 hashes)", "caching_sha2_password over TLS"),
        "tidb_auth_token" => (" (TiDB's, of signed tokens)", "caching_sha2_password over TLS"),
        "parsec" => (" (MariaDB's, from 11.6 on)", "ed25519"),
        "dialog" => (" (MariaDB's, of questions and answers)", "ed25519"),
        "" => ("without a name", "mysql_native_password"),
        "mysql_old_password" => (" (of servers before 4.1)", "mysql_native_password"),
        "auth_gssapi_client" | "authentication_kerberos_client" => {
            (" (of Kerberos tickets)", "a password")
        }
        _ => ("", "caching_sha2_password, ed25519 or mysql_native_password"),
    };
    format!(
        "the server asks for the login method {name}{whose}, which dyno does not speak: log in as a \
         user identified with {instead}"
    )
}
