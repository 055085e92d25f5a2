//! Compares dyno's tables and statements with those of sysbench, go-ycsb and go-tpc, in the general log of a MariaDB
//! and of a TiDB.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use system::{Daemon, mariadb, tidb};
use tempfile::TempDir;

use crate::own_server::wait_until;
use crate::sandbox::{Sandbox, both};
use crate::{server, tidb as tidb_tests, tpcc, ycsb};

/// A server that logs every statement.
struct Logged {
    server: Daemon,
    /// The log file, for a server that does not keep the log in a table.
    log_file: Option<PathBuf>,
    _folder: TempDir,
}

impl Logged {
    fn mariadb() -> Self {
        let folder = TempDir::new().unwrap();
        let arguments = ["--log-output=TABLE", "--general-log=ON"].map(str::to_owned).to_vec();
        let settings = mariadb::Settings { arguments, ..mariadb::Settings::default() };
        let server = mariadb::start(settings, folder.path()).unwrap();
        Self { server, log_file: None, _folder: folder }
    }

    /// Its tables are clustered only if CREATE TABLE requests it.
    fn tidb() -> Self {
        let folder = TempDir::new().unwrap();
        let (config, log_file) = (folder.path().join("config.toml"), folder.path().join("log"));
        let text = format!(
            "[instance]\ntidb_general_log = true\n[log.file]\nfilename = \"{}\"\n",
            log_file.display()
        );
        fs::write(&config, text).unwrap();
        let settings = tidb::Settings { config: Some(config), ..tidb::Settings::default() };
        let server = tidb::start(tidb_tests::binary(), settings, folder.path()).unwrap();
        let logged = Self { server, log_file: Some(log_file), _folder: folder };
        logged.sql("SET GLOBAL tidb_enable_clustered_index = OFF");
        logged
    }

