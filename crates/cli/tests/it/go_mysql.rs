//! The server of `systems/go-mysql`: login methods that MariaDB does not have.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The variable with the path of the program.
const PROGRAM: &str = "DYNO_TEST_GO_MYSQL";

/// The password of its users.
pub(crate) const PASSWORD: &str = "hors3 & carr1age";
/// The same, encoded for a URL.
pub(crate) const PASSWORD_IN_URL: &str = "hors3%20%26%20carr1age";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Offers TLS and greets with `caching_sha2_password`.
    Tls,
    /// Has no TLS and greets with `caching_sha2_password`.
    Plain,
    /// Offers TLS and greets with `mysql_native_password`.
    Native,
}

/// A server with empty caches that runs as long as this value exists.
pub(crate) struct GoMysql {
    child: Child,
    folder: TempDir,
    addresses: Vec<(String, String)>,
}

impl GoMysql {
    pub(crate) fn start() -> Self {
        let program = std::env::var(PROGRAM).unwrap_or_else(|_| {
            panic!("{PROGRAM} is not set: run the tests by `cargo xtask test`, which builds it")
        });
        let folder = TempDir::new().unwrap();
        let mut child = Command::new(program)
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let addresses = lines
            .take_while(|line| line != "ready")
            .map(|line| line.split_once(' ').map(|(name, at)| (name.into(), at.into())).unwrap())
            .collect();
        Self { child, folder, addresses }
    }

    /// `host:port`
    pub(crate) fn address(&self, place: Place) -> &str {
        let name = match place {
            Place::Tls => "tls",
            Place::Plain => "plain",
            Place::Native => "native",
        };
        &self.addresses.iter().find(|(known, _)| known == name).unwrap().1
    }

    /// A URL; `login` is the user, with the password after a colon.
    pub(crate) fn url(&self, place: Place, login: &str, options: &str) -> String {
        format!("mysql://{login}@{}/{options}", self.address(place))
    }

    /// The RSA key in the file format of servers.
    pub(crate) fn public_key(&self) -> PathBuf {
        self.folder.path().join("public_key.pem")
    }

    /// The authority that signed its certificate.
    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }
}

impl Drop for GoMysql {
    fn drop(&mut self) {
        // It exits at the end of its input.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
