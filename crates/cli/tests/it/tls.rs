//! Encrypted connections to a real MariaDB: every mode, valid and invalid certificates, and their settings in the
//! record.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use driver::LoginSources;
use driver::mysql::Url;
use driver::{Datum, Session, Target, Value};
use measure::Failure;
use net::Handle;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};

use crate::driver_support::{cell, run, url_of};
use crate::own_server::OwnServer;
use crate::sandbox::{Sandbox, json, report};

/// An authority that was created for a test, with its certificate in PEM form.
pub(crate) struct Authority(Issuer<'static, KeyPair>, pub(crate) String);

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self(Issuer::new(params, key), pem)
    }

    /// A certificate and its key in PEM form; valid until the year.
    pub(crate) fn issue(&self, name: &str, until: i32) -> (String, String) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.not_before = date_time_ymd(2001, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

/// A server that offers TLS, with the files `ca`, `other-ca`, `client`, `client-key`, `foreign`, `foreign-key`.
struct Secured {
    own: OwnServer,
    sandbox: Sandbox,
}

impl Secured {
    /// Its certificate is for `localhost` and valid until the year.
    fn start(until: i32, arguments: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        let (authority, other) = (Authority::new("ours"), Authority::new("others"));
        let (server, server_key) = authority.issue("localhost", until);
        let (client, client_key) = authority.issue("client", 2999);
        let (foreign, foreign_key) = other.issue("client", 2999);
        for (name, text) in [
            ("ca", &authority.1),
            ("other-ca", &other.1),
            ("server", &server),
            ("server-key", &server_key),
            ("client", &client),
            ("client-key", &client_key),
            ("foreign", &foreign),
            ("foreign-key", &foreign_key),
        ] {
            // The server reads its own files as the user that it runs as.
            fs::set_permissions(sandbox.file(name, text), fs::Permissions::from_mode(0o644))
                .unwrap();
        }
        let options = ["ca", "cert", "key"].iter().zip(["ca", "server", "server-key"]);
        let options = options.map(|(option, file)| {
            format!("--ssl-{option}={}", sandbox.path().join(file).display())
        });
        let all: Vec<String> =
            options.chain(arguments.iter().map(|&argument| argument.to_owned())).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        Self { own: OwnServer::start(&all), sandbox }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.sandbox.path().join(name)
    }

    /// The URL with options, in which `@ca` and similar names are replaced by the files; by name or by address.
    fn url(&self, host: &str, options: &str) -> String {
        let mut options = options.to_owned();
        for name in ["other-ca", "ca", "client-key", "client", "foreign-key", "foreign"] {
            options = options.replace(&format!("@{name}"), &self.file(name).display().to_string());
        }
        format!("{}?{options}", self.own.url().replace("127.0.0.1", host))
    }

    fn name(&self, options: &str) -> String {
        self.url("localhost", options)
    }

    fn address(&self, options: &str) -> String {
        self.url("127.0.0.1", options)
    }
}

fn resolve(url: &str) -> Result<Target, Failure> {
    Url::parse(url).unwrap().resolve(&LoginSources::default()).map(Target::mysql)
}

async fn open(handle: &Handle, url: &str) -> Result<Session, Failure> {
    resolve(url)?.connect(handle, 0).await
}

/// The server's report of the encryption of a connection with this URL.
fn cipher(url: String) -> String {
    run(|handle| async move {
        let mut session = open(&handle, &url).await.unwrap();
        let rows = session.rows("SHOW SESSION STATUS LIKE 'Ssl_cipher'").await.unwrap();
        session.close().await;
        match &rows[0][1] {
            Datum::Text(text) => text.clone(),
            other => panic!("{other:?}"),
        }
    })
}

/// dyno's report of it, in the setting with this name.
fn setting(url: String, name: &'static str) -> String {
    run(|handle| async move {
        let facts = resolve(&url).unwrap().probe(&handle).await.unwrap();
        let settings = facts.identity.settings;
        settings.into_iter().find(|(known, _)| known == name).expect("it is recorded").1
    })
}

fn recorded(url: String) -> String {
    setting(url, "encryption")
}

fn refusal(url: String) -> String {
    run(|handle| async move { open(&handle, &url).await.unwrap_err().to_string() })
}

#[test]
fn every_ssl_mode_behaves_as_documented_and_is_recorded() {
    let server = Secured::start(2999, &[]);
    let socket = server.own.server.socket().display().to_string();
    let onlookers = "encrypted, certificate not verified (protects against onlookers only)";
    let named = "encrypted, certificate verified against the CA of ssl-ca, for any host name";
    let host = "encrypted, certificate verified against a trusted CA, and for the host name";
    let in_socket = format!("unix socket, {onlookers}");
    let over_socket = format!("mysql://root:{}@/test", server.own.login().password);
    for (url, is_encrypted, connection) in [
        (server.address("ssl-mode=DISABLED"), false, "not encrypted"),
        (server.address(""), true, onlookers),
        (server.address("ssl-mode=preferred"), true, onlookers),
        (server.address("ssl-mode=Required"), true, onlookers),
        (server.address("ssl-mode=VERIFY_CA&ssl-ca=@ca"), true, named),
        (server.address("ssl-ca=@ca"), true, named),
        (server.name("ssl-mode=verify-identity&ssl-ca=@ca"), true, host),
        (server.name("ssl-mode=required&ssl-ca=@other-ca"), true, onlookers),
        (format!("{over_socket}?socket={socket}"), false, "unix socket"),
        (format!("{over_socket}?socket={socket}&ssl-mode=required"), true, &in_socket),
    ] {
        assert_eq!(setting(url.clone(), "connection"), connection, "{url}");
        let (cipher, recorded) = (cipher(url.clone()), recorded(url.clone()));
        if is_encrypted {
            assert_eq!(recorded, format!("TLS 1.3, {cipher}"), "{url}");
        } else {
            assert!(cipher.is_empty(), "{url}: {cipher}");
            assert!(recorded.starts_with("none"), "{url}: {recorded}");
        }
    }
}

#[test]
fn certificates_that_are_wrong_are_refused_with_the_remedy() {
    let server = Secured::start(2999, &[]);
    let file = |name: &str| server.file(name).display().to_string();
    for (url, seen, remedy) in [
        (
            server.name("ssl-mode=verify-ca&ssl-ca=@other-ca"),
            "the server's certificate is signed by no trusted authority".to_owned(),
            "ssl-ca=FILE",
        ),
        (
            server.name("ssl-mode=verify-identity"),
            "the server's certificate is signed by no trusted authority".to_owned(),
            "ssl-ca=FILE",
        ),
        (
            server.address("ssl-mode=verify-identity&ssl-ca=@ca"),
            "the server's certificate is not for `127.0.0.1` but for localhost".to_owned(),
            "ssl-mode=VERIFY_CA",
        ),
        (
            server.name("ssl-mode=verify-ca&ssl-ca=@nowhere"),
            "cannot read @nowhere: No such file or directory".to_owned(),
            "",
        ),
        (
            server.name("ssl-ca=@client-key"),
            format!("ssl-ca {}: it holds no usable certificate", file("client-key")),
            "name the authority's certificate",
        ),
        (
            server.name("ssl-cert=@client&ssl-key=@foreign-key"),
            format!("ssl-key {}: the private key does not belong", file("foreign-key")),
            "ssl-cert",
        ),
        (
            server.name("ssl-cert=@client"),
            format!("ssl-key {}: it holds no usable private key", file("client")),
            "name the private key",
        ),
    ] {
        let told = refusal(url.clone());
        assert!(told.contains(&seen) && told.contains(remedy), "{url}: {told}");
        let is_of_server = seen.starts_with("the server");
        assert_eq!(told.contains(&server.own.server.port().to_string()), is_of_server, "{told}");
    }
}

#[test]
fn verifying_modes_refuse_expired_certificates_and_tls_1_2_works() {
    let server = Secured::start(2002, &["--tls-version=TLSv1.2"]);
    let told = refusal(server.name("ssl-ca=@ca"));
    assert!(told.contains("the server's certificate has expired "), "{told}");
    assert!(told.contains(" days ago; renew it"), "{told}");
    let recorded = recorded(server.address("ssl-mode=required"));
    assert!(recorded.starts_with("TLS 1.2, TLS_ECDHE_"), "{recorded}");
    run(|handle| async move {
        let mut session = open(&handle, &server.name("")).await.unwrap();
        let length = cell(&mut session, "SELECT LENGTH(REPEAT('x', 1000))").await;
        assert_eq!(length, Datum::Int(1_000));
        session.close().await;
    });
}

#[test]
fn missing_tls_is_an_error_only_in_modes_that_require_it() {
    let told = refusal(url_of("test", "?ssl-mode=REQUIRED"));
    assert!(told.contains("TLS is wanted, but the server does not offer it"), "{told}");
    assert!(told.contains("ssl-mode=PREFERRED"), "{told}");
    assert_eq!(recorded(url_of("test", "")), "none");
    assert_eq!(cipher(url_of("test", "?ssl-mode=PREFERRED")), "");
}

#[test]
fn users_that_require_tls_or_a_certificate_log_in_only_with_it() {
    let server = Secured::start(2999, &[]);
    server.own.sql(
        "CREATE USER tls_only@localhost REQUIRE SSL; CREATE USER certified@localhost REQUIRE X509",
    );
    let root = format!("root:{}@", server.own.login().password);
    let url = |user: &str, options: &str| server.name(options).replace(&root, &format!("{user}@"));

    assert!(!cipher(url("tls_only", "")).is_empty());
    let told = refusal(url("tls_only", "ssl-mode=DISABLED"));
    assert!(told.contains("(1045 28000)") && told.contains("REQUIRE SSL"), "{told}");

    assert!(!cipher(url("certified", "ssl-cert=@client&ssl-key=@client-key")).is_empty());
    let told = refusal(url("certified", ""));
    assert!(told.contains("(1045 28000)") && told.contains("REQUIRE X509"), "{told}");
    assert!(told.contains("ssl-cert and ssl-key"), "{told}");
    let told = refusal(url("certified", "ssl-cert=@foreign&ssl-key=@foreign-key"));
    assert!(told.contains("refuses the client certificate"), "{told}");
    assert!(told.contains("ssl_ca"), "{told}");

    // The key may be in the file of the certificate.
    let both = ["client", "client-key"].map(|name| fs::read_to_string(server.file(name)).unwrap());
    let combined = server.sandbox.file("combined", &both.concat());
    assert!(!cipher(url("certified", &format!("ssl-cert={}", combined.display()))).is_empty());

    server.own.sql("SET GLOBAL require_secure_transport = ON");
    let told = refusal(server.name("ssl-mode=DISABLED"));
    assert!(told.contains("do not set ssl-mode=DISABLED"), "{told}");
}

#[test]
fn a_target_for_another_process_logs_in_with_its_certificate_and_no_file() {
    let server = Secured::start(2999, &[]);
    server.own.sql("CREATE USER certified@localhost REQUIRE X509");
    let root = format!("root:{}@", server.own.login().password);
    let options = "ssl-mode=verify-identity&ssl-ca=@ca&ssl-cert=@client&ssl-key=@client-key";
    let target = resolve(&server.name(options).replace(&root, "certified@")).unwrap();
    let (portable, secrets) = target.portable().unwrap();
    for name in ["ca", "client", "client-key"] {
        fs::remove_file(server.file(name)).unwrap();
    }
    run(|handle| async move {
        let target = portable.target(&secrets).unwrap();
        let mut session = target.connect(&handle, 0).await.unwrap();
        let user = cell(&mut session, "SELECT CURRENT_USER()").await;
        assert_eq!(user, Datum::Text("certified@localhost".to_owned()));
        session.close().await;
        let without = portable.target(&driver::Secrets::default()).unwrap();
        let told = without.connect(&handle, 0).await.unwrap_err().to_string();
        assert!(told.contains("REQUIRE X509"), "{told}");
    });
}

#[test]
fn long_texts_pass_through_tls_in_both_directions() {
    const LENGTH: usize = 3 << 20;
    let server = Secured::start(2999, &[]);
    run(|handle| async move {
        let mut session = open(&handle, &server.name("ssl-mode=required")).await.unwrap();
        session.run("CREATE TABLE t (id INT PRIMARY KEY, c LONGTEXT)").await.unwrap();
        let insert = session.prepare("INSERT INTO t VALUES (?, ?)").await.unwrap();
        let text: String = (0..LENGTH).map(|place| char::from(b'a' + (place % 23) as u8)).collect();
        for id in 0..3 {
            session.execute(&insert, &[Value::Int(id), Value::Text(&text)]).await.unwrap();
        }
        let rows = session.rows("SELECT c FROM t WHERE id = 1").await.unwrap();
        assert!(rows[0][0] == Datum::Text(text));
        let select = session.prepare("SELECT c FROM t").await.unwrap();
        let answer = session.execute(&select, &[]).await.unwrap();
        assert_eq!(answer.rows, 3);
        assert!(session.take_traffic().received_bytes > 4 * LENGTH as u64);
        session.close().await;
    });
}

#[test]
fn options_come_from_the_plan_and_the_option_file_too() {
    let server = Secured::start(2999, &[]);
    let url = server.own.url().replace("127.0.0.1", "localhost");
    let plan = format!(
        "name = \"encrypted\"\nworkload.kind = \"sysbench/oltp_point_select\"\n\
         workload.table_size = 50\nload.events = 20\nload.warm_up = \"0s\"\n\
         system = {{ kind = \"mysql\", url = \"{url}\", ssl-mode = \"verify-identity\", ssl-ca = \"ca\", \
         ssl-cert = \"client\", ssl-key = \"client-key\" }}\n"
    );
    server.sandbox.file("plan.toml", &plan);
    let report = json(&server.sandbox.succeed(["run", "plan.toml", "--format=json"]));
    let encryption = report["systems"][0]["settings"]["encryption"].as_str().unwrap();
    assert!(encryption.starts_with("TLS 1.3, TLS_"), "{encryption}");

    server.sandbox.file("plan.toml", &plan.replace("verify-identity", "verify-me"));
    let told = server.sandbox.fail(2, ["run", "plan.toml"]);
    assert!(told.contains("VERIFY_IDENTITY"), "{told}");

    let option_file = |text: &str| {
        let file = server.sandbox.file("my.cnf", &format!("[client]\n{text}"));
        let sources = LoginSources { option_file: Some(file), ..LoginSources::default() };
        Url::parse(&format!("{url}?ssl-ca={}", server.file("ca").display()))
            .unwrap()
            .resolve(&sources)
    };
    let config = option_file("ssl-mode = VERIFY_IDENTITY\nssl_cert = /nowhere\n");
    assert!(config.unwrap_err().message.contains("cannot read /nowhere"));
    let config = option_file("ssl-mode = VERIFY_IDENTITTY\n");
    assert!(config.unwrap_err().message.contains("cannot be `VERIFY_IDENTITTY`"));
}

#[test]
fn a_benchmark_over_tls_is_recorded_as_encrypted() {
    let server = Secured::start(2999, &["--local-infile=1"]);
    let url = server.name("ssl-ca=@ca&ssl-mode=verify-identity");
    let mut command = server.sandbox.dyno(["bench", "sysbench/oltp_read_write", "--tables=2"]);
    command.args(["--table-size=5000", "--clients=8", "--events=200", "--warm-up=100ms"]);
    let report = report(command.args(["--system", &url, "--format=json"]));
    let trial = &report["trials"][0];
    assert_eq!(trial["status"], "complete");
    assert_eq!(trial["transactions"], 200);
    for error in trial["errors"].as_array().unwrap() {
        assert_eq!(
            error["class"], "deadlock",
            "clients in each other's way, and nothing else: {error}"
        );
        assert_eq!(error["fatal"], 0, "{error}");
    }
    let settings = &report["systems"][0]["settings"];
    let setting = |name: &str| settings[name].as_str().unwrap().to_owned();
    let (encryption, connection, login) =
        (setting("encryption"), setting("connection"), setting("login"));
    assert!(encryption.starts_with("TLS 1.3, TLS_"), "{encryption}");
    assert!(connection.ends_with("a trusted CA, and for the host name"), "{connection}");
    assert!(login.starts_with("mysql_native_password: the password was not sent"), "{login}");
    let run = &server.sandbox.runs()[0];
    for file in ["trials/0000/trial.json", "report.md", "report.html"] {
        let text = fs::read_to_string(run.join(file)).unwrap();
        for said in [&encryption, &connection, &login] {
            assert!(text.contains(said), "{file} does not say {said}");
        }
    }
    assert_eq!(server.own.sql("SELECT COUNT(*) FROM sbtest2").trim(), "5000");
}
