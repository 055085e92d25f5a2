//! Services of tRPC and of fixed sizes behind TLS: the modes of the options, and certificates that are refused.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use peers::trpc::answer;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::sandbox::{Sandbox, both, report};
use crate::tls::Authority;

/// A connection after its handshake.
type Secured = StreamOwned<ServerConnection, TcpStream>;
type Answer = fn(&mut Secured) -> io::Result<()>;

/// The protocols, and options with which their requests have the lengths that the services expect.
const PROTOCOLS: [(&str, Answer, &[&str]); 2] = [
    ("trpc", answer_frame, &[]),
    ("tcp", answer_bytes, &["-o", "size=10", "-o", "answer_size=20"]),
];

fn answer_frame(stream: &mut Secured) -> io::Result<()> {
    let mut head = [0; 16];
    stream.read_exact(&mut head)?;
    let number = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|place| head[at + place]));
    stream.read_exact(&mut vec![0; number(4) as usize - head.len()])?;
    stream.write_all(&answer(number(10), b"", b"\x0a\x05hello"))
}

fn answer_bytes(stream: &mut Secured) -> io::Result<()> {
    stream.read_exact(&mut [0; 10])?;
    stream.write_all(&[1; 20])
}

/// Serves in threads of the test, until that is over; returns the port.
fn serve(config: ServerConfig, answer: Answer) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = Arc::new(config);
    thread::spawn(move || {
        for socket in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, socket.unwrap());
            // A client that refuses the certificate ends the connection.
            thread::spawn(move || while answer(&mut stream).is_ok() {});
        }
    });
    port
}

