//! The kinds of systems, for the help and for checks.

/// A kind of system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name in a plan and in `--system`.
    pub name: &'static str,
    /// A summary in one line.
    pub summary: &'static str,
    /// The argument of `--system` for it.
    pub argument: &'static str,
    /// The options that a plan can set for it.
    pub options: &'static [OptionHelp],
}

/// One option of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionHelp {
    /// Its key in the plan.
    pub name: &'static str,
    /// The default, in words.
    pub default: &'static str,
    /// The meaning and the allowed values.
    pub meaning: &'static str,
}

/// Every kind, in the order in which the help lists them.
pub fn catalogue() -> &'static [Kind] {
    &KINDS
}

const fn option(name: &'static str, default: &'static str, meaning: &'static str) -> OptionHelp {
    OptionHelp { name, default, meaning }
}

const ARGUMENTS: OptionHelp =
    option("arguments", "none", "further arguments of the server, as a list");
const CPUS: OptionHelp =
    option("cpus", "all", "CPUs that the server may use, such as \"0\" or \"0-3,8\"");
const PS: OptionHelp = option("ps", "on", "on for prepared statements, off for text");

static KINDS: [Kind; 6] = [
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
            ARGUMENTS,
            CPUS,
            option(
                "user",
                "mysql, or else nobody",
                "the user that the server runs as when root starts it; root is one too",
            ),
            option("connect", "tcp", "tcp, or socket for the unix socket"),
            PS,
        ],
    },
    Kind {
        name: "tidb",
        summary: "a TiDB of its own, found or built, on throw-away data and stopped afterwards",
        argument: "tidb, or tidb:PATH of a tidb-server",
        options: &[
            option("binary", "looked for as `source` says", "the server's program"),
            option(
                "source",
                "any",
                "path: tidb-server on PATH; tiup: tiup playground; build: from its Go module, once; \
                 any: the first of these",
            ),
            option("goamd64", "v1", "build for this level of x86-64, v1 to v4"),
            option("config", "none", "a configuration file of TiDB's"),
            ARGUMENTS,
            option("env", "none", "environment variables, such as { GOMAXPROCS = 4 }"),
            option(
                "settings",
                "the server's own",
                "global variables set once it is up, such as { tidb_txn_mode = \"optimistic\" }",
            ),
            CPUS,
            PS,
        ],
    },
    Kind {
        name: "tidb-cluster",
        summary: "PD, stores and TiDB from your own programs, on throw-away data and stopped afterwards",
        argument: "tidb-cluster",
        options: &[
            option("pd", "pd-server on PATH", "the program of PD"),
            option("tikv", "tikv-server on PATH", "the program of the stores"),
            option("tidb", "tidb-server on PATH", "the program of TiDB"),
            option("pds", "1", "how many PDs, 1 to 64"),
            option("stores", "3", "how many stores, 1 to 64"),
            option("tidbs", "1", "how many TiDBs, 1 to 64; clients are shared out over them"),
            option("pd_config", "none", "a configuration file of PD's"),
            option("tikv_config", "none", "one of the stores'"),
            option("tidb_config", "none", "one of TiDB's"),
            option("pd_arguments", "none", "further arguments of PD, as a list"),
            option("tikv_arguments", "none", "of the stores"),
            option("tidb_arguments", "none", "of TiDB"),
            option("pd_cpus", "all", "CPUs that PD may use, such as \"0\" or \"0-3,8\""),
            option("tikv_cpus", "all", "CPUs of the stores"),
            option("tidb_cpus", "all", "CPUs of TiDB"),
            option("env", "none", "environment variables of all servers, such as { TZ = \"UTC\" }"),
            option("pd_env", "none", "environment variables of PD"),
            option("tikv_env", "none", "of the stores"),
            option("tidb_env", "none", "of TiDB, such as { GOMAXPROCS = 4 }"),
            option(
                "settings",
                "TiDB's own",
                "global variables of TiDB, set once it is up, as { tidb_txn_mode = \"optimistic\" }",
            ),
            PS,
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
            PS,
            option(
                "ssl_mode",
                "preferred; verify_ca with ssl_ca",
                "disabled, preferred, required, verify_ca or verify_identity: whether connections are \
                 encrypted, and what of the server's certificate is checked",
            ),
            option("ssl_ca", "this machine's", "a file with the authorities that are trusted"),
            option("ssl_cert", "none", "a file with the client's certificate"),
            option("ssl_key", "the file of ssl_cert", "a file with that certificate's key"),
            option(
                "enable_cleartext_plugin",
                "false",
                "whether the password itself may be sent in TLS to a server that asks for it by \
                 mysql_clear_password, or whose certificate is not verified",
            ),
            option(
                "server_public_key_path",
                "none",
                "a file with the server's RSA key, which encrypts the password without TLS",
            ),
            option(
                "get_server_public_key",
                "false",
                "whether the password may be encrypted with any RSA key that comes over a connection \
                 without TLS, even an attacker's",
            ),
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
