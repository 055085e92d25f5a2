//! The MariaDB that `cargo xtask test` starts, and users on it.

use std::env;
use std::process::{Child, Command, Stdio};

use crate::own_server::wait_until;

/// The variable with the server's URL.
const SERVER: &str = "DYNO_TEST_MYSQL";

/// `mysql://root:PASSWORD@127.0.0.1:PORT/test`
pub(crate) fn url() -> String {
    env::var(SERVER).unwrap_or_else(|_| {
        panic!("{SERVER} is not set: run the tests by `cargo xtask test`, which starts a server")
    })
}

/// The parts of a URL, for programs that need them separately.
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) host: String,
    pub(crate) port: String,
    pub(crate) database: String,
}

/// The parts of `mysql://USER:PASSWORD@HOST:PORT/DATABASE`.
pub(crate) fn login(url: &str) -> Login {
    let rest = url.strip_prefix("mysql://").expect("the URL is one of the protocol");
    let (account, place) = rest.split_once('@').expect("the URL names a user");
    let (user, password) = account.split_once(':').unwrap_or((account, ""));
    let (address, database) = place.split_once('/').expect("the URL names a database");
    let (host, port) = address.split_once(':').expect("the URL names a port");
    let [user, password, host, port, database] =
        [user, password, host, port, database].map(str::to_owned);
    Login { user, password, host, port, database }
}

impl Login {
    pub(crate) fn of_sysbench(&self) -> Vec<String> {
        vec![
            "--db-driver=mysql".to_owned(),
            format!("--mysql-host={}", self.host),
            format!("--mysql-port={}", self.port),
            format!("--mysql-user={}", self.user),
            format!("--mysql-password={}", self.password),
            format!("--mysql-db={}", self.database),
        ]
    }
}

/// The server's own client, for statements as root.
pub(crate) fn client(statements: &str) -> Command {
    client_of(&url(), statements)
}

/// The same client, for statements on the server and the database of a URL.
fn client_of(url: &str, statements: &str) -> Command {
    let login = login(url);
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "--batch", "--skip-column-names"]);
    client.arg(format!("--user={}", login.user)).env("MYSQL_PWD", &login.password);
    client.args(["--host", &login.host, "--port", &login.port, &login.database]);
    client.args(["--execute", statements]);
    client
}

/// Runs statements as root.
pub(crate) fn sql(statements: &str) -> String {
    sql_on(&url(), statements)
}

/// Runs statements on the server and the database of a URL.
pub(crate) fn sql_on(url: &str, statements: &str) -> String {
    let mut client = client_of(url, statements);
    let output = client.output().expect("mariadb, the client, is installed with the server");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{statements}: {errors}");
    String::from_utf8(output.stdout).expect("the client prints UTF-8")
}

/// A separate database for each test, so that tests do not interfere.
pub(crate) fn database(name: &str) -> String {
    sql(&format!("DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name}"));
    let Login { user, password, host, port, .. } = login(&url());
    format!("mysql://{user}:{password}@{host}:{port}/{name}")
}

/// A lock that blocks statements of a test as long as this value exists.
pub(crate) struct HeldLock {
    name: String,
    client: Child,
}

/// Runs statements as root and then takes the lock with this name, in a session that stays open.
pub(crate) fn hold(name: &str, after: &str) -> HeldLock {
    let statements = format!("{after} DO GET_LOCK('{name}', 0); DO SLEEP(600)");
    let client = client(&statements).stdout(Stdio::null()).spawn().unwrap();
    let is_held = format!("SELECT IS_USED_LOCK('{name}') IS NOT NULL");
    wait_until("the lock is held", || sql(&is_held).trim() == "1");
    HeldLock { name: name.to_owned(), client }
}

impl HeldLock {
    /// The query that returns 1 as soon as the lock is free.
    pub(crate) fn question(&self) -> String {
        format!("SELECT GET_LOCK('{}', 600)", self.name)
    }

    /// Whether a session has sent the query and waits.
    pub(crate) fn is_asked(&self) -> bool {
        let question = self.question().replace('\'', "''");
        let waiting = format!(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE info = '{question}'"
        );
        sql(&waiting).trim() == "1"
    }

    /// Ends the session and releases its locks.
    pub(crate) fn release(mut self) {
        // If only the client ended, the session's sleep would continue.
        let Self { name, client } = &mut self;
        sql(&format!(
            "SELECT IS_USED_LOCK('{name}') INTO @holder; EXECUTE IMMEDIATE CONCAT('KILL ', @holder)"
        ));
        client.wait().unwrap();
    }
}

/// A separate user for a test, with a database of the same name.
pub(crate) struct User {
    name: String,
}

/// Creates a user with all rights on its own database.
pub(crate) fn user_with_password(name: &str, password: &str) -> User {
    sql(&format!(
        "DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name}; \
         CREATE OR REPLACE USER {name}@localhost IDENTIFIED BY '{password}'; \
         GRANT ALL ON {name}.* TO {name}@localhost"
    ));
    User { name: name.to_owned() }
}

impl User {
    /// The URL for the user, with the password if it is given.
    pub(crate) fn url(&self, password: Option<&str>) -> String {
        let Login { host, port, .. } = login(&url());
        let Self { name } = self;
        match password {
            Some(password) => format!("mysql://{name}:{password}@{host}:{port}/{name}"),
            None => format!("mysql://{name}@{host}:{port}/{name}"),
        }
    }
}
