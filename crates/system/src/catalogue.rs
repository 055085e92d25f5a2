//! The kinds of systems, for the help and for checks.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub name: &'static str,
    pub summary: &'static str,
    pub argument: &'static str,
    /// The options that a plan can set for it.
    pub options: &'static [OptionHelp],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionHelp {
    pub name: &'static str,
    /// The default, in words.
    pub default: &'static str,
    /// The meaning and the allowed values.
    pub meaning: &'static str,
}

/// Every kind, in the order in which the help lists them.
pub fn catalogue() -> &'static [Kind] {
    KINDS
}

const fn option(name: &'static str, default: &'static str, meaning: &'static str) -> OptionHelp {
    OptionHelp { name, default, meaning }
}

const ARGUMENTS: OptionHelp =
    option("arguments", "none", "additional arguments of the server, as a list");
const CPUS: OptionHelp =
    option("cpus", "all", "CPUs that the server may use, such as \"0\" or \"0-3,8\"");
const ENV: OptionHelp = option("env", "none", "environment variables, such as { GOMAXPROCS = 4 }");
const GOAMD64: OptionHelp = option("goamd64", "v1", "x86-64 level of the build, v1 to v4");
const ECHO_TIMEOUT: &str = "limit for handling a request, after which it fails; \"0s\" for none";
const DELAY: OptionHelp =
    option("delay", "0s", "how long each answer is held back, as a service behind it would do");
const SPIN: OptionHelp =
    option("spin", "0", "rounds of a fixed loop for each request, 1 to 2 ns each");
const ECHO_BINARY: OptionHelp =
    option("binary", "built once from its Go module", "the server's program");
const SSL_CA: OptionHelp =
    option("ssl_ca", "this machine's", "file of trusted certificate authorities");
const SSL_CERT: OptionHelp = option("ssl_cert", "none", "file of the client's certificate");
const SSL_KEY: OptionHelp =
    option("ssl_key", "the file of ssl_cert", "file of that certificate's private key");
const SERVICE_SSL_MODE: OptionHelp = option(
    "ssl_mode",
    "disabled; verify_ca with ssl_ca",
    "disabled, required, verify_ca or verify_identity: whether connections are encrypted, and how the \
     server's certificate is verified",
);
const PS: OptionHelp = option("ps", "on", "whether to use prepared statements");

