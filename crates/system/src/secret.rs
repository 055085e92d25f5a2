//! The random password of a managed server, and URLs that contain it.

use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::Context;
use plan::Password;
use sha1::{Digest, Sha1};
use zeroize::{Zeroize, Zeroizing};

use crate::private_file;

/// The login user of a managed MariaDB or TiDB.
pub const USER: &str = "root";
/// The database that a new MariaDB or TiDB has.
pub const DATABASE: &str = "test";

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

    /// The hash that servers store for `mysql_native_password`: `*`, then SHA1(SHA1(password)) in upper case. It
    /// cannot be used to log in, so only this hash is ever written to a file or sent to a server.
    pub(crate) fn native_hash(&self) -> String {
        let twice = self.0.reveal(|password| Sha1::digest(Sha1::digest(password)));
        format!("*{}", hex(&twice).to_uppercase())
    }

    /// The URL of a server that listens at `place`, such as `127.0.0.1:3306` or several of these.
    pub(crate) fn url_at(&self, place: &str) -> LoginUrl {
        self.url(&format!("@{place}/{DATABASE}"))
    }

    /// The URL of a server behind a unix socket.
    pub(crate) fn url_of_socket(&self, socket: &Path) -> LoginUrl {
        self.url(&format!("@/{DATABASE}?socket={}", escaped(&socket.display().to_string())))
    }

    fn url(&self, rest: &str) -> LoginUrl {
        LoginUrl { secret: self.clone(), rest: rest.to_owned() }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The URL of a managed server. It is displayed with `***` in place of its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginUrl {
    secret: Secret,
    /// The rest of the URL, from the `@` on.
    rest: String,
}

impl LoginUrl {
    /// The URL with its password: for a login, a terminal or a file that only its owner can read.
    pub fn revealed(&self) -> Zeroizing<String> {
        self.secret.0.reveal(|password| {
            let password = String::from_utf8_lossy(password);
            Zeroizing::new(format!("mysql://{USER}:{password}{}", self.rest))
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
        write!(f, "mysql://{USER}:{MASK}{}", self.rest)
    }
}

fn hex(bytes: &[u8]) -> String {
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

    #[test]
    fn passwords_are_unique_and_never_shown() {
        let (one, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_ne!(one, other);
        let text = one.0.reveal(|password| String::from_utf8(password.to_vec()).unwrap());
        assert_eq!(text.len(), 32);
        let url = one.url_at("127.0.0.1:3306");
        assert_eq!(url.to_string(), "mysql://root:***@127.0.0.1:3306/test");
        assert!(!format!("{one:?} {url:?}").contains(&text));
        assert_eq!(*url.revealed(), format!("mysql://root:{text}@127.0.0.1:3306/test"));
        assert_eq!(plan::scrub(&format!("a log that repeats {text}")), "a log that repeats ***");
    }

    /// The hash as MariaDB 10.11 answers to `SELECT PASSWORD('secret')`.
    #[test]
    fn the_hash_is_that_of_the_server() {
        let secret = Secret(Password::new("secret"));
        assert_eq!(secret.native_hash(), "*14E65567ABDB5135D0CFD9A70B3032C179A49EE7");
    }

    #[test]
    fn the_url_of_a_socket_is_read_back_by_the_driver() {
        let socket = Path::new("/tmp/a b&c?d%/server.sock");
        let url = Secret(Password::new("abc")).url_of_socket(socket).revealed();
        let read = driver::mysql::Url::parse(&url).unwrap();
        assert_eq!(read.socket.as_deref(), Some(socket));
        assert_eq!(read.password, Some(Password::new("abc")));
    }

    #[test]
    fn a_url_is_written_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("url");
        let url = Secret(Password::new("abc")).url_at("h:1");
        url.write(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mysql://root:abc@h:1/test\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o600);
    }
}
