//! What kinds of system there are, for people and for checking.

/// A kind of system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// As a plan and `--system` name it.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// What `--system` takes for it.
    pub argument: &'static str,
    /// What can be said about it.
    pub options: &'static [OptionHelp],
}

/// One option of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionHelp {
    /// Its key in the plan.
    pub name: &'static str,
    /// What holds when it is not given, in words.
    pub default: &'static str,
    /// What it means and what is allowed.
    pub meaning: &'static str,
}

/// Every kind, in the order in which people should meet them.
pub fn catalogue() -> &'static [Kind] {
    &KINDS
}

const fn option(name: &'static str, default: &'static str, meaning: &'static str) -> OptionHelp {
    OptionHelp { name, default, meaning }
}

static KINDS: [Kind; 4] = [
    Kind {
        name: "sqlite",
        summary: "the embedded database SQLite, in this process, on a file",
        argument: "sqlite, sqlite:PATH, or a path that ends in .db, .sqlite or .sqlite3",
        options: &[
            option("path", "a file that is thrown away", "the database file; made when missing"),
            option("journal", "wal", "wal, the write-ahead log"),
            option("synchronous", "normal", "when it waits for the disk: off, normal or full"),
            option("cache", "SQLite's own", "page cache of each connection, such as \"64MiB\""),
            option("busy_timeout", "5s", "how long a statement waits for another writer"),
        ],
    },
    Kind {
        name: "mariadb",
        summary: "a MariaDB of its own, started on throw-away data and stopped afterwards",
        argument: "mariadb",
        options: &[
            option("binary", "mariadbd on PATH or in /usr/sbin", "the server's program"),
            option(
                "settings",
                "the server's own",
                "server variables, such as { innodb_flush_log_at_trx_commit = 0 }",
            ),
            option("arguments", "none", "further arguments of the server, as a list"),
            option("cpus", "all", "CPUs that the server may use, such as \"0\" or \"0-3,8\""),
            option("connect", "tcp", "tcp, or socket for the unix socket"),
            option("ps", "on", "on for prepared statements, off for text"),
        ],
    },
    Kind {
        name: "mysql",
        summary: "a server of the MySQL protocol that is there: MySQL, MariaDB, TiDB",
        argument: "mysql://USER@HOST:PORT/DATABASE",
        options: &[
            option(
                "url",
                "must be given",
                "mysql://USER@HOST:PORT/DATABASE; clients are shared out over a list of them",
            ),
            option("ps", "on", "on for prepared statements, off for text"),
            option(
                "password_file",
                "DYNO_PASSWORD, MYSQL_PWD, ~/.my.cnf",
                "a file whose first line is the password",
            ),
        ],
    },
    Kind {
        name: "simulated",
        summary: "servers behind one queue in exact virtual time: arithmetic, no database",
        argument: "simulated",
        options: &[
            option("servers", "1", "how many requests are served at once, 1 to 1000000"),
            option("service_times", "1ms", "lengths of service, taken in turn, as a list"),
            option(
                "stalls",
                "none",
                "when it stands still, from the first load on: [{ at = \"5s\", for = \"1s\" }]",
            ),
        ],
    },
];