    /// Runs statements as root.
    fn sql(&self, statements: &str) -> String {
        let login = server::login(&self.server.url());
        let mut client = Command::new("mariadb");
        // Without --comments the client would remove comments, which TiDB reads.
        client.args(["--no-defaults", "--comments", "--batch", "--skip-column-names"]);
        client.arg(format!("--user={}", login.user)).env("MYSQL_PWD", &login.password);
        client.args(["--host", &login.host, "--port", &login.port]);
        let output = client.args(["--execute", statements]).output().unwrap();
        assert!(output.status.success(), "{statements}: {}", both(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// A separate database for `name`.
    fn database(&self, name: &str) -> String {
        self.sql(&format!("CREATE DATABASE {name}"));
        let url = self.server.url();
        let (address, _) = url.rsplit_once('/').expect("the URL names a database");
        format!("{address}/{name}")
    }

    /// Every statement so far that begins with `beginning`, with white space reduced to one blank.
    fn statements(&self, beginning: &str) -> Vec<String> {
        let all = match &self.log_file {
            Some(file) => {
                fs::read_to_string(file).unwrap().lines().filter_map(logged_sql).collect()
            }
            None => self.log_table(),
        };
        let plain = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        all.iter().map(plain).filter(|text| text.starts_with(beginning)).collect()
    }

    fn log_table(&self) -> Vec<String> {
        let log = self.sql(
            "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log \
             WHERE command_type IN ('Query', 'Execute') ORDER BY event_time",
        );
        log.lines().map(|line| line.replace("\\n", " ").replace("\\t", " ")).collect()
    }

    /// The server's description of a table, without its next row number.
    fn table(&self, database: &str, table: &str) -> String {
        let shown = self.sql(&format!("SHOW CREATE TABLE {database}.{table}"));
        let words = shown.split(' ').filter(|word| !word.starts_with("AUTO_INCREMENT="));
        words.collect::<Vec<_>>().join(" ")
    }
}

/// The statement in a line of TiDB's log, if there is one: the general log has all but those that change the
/// schema, which are logged as crucial operations. One without blanks, such as COMMIT, is not quoted and is left
/// out.
fn logged_sql(line: &str) -> Option<String> {
    let is_statement = line.contains("GENERAL_LOG") || line.contains("CRUCIAL OPERATION");
    let (_, sql) = line.split_once("[sql=\"").filter(|_| is_statement)?;
    let quoted = format!("\"{sql}");
    serde_json::Deserializer::from_str(&quoted).into_iter().next()?.ok()
}

fn sysbench(url: &str, arguments: &[&str]) {
    let mut command = Command::new("sysbench");
    command.args(server::login(url).of_sysbench()).arg("--table-size=20").args(arguments);
    let output = command.output().expect("sysbench is installed: `cargo xtask test` does that");
    assert!(output.status.success(), "{}", both(&output));
}

fn dyno(sandbox: &Sandbox, workload: &str, url: &str, arguments: &[&str]) {
    let mut command = sandbox.dyno(["bench", workload, "--warm-up=0s", "--quiet", "--system", url]);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", both(&output));
}

fn sysbench_tables_are_the_same(server: &Logged) {
    let sandbox = Sandbox::new();
    for (name, theirs, ours) in [
        ("plain", "--auto-inc=on", "--option=auto_inc=true"),
        ("own_ids", "--auto-inc=off", "--option=auto_inc=false"),
        ("secondary", "--secondary=on", "--option=secondary=true"),
        ("myisam", "--mysql-storage-engine=myisam", "--option=mysql_storage_engine=myisam"),
    ] {
        sysbench(&server.database(&format!("their_{name}")), &["oltp_insert", "prepare", theirs]);
        let url = server.database(&format!("our_{name}"));
        let arguments = ["--table-size=20", "--events=1", ours];
        dyno(&sandbox, "sysbench/oltp_point_select", &url, &arguments);
        let theirs = server.table(&format!("their_{name}"), "sbtest1");
        assert_eq!(server.table(&format!("our_{name}"), "sbtest1"), theirs, "{name}");
    }
}

fn oltp_insert_leaves_ids_to_the_table_as_sysbench_does(server: &Logged) {
    let sandbox = Sandbox::new();
    let run = ["oltp_insert", "run", "--events=3", "--time=0"];
    let insert = "INSERT INTO sbtest1 (id, k, c, pad) VALUES (";
    let url = server.database("insert_on_theirs");
    sysbench(&url, &["oltp_insert", "prepare"]);
    sysbench(&url, &run);
    let theirs = server.statements(insert);
    assert_eq!(theirs.len(), 3);
    let reuse = ["--table-size=20", "--events=3", "--ps=off", "--existing=reuse"];
    dyno(&sandbox, "sysbench/oltp_insert", &url, &reuse);
    let both = server.statements(insert);
    assert_eq!(both.len(), 6, "{both:?}");
    for statement in both {
        assert!(statement.starts_with(&format!("{insert}0, ")), "{statement}");
    }
    let rows = server.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM insert_on_theirs.sbtest1");
    assert_eq!(rows, "26\t26\n");
    let url = server.database("insert_on_ours");
    dyno(&sandbox, "sysbench/oltp_insert", &url, &["--table-size=20", "--events=3"]);
    sysbench(&url, &run);
    let rows = server.sql("SELECT COUNT(*), COUNT(DISTINCT id) FROM insert_on_ours.sbtest1");
    assert_eq!(rows, "26\t26\n");
}

fn the_ycsb_table_is_made_by_the_same_statement(server: &Logged) {
    let sandbox = Sandbox::new();
    ycsb::their(&sandbox, "load", &server.database("ycsb_theirs"), &["recordcount=50"]);
    let url = server.database("ycsb_ours");
    dyno(&sandbox, "ycsb/c", &url, &["--option=recordcount=50", "--events=10"]);
    let plain = |statement: &String| {
        statement.replace("IF NOT EXISTS ", "").trim_end_matches([';', ' ']).to_owned()
    };
    let made = server.statements("CREATE TABLE ");
    let made: Vec<String> =
        made.iter().filter(|text| text.contains("usertable")).map(plain).collect();
    assert_eq!(made.len(), 2, "{made:?}");
    assert_eq!(made[0], made[1]);
    assert_eq!(server.table("ycsb_ours", "usertable"), server.table("ycsb_theirs", "usertable"));
}

fn long_ycsb_fields_are_stored_whole(server: &Logged) {
    let sandbox = Sandbox::new();
    let url = server.database("ycsb_long");
    let options = [
        "--option=recordcount=3",
        "--option=fieldcount=2",
        "--option=fieldlength=70000",
        "--option=dataintegrity=true",
        "--events=10",
    ];
    dyno(&sandbox, "ycsb/c", &url, &options);
    let stored =
        server.sql("SELECT MIN(LENGTH(FIELD0)), MIN(LENGTH(FIELD1)) FROM ycsb_long.usertable");
    assert_eq!(stored, "70000\t70000\n");
}

const TPCC: [&str; 9] = [
    "customer",
    "district",
    "history",
    "item",
    "new_order",
    "order_line",
    "orders",
    "stock",
    "warehouse",
];

fn tpcc_tables_are_the_same(server: &Logged) {
    let sandbox = Sandbox::new();
    let login = server::login(&server.database("tpcc_theirs"));
    let mut prepare = Command::new(tpcc::go_tpc());
    prepare.args(["tpcc", "prepare", "-H", &login.host, "-P", &login.port, "-U", &login.user]);
    prepare.args(["-p", &login.password, "-D", &login.database, "--warehouses=1", "-T=1"]);
    prepare.current_dir(sandbox.path());
    let mut prepare = prepare.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let tables =
        "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'tpcc_theirs'";
    wait_until("all tables of go-tpc are there", || server.sql(tables).trim() == "9");
    // The rows are not needed.
    prepare.kill().unwrap();
    prepare.wait().unwrap();
    sandbox.succeed(["generate", "tpcc", "--out", "files", "--quiet"]);
    let schema = fs::read_to_string(sandbox.path().join("files/schema.sql")).unwrap();
    server.database("tpcc_ours");
    server.sql(&format!("USE tpcc_ours; {schema}"));
    for table in TPCC {
        assert_eq!(server.table("tpcc_ours", table), server.table("tpcc_theirs", table));
    }
    let hinted = server.statements("CREATE TABLE ");
    let hinted = hinted.iter().filter(|text| !text.contains("usertable"));
    let hinted = hinted.filter(|text| text.contains("/*T![clustered_index] CLUSTERED */"));
    assert_eq!(hinted.count(), 16, "of both tools all but HISTORY, which has no key");
}

fn compare_all(server: &Logged) {
    sysbench_tables_are_the_same(server);
    oltp_insert_leaves_ids_to_the_table_as_sysbench_does(server);
    the_ycsb_table_is_made_by_the_same_statement(server);
    long_ycsb_fields_are_stored_whole(server);
    tpcc_tables_are_the_same(server);
}

#[test]
fn tables_and_inserts_on_mariadb_match_the_original_tools() {
    compare_all(&Logged::mariadb());
}

#[test]
fn tables_and_inserts_on_tidb_match_the_original_tools() {
    let server = Logged::tidb();
    compare_all(&server);
    let table = server.table("ycsb_ours", "usertable");
    assert!(table.contains("/*T![clustered_index] CLUSTERED */"), "{table}");
}