static KINDS: &[Kind] = &[
    Kind {
        name: "sqlite",
        summary: "the embedded database SQLite, in dyno's process",
        argument: "sqlite, sqlite:PATH, or a path that ends in .db, .sqlite or .sqlite3",
        options: &[
            option("path", "a temporary file", "the database file; created when missing"),
            option("journal", "wal", "the journal mode; only wal, the write-ahead log"),
            option("synchronous", "normal", "when commits wait for the disk: off, normal or full"),
            option(
                "cache",
                "SQLite's own",
                "size of the page cache of each connection, such as \"64MiB\"",
            ),
            option("busy_timeout", "5s", "how long a statement waits for another writer"),
        ],
    },
    Kind {
        name: "mariadb",
        summary: "a MariaDB server that dyno starts with temporary data and stops after the run",
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
                "the user that runs the server when root starts dyno; may be root",
            ),
            option("connect", "tcp", "how clients connect: tcp, or socket for the unix socket"),
            PS,
        ],
    },
    Kind {
        name: "tidb",
        summary: "a TiDB server that dyno finds or builds, starts with temporary data and stops after the run",
        argument: "tidb, or tidb:PATH of a tidb-server",
        options: &[
            option("binary", "found by `source`", "the server's program"),
            option(
                "source",
                "any",
                "path: tidb-server on PATH; tiup: tiup playground; build: built once from its Go module; \
                 any: the first of these that is available",
            ),
            GOAMD64,
            option("config", "none", "configuration file of TiDB"),
            ARGUMENTS,
            ENV,
            option(
                "settings",
                "the server's own",
                "global variables that are set after the start, such as { tidb_txn_mode = \"optimistic\" }",
            ),
            CPUS,
            PS,
        ],
    },
    Kind {
        name: "tidb-cluster",
        summary: "PD, TiKV and TiDB servers that dyno starts with temporary data and stops after the run",
        argument: "tidb-cluster",
        options: &[
            option("pd", "pd-server on PATH", "program of PD"),
            option("tikv", "tikv-server on PATH", "program of the stores"),
            option("tidb", "tidb-server on PATH", "program of TiDB"),
            option("pds", "1", "number of PDs, 1 to 64"),
            option("stores", "3", "number of stores, 1 to 64"),
            option("tidbs", "1", "number of TiDBs, 1 to 64; clients are divided among them"),
            option(
                "on_member_exit",
                "continue",
                "continue: when a server exits by itself, the others go on as long as clients can be served, and the \
                 record names it; crash: the system has crashed",
            ),
            option("pd_config", "none", "configuration file of PD"),
            option("tikv_config", "none", "configuration file of the stores"),
            option("tidb_config", "none", "configuration file of TiDB"),
            option("pd_arguments", "none", "additional arguments of PD, as a list"),
            option("tikv_arguments", "none", "additional arguments of the stores, as a list"),
            option("tidb_arguments", "none", "additional arguments of TiDB, as a list"),
            option("pd_cpus", "all", "CPUs that PD may use, such as \"0\" or \"0-3,8\""),
            option("tikv_cpus", "all", "CPUs that the stores may use"),
            option("tidb_cpus", "all", "CPUs that TiDB may use"),
            option("env", "none", "environment variables of all servers, such as { TZ = \"UTC\" }"),
            option("pd_env", "none", "environment variables of PD"),
            option("tikv_env", "none", "environment variables of the stores"),
            option("tidb_env", "none", "environment variables of TiDB, such as { GOMAXPROCS = 4 }"),
            option(
                "settings",
                "TiDB's own",
                "global variables of TiDB that are set after the start, such as { tidb_txn_mode = \"optimistic\" }",
            ),
            PS,
        ],
    },
    Kind {
        name: "mysql",
        summary: "a running server with the MySQL protocol: MySQL, MariaDB, TiDB",
        argument: "mysql://USER@HOST:PORT/DATABASE",
        options: &[
            option(
                "url",
                "must be given",
                "mysql://USER@HOST:PORT/DATABASE; with a list, clients are divided among the servers",
            ),
            option(
                "create_database",
                "false",
                "whether the database of the URL is created when it is not there",
            ),
            PS,
            option(
                "ssl_mode",
                "preferred; verify_ca with ssl_ca",
                "disabled, preferred, required, verify_ca or verify_identity: whether connections are \
                 encrypted, and how the server's certificate is verified",
            ),
            SSL_CA,
            SSL_CERT,
            SSL_KEY,
            option(
                "enable_cleartext_plugin",
                "false",
                "whether the password itself may be sent over TLS to a server that requires \
                 mysql_clear_password, or whose certificate is not verified",
            ),
            option(
                "server_public_key_path",
                "none",
                "file of the server's RSA key, which encrypts the password without TLS",
            ),
            option(
                "get_server_public_key",
                "false",
                "whether the password may be encrypted with any RSA key that is received over a \
                 connection without TLS, even an attacker's",
            ),
            option(
                "password_file",
                "DYNO_PASSWORD, MYSQL_PWD, ~/.my.cnf",
                "a file whose first line is the password",
            ),
        ],
    },
    Kind {
        name: "trpc-echo",
        summary: "a server of trpc-go that echoes; dyno builds it, starts it and stops it after the run",
        argument: "trpc-echo",
        options: &[
            option(
                "mode",
                "async",
                "async: requests of one connection are handled at the same time; sync: one after the other",
            ),
            option("pollers", "1", "event loops of the transport tnet, 1 to 1024"),
            option("timeout", "1s", ECHO_TIMEOUT),
            DELAY,
            SPIN,
            ECHO_BINARY,
            GOAMD64,
            ENV,
            CPUS,
        ],
    },
    Kind {
        name: "grpc-echo",
        summary: "a server of grpc-go that echoes; dyno builds it, starts it and stops it after the run",
        argument: "grpc-echo",
        options: &[
            option(
                "workers",
                "0",
                "goroutines that handle requests, 0 to 65536; 0: a new one for each request",
            ),
            option("timeout", "0s", ECHO_TIMEOUT),
            DELAY,
            SPIN,
            ECHO_BINARY,
            GOAMD64,
            ENV,
            CPUS,
        ],
    },
    Kind {
        name: "grpc",
        summary: "a running gRPC service, of which unary methods are called",
        argument: "grpc://HOST:PORT/PACKAGE.SERVICE/METHOD",
        options: &[
            option(
                "url",
                "must be given",
                "grpc://HOST:PORT/PACKAGE.SERVICE/METHOD; connections are divided among several HOST:PORT with \
                 commas",
            ),
            SERVICE_SSL_MODE,
            SSL_CA,
            SSL_CERT,
            SSL_KEY,
        ],
    },
    Kind {
        name: "trpc",
        summary: "a running tRPC service",
        argument: "trpc://HOST:PORT/SERVICE/METHOD",
        options: &[
            option(
                "url",
                "must be given",
                "trpc://HOST:PORT/SERVICE/METHOD; connections are divided among several HOST:PORT with commas",
            ),
            SERVICE_SSL_MODE,
            SSL_CA,
            SSL_CERT,
            SSL_KEY,
        ],
    },
    Kind {
        name: "tcp",
        summary: "a running server that answers requests of one size with answers of one size, in order",
        argument: "tcp://HOST:PORT",
        options: &[
            option(
                "url",
                "must be given",
                "tcp://HOST:PORT; connections are divided among several HOST:PORT with commas",
            ),
            SERVICE_SSL_MODE,
            SSL_CA,
            SSL_CERT,
            SSL_KEY,
        ],
    },
    Kind {
        name: "echo",
        summary: "dyno's own echo server, which dyno starts as a process and stops after the run",
        argument: "echo",
        options: &[
            option(
                "protocol",
                "trpc",
                "trpc: the body of each request comes back; tcp: requests and answers of fixed sizes, which \
                 the workload sets",
            ),
            option("threads", "1", "number of event loops, 1 to 1024"),
            CPUS,
        ],
    },
    Kind {
        name: "simulated",
        summary: "servers behind one queue in exact virtual time: arithmetic, no database",
        argument: "simulated",
        options: &[
            option(
                "servers",
                "1",
                "number of requests that are served at the same time, 1 to 1000000",
            ),
            option("operations", "1", "kinds of requests, which are sent in turn, 1 to 1000"),
            option("service_times", "1ms", "list of service times, which are used in turn"),
            option(
                "distribution",
                "constant",
                "of service times around these: constant, exponential, lognormal, pareto, bimodal",
            ),
            option("variation", "1", "their standard deviation as a part of the mean, 0.01 to 100"),
            option(
                "stalls",
                "none",
                "pauses, counted from the first load: [{ at = \"5s\", for = \"1s\" }]",
            ),
            option(
                "noise",
                "none",
                "that of a machine over time: [{ kind = \"drift\", change = 0.1, over = \"1h\" }]",
            ),
        ],
    },
];
