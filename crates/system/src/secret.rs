//! The random password of a managed server, and URLs that contain it.

use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::Context;
use plan::Password;
use zeroize::{Zeroize, Zeroizing};

use crate::private_file;

/// The login to the managed servers of a protocol.
#[derive(Debug)]
pub(crate) struct ManagedLogin {
    /// The scheme of URLs.
    pub(crate) scheme: &'static str,
    pub(crate) user: &'static str,
    /// The database that a new server has.
    pub(crate) database: &'static str,
    /// Whether a server on this port of 127.0.0.1 takes logins yet.
    pub(crate) is_up: fn(u16) -> bool,
}

impl ManagedLogin {
    /// The URL of a server that listens at `place`, without a password.
    pub(crate) fn url_at(&self, place: &str) -> String {
        let Self { scheme, user, database, .. } = self;
        format!("{scheme}://{user}@{place}/{database}")
    }
}

/// The text that is shown in place of a password.
const MASK: &str = "***";
/// 128 bits: too many to guess, however fast the server answers.
const RANDOM_BYTES: usize = 16;

/// A password that is made for one server and is not used after it. Its `Debug` output does not show it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(Password);

impl Secret {
    /// A new password from the kernel's random numbers, in hexadecimal digits, so that it never needs quotes. From now
    /// on [`plan::scrub`] blanks it in every text.
    ///
    /// # Errors
    /// When the kernel returns none.
    pub(crate) fn random() -> anyhow::Result<Self> {
        let mut bytes = [0; RANDOM_BYTES];
        File::open("/dev/urandom")
            .and_then(|mut source| source.read_exact(&mut bytes))
            .context("cannot make a password for the server from /dev/urandom")?;
        let password = hex(&bytes);
        bytes.zeroize();
        plan::hide(&password);
        Ok(Self(Password::new(password)))
    }

    /// The password in the driver's type.
    pub(crate) fn password(&self) -> Password {
        self.0.clone()
    }

    /// The URL of a server that listens at `place`, such as `127.0.0.1:3306` or several of these.
    pub(crate) fn url_at(&self, login: &'static ManagedLogin, place: &str) -> LoginUrl {
        self.url(login, &format!("@{place}/{}", login.database))
    }

    /// The URL of a server behind a unix socket.
    pub(crate) fn url_of_socket(&self, login: &'static ManagedLogin, socket: &Path) -> LoginUrl {
        let socket = escaped(&socket.display().to_string());
        self.url(login, &format!("@/{}?socket={socket}", login.database))
    }

    fn url(&self, login: &'static ManagedLogin, rest: &str) -> LoginUrl {
        LoginUrl { secret: self.clone(), login, rest: rest.to_owned() }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The URL of a managed server. It is displayed with `***` in place of its password.
#[derive(Clone, Debug)]
pub struct LoginUrl {
    secret: Secret,
    login: &'static ManagedLogin,
    /// The rest of the URL, from the `@` on.
    rest: String,
}

impl LoginUrl {
    fn with(&self, password: &str) -> String {
        let ManagedLogin { scheme, user, .. } = self.login;
        format!("{scheme}://{user}:{password}{}", self.rest)
    }

    /// The URL with its password: for a login, a terminal or a file that only its owner can read.
    pub fn revealed(&self) -> Zeroizing<String> {
        self.secret.0.reveal(|password| {
            let password = String::from_utf8_lossy(password);
            Zeroizing::new(self.with(&password))
        })
    }

    /// Writes the URL with its password to a new file that only its owner can read.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        private_file::create(path)
            .and_then(|mut file| writeln!(file, "{}", *self.revealed()))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

impl fmt::Display for LoginUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with(MASK))
    }
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Percent-encodes characters that have a meaning in a URL's options, such as `%26`.
fn escaped(text: &str) -> String {
    let escape = |character: char| match character {
        '%' | '&' | '?' | '#' | '@' | ' ' => format!("%{:02X}", u32::from(character)),
        _ => character.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::mysql::MANAGED;

    #[test]
    fn passwords_are_unique_and_never_shown() {
        let (one, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_ne!(one, other);
        let text = one.0.reveal(|password| String::from_utf8(password.to_vec()).unwrap());
        assert_eq!(text.len(), 32);
        let url = one.url_at(&MANAGED, "127.0.0.1:3306");
        assert_eq!(url.to_string(), "mysql://root:***@127.0.0.1:3306/test");
        assert!(!format!("{one:?} {url:?}").contains(&text));
        assert_eq!(*url.revealed(), format!("mysql://root:{text}@127.0.0.1:3306/test"));
        assert_eq!(plan::scrub(&format!("a log that repeats {text}")), "a log that repeats ***");
    }

    #[test]
    fn the_url_of_a_socket_is_read_back_by_the_driver() {
        let socket = Path::new("/tmp/a b&c?d%/server.sock");
        let url = Secret(Password::new("abc")).url_of_socket(&MANAGED, socket).revealed();
        let read = driver::mysql::Url::parse(&url).unwrap();
        assert_eq!(read.socket.as_deref(), Some(socket));
        assert_eq!(read.password, Some(Password::new("abc")));
    }

    #[test]
    fn a_url_is_written_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("url");
        let url = Secret(Password::new("abc")).url_at(&MANAGED, "h:1");
        url.write(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mysql://root:abc@h:1/test\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
    }
}
