//! A server with a self-made certificate that asks for the password: the bytes that it receives.

use std::io::{Read, Write as _};
use std::net::TcpListener;
use std::process::Output;
use std::thread::{self, JoinHandle};

use peers::Framing;
use peers::mysql::{packet, tls_greeting};
use peers::tls::own_certificate;
use rustls::{ServerConnection, StreamOwned};

use crate::sandbox::{Sandbox, both};

const PASSWORD: &[u8] = b"hors3-carr1age";
/// The server's requests for the password itself: the first by `mysql_clear_password`, the second by
/// `sha256_password`, the third as if `caching_sha2_password` had an empty cache.
const REQUESTS: [&[&[u8]]; 3] = [
    &[b"\xfemysql_clear_password\0"],
    &[b"\xfesha256_password\0abcdefghijklmnopqrst\0"],
    &[b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0", b"\x01\x04"],
];

/// A whole packet.
fn read_packet(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut read = Vec::new();
    peers::receive(stream, Framing::MySqlPacket, &mut read)?;
    Ok(read)
}

/// Serves one connection; returns everything that the client sent within TLS.
fn serve(listener: &TcpListener, requests: &[&[u8]]) -> Vec<u8> {
    let (mut socket, _) = listener.accept().unwrap();
    socket.write_all(&tls_greeting()).unwrap();
    read_packet(&mut socket).unwrap();
    let connection = ServerConnection::new(own_certificate().unwrap()).unwrap();
    let mut stream = StreamOwned::new(connection, socket);
    let mut heard = read_packet(&mut stream).unwrap();
    for (place, request) in requests.iter().enumerate() {
        let sequence = u8::try_from(3 + 2 * place).unwrap();
        if stream.write_all(&packet(sequence, request)).is_err() {
            break;
        }
        // A client that aborts the login sends nothing more.
        heard.extend(read_packet(&mut stream).unwrap_or_default());
    }
    heard
}

/// Runs dyno against such a server; returns the bytes that the server received, and dyno's output.
fn attack(requests: &'static [&'static [u8]], options: &str) -> (Vec<u8>, Output) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server: JoinHandle<Vec<u8>> = thread::spawn(move || serve(&listener, requests));
    let password = str::from_utf8(PASSWORD).unwrap();
    let url = format!("mysql://root:{password}@127.0.0.1:{port}/test{options}");
    let sandbox = Sandbox::new();
    let arguments = ["bench", "sysbench/oltp_point_select", "--events=1", "--system", &url];
    let output = sandbox.dyno(arguments).output().unwrap();
    (server.join().unwrap(), output)
}

fn holds(heard: &[u8], text: &[u8]) -> bool {
    heard.windows(text.len()).any(|window| window == text)
}

#[test]
fn a_server_with_its_own_certificate_does_not_get_the_password() {
    for requests in REQUESTS {
        for options in ["", "?ssl-mode=required", "?get-server-public-key=1"] {
            let (heard, output) = attack(requests, options);
            let text = both(&output);
            assert!(holds(&heard, b"root\0"), "no login: {text}");
            assert!(!holds(&heard, PASSWORD), "{requests:?} {options}: the password was sent");
            assert_eq!(output.status.code(), Some(2), "{text}");
            assert!(text.contains("enable-cleartext-plugin=1"), "{text}");
            assert!(text.contains("enable_cleartext_plugin = true"), "{text}");
        }
    }
}

/// Shows that the server above would see the password.
#[test]
fn a_server_with_its_own_certificate_gets_the_password_when_the_option_allows_it() {
    for requests in REQUESTS {
        let (heard, output) = attack(requests, "?enable-cleartext-plugin=1");
        assert!(holds(&heard, PASSWORD), "{requests:?}: {}", both(&output));
    }
}