/// The settings of a server with this certificate; clients need one of `authority` if that is given.
fn config(certificate: &str, key: &str, authority: Option<&str>) -> ServerConfig {
    let of_pem = |text: &str| CertificateDer::from_pem_slice(text.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let builder = match authority {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(of_pem(authority)).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    builder.with_single_cert(vec![of_pem(certificate)], key).unwrap()
}

/// A short load on a service; `system` are options of the system.
fn bench(sandbox: &Sandbox, url: &str, own: &[&str], system: &[String]) -> Command {
    let mut command = sandbox.dyno(["bench", "rpc", "--system", url, "--clients=4"]);
    command.args(["-o", "connections=2", "--warm-up=0", "--events=400", "--format=json"]).args(own);
    command.args(system.iter().map(|option| format!("--system-option={option}")));
    command
}

fn url(protocol: &str, host: &str, port: u16) -> String {
    let method = if protocol == "trpc" { "/a.B/C" } else { "" };
    format!("{protocol}://{host}:{port}{method}")
}

/// What dyno says when it fails.
fn refusal(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(!output.status.success(), "{command:?}: {}", both(&output));
    both(&output)
}

#[test]
fn services_are_called_over_tls_as_the_options_say() {
    let (sandbox, authority) = (Sandbox::new(), Authority::new("ours"));
    let (server, server_key) = authority.issue("localhost", 2999);
    let (client, client_key) = authority.issue("client", 2999);
    let file =
        |option: &str, text: &str| format!("{option}={}", sandbox.file(option, text).display());
    let ca = file("ssl_ca", &authority.1);
    let own = [file("ssl_cert", &client), file("ssl_key", &client_key)];
    let [required, identity] = ["required", "verify_identity"].map(|it| format!("ssl_mode={it}"));
    let onlookers = "encrypted, certificate not verified (protects against onlookers only)";
    let named = "encrypted, certificate verified against the CA of ssl-ca, for any host name";
    let host = "encrypted, certificate verified against a trusted CA, and for the host name";
    for (protocol, answer, options) in PROTOCOLS {
        let open = serve(config(&server, &server_key, None), answer);
        let strict = serve(config(&server, &server_key, Some(&authority.1)), answer);
        for (port, system, connection) in [
            (open, vec![required.clone()], onlookers),
            (open, vec![ca.clone()], named),
            (open, vec![identity.clone(), ca.clone()], host),
            (strict, [std::slice::from_ref(&ca), &own[..]].concat(), named),
        ] {
            let url = url(protocol, "localhost", port);
            let report = report(&mut bench(&sandbox, &url, options, &system));
            assert_eq!(report["trials"][0]["transactions"], 400, "{url} {system:?}");
            assert_eq!(report["trials"][0]["failed_transactions"], 0, "{url} {system:?}");
            let settings = &report["systems"][0]["settings"];
            let encryption = settings["encryption"].as_str().unwrap();
            assert!(encryption.starts_with("TLS 1.3, TLS_"), "{url}: {settings}");
            assert_eq!(settings["connection"], connection, "{url} {system:?}");
        }
        let url = url(protocol, "localhost", strict);
        let told = refusal(&mut bench(&sandbox, &url, options, std::slice::from_ref(&required)));
        assert!(told.contains("the server demands a client certificate"), "{told}");
        assert!(told.contains("ssl-cert=FILE and ssl-key=FILE"), "{told}");
    }
}

#[test]
fn wrong_certificates_of_services_are_refused_with_the_remedy() {
    let (sandbox, ours, others) =
        (Sandbox::new(), Authority::new("ours"), Authority::new("others"));
    let (good, good_key) = ours.issue("localhost", 2999);
    let (old, old_key) = ours.issue("localhost", 2002);
    let file = |name: &str, text: &str| format!("ssl_ca={}", sandbox.file(name, text).display());
    let (ca, other_ca) = (file("ca", &ours.1), file("other-ca", &others.1));
    let identity = "ssl_mode=verify_identity".to_owned();
    for (protocol, answer, options) in PROTOCOLS {
        let good = serve(config(&good, &good_key, None), answer);
        let old = serve(config(&old, &old_key, None), answer);
        for (port, host, system, seen, remedy) in [
            (
                good,
                "localhost",
                vec![other_ca.clone()],
                "is signed by no trusted authority",
                "ssl-ca=FILE",
            ),
            (
                good,
                "127.0.0.1",
                vec![identity.clone(), ca.clone()],
                "is not for `127.0.0.1` but for localhost",
                "ssl-mode=VERIFY_CA",
            ),
            (
                old,
                "localhost",
                vec![ca.clone()],
                "the server's certificate has expired ",
                "renew it",
            ),
        ] {
            let told = refusal(&mut bench(&sandbox, &url(protocol, host, port), options, &system));
            assert!(told.contains(seen) && told.contains(remedy), "{protocol}: {told}");
            assert!(told.contains(&port.to_string()), "{protocol}: {told}");
        }
    }
}

#[test]
fn tls_that_only_one_side_speaks_is_named() {
    let sandbox = Sandbox::new();
    let (server, key) = Authority::new("ours").issue("localhost", 2999);
    // Bytes of the fixed sizes mean nothing, so that an alert of TLS is seen as the begin of an answer.
    let told_without =
        ["it wants TLS (ssl_mode)", "closed the connection in the middle of an answer"];
    for ((protocol, answer, options), wants_tls) in PROTOCOLS.into_iter().zip(told_without) {
        let plain = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = plain.local_addr().unwrap().port();
        thread::spawn(move || {
            for socket in plain.incoming() {
                let mut socket = socket.unwrap();
                let _ = socket.read(&mut [0; 1000]);
                let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            }
        });
        let required = ["ssl_mode=required".to_owned()];
        let url_of = |port| url(protocol, "localhost", port);
        let told = refusal(&mut bench(&sandbox, &url_of(port), options, &required));
        assert!(told.contains("what the server sent is not TLS"), "{protocol}: {told}");
        let secured = serve(config(&server, &key, None), answer);
        let mut command = bench(&sandbox, &url_of(secured), options, &[]);
        let told = refusal(command.arg("--reconnect-limit=500ms"));
        assert!(told.contains(wants_tls), "{protocol}: {told}");
    }
}
