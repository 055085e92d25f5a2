//! Secured streams over real sockets: the other side is rustls, or a peer that violates the protocol.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::version::TLS13;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::stream::tests::{peer, read_bytes, run};
use crate::tls::tests::{Authority, Lifetime, VERSIONS, client, server_config};
use crate::tls::{TlsClient, TlsFault};
use crate::{Endpoint, Stream, within};

const HOST: &str = "db.example";

/// Peers with TLS, one for each version, and a client that trusts them.
fn secure_peers(
    serve: impl Fn(StreamOwned<ServerConnection, TcpStream>) + Clone + Send + 'static,
) -> (TlsClient, Vec<(Endpoint, JoinHandle<()>)>) {
    let authority = Authority::new("authority");
    let issued = authority.issue(&[HOST], Lifetime::Now);
    let peers = VERSIONS.map(|version| {
        let config: Arc<ServerConfig> = server_config(&issued, version, None);
        let serve = serve.clone();
        peer(move |socket| {
            serve(StreamOwned::new(ServerConnection::new(config).unwrap(), socket));
        })
    });
    (client(&authority), peers.into())
}

#[test]
fn sent_bytes_are_echoed() {
    let (client, peers) = secure_peers(|mut stream| {
        let mut request = [0; 5];
        for _ in 0..100 {
            stream.read_exact(&mut request).unwrap();
            stream.write_all(&request).unwrap();
        }
    });
    for (endpoint, serving) in peers {
        let client = client.clone();
        run(|handle| async move {
            let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
            assert!(stream.cipher().is_none());
            stream.secure(&client, HOST).await.unwrap();
            let cipher = stream.cipher().unwrap().to_string();
            assert!(cipher.starts_with("TLS 1."), "{cipher}");
            for round in 0..100_u8 {
                stream.write_all(&[round; 5]).await.unwrap();
                assert_eq!(read_bytes(&mut stream, 5).await, [round; 5]);
            }
        });
        serving.join().unwrap();
    }
}

#[test]
fn more_than_the_buffers_hold_goes_both_ways() {
    const LENGTH: usize = 8 << 20;
    let (client, peers) = secure_peers(|mut stream| {
        let mut all = vec![0; LENGTH];
        stream.read_exact(&mut all).unwrap();
        stream.write_all(&all).unwrap();
    });
    for (endpoint, serving) in peers {
        let client = client.clone();
        run(|handle| async move {
            let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
            stream.secure(&client, HOST).await.unwrap();
            let all: Vec<u8> = (0..LENGTH).map(|place| (place % 251) as u8).collect();
            stream.write_all(&all).await.unwrap();
            assert!(read_bytes(&mut stream, LENGTH).await == all);
        });
        serving.join().unwrap();
    }
}

#[test]
fn a_closed_tls_peer_is_noticed_with_and_without_close_notify() {
    for says_goodbye in [true, false] {
        let (client, peers) = secure_peers(move |mut stream| {
            stream.write_all(b"bye").unwrap();
            if says_goodbye {
                stream.conn.send_close_notify();
            }
            stream.flush().unwrap();
        });
        for (endpoint, serving) in peers {
            let client = client.clone();
            run(|handle| async move {
                let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
                stream.secure(&client, HOST).await.unwrap();
                assert_eq!(read_bytes(&mut stream, 3).await, b"bye");
                assert_eq!(stream.read_with(<[u8]>::len).await.unwrap(), 0);
            });
            serving.join().unwrap();
        }
    }
}

/// The result of securing a stream to `serve` within the bound.
fn end(bound: Duration, serve: impl FnOnce(TcpStream) + Send + 'static) -> String {
    let (endpoint, serving) = peer(serve);
    let told = run(|handle| async move {
        let client = client(&Authority::new("authority"));
        let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
        match within(&handle, bound, stream.secure(&client, HOST)).await {
            None => "no end".to_owned(),
            Some(Ok(())) => "secure".to_owned(),
            Some(Err(error)) => match TlsFault::of(&error) {
                Some(fault) => fault.to_string(),
                None => format!("{:?}", error.kind()),
            },
        }
    });
    serving.join().unwrap();
    told
}

/// Reads a client's first bytes completely, so that closing does not reset the connection.
fn receive(socket: &mut TcpStream) {
    let mut head = [0; 5];
    socket.read_exact(&mut head).unwrap();
    let mut rest = vec![0; usize::from(u16::from_be_bytes([head[3], head[4]]))];
    socket.read_exact(&mut rest).unwrap();
}

#[test]
fn misbehaving_tls_peers_get_distinct_errors() {
    // A peer that sends enough must not time out early, however busy the machine is.
    let (short, long) = (Duration::from_millis(50), Duration::from_secs(60));
    let garbage = end(long, |mut socket| {
        receive(&mut socket);
        socket.write_all(b"Host '127.0.0.1' is blocked").unwrap();
        let _ = socket.read(&mut [0; 64]);
    });
    assert_eq!(garbage, "what the server sent is not TLS");
    let closing = end(long, |mut socket| receive(&mut socket));
    assert_eq!(closing, "the server closed the connection in the middle of the TLS handshake");
    let silent = end(short, |mut socket| {
        receive(&mut socket);
        let _ = socket.read(&mut [0; 1]);
    });
    assert_eq!(silent, "no end");
    let half = end(short, |mut socket| {
        receive(&mut socket);
        socket.write_all(&[22, 3, 3, 0, 80, 2]).unwrap();
        let _ = socket.read(&mut [0; 1]);
    });
    assert_eq!(half, "no end");
    let refusing = end(long, |mut socket| {
        receive(&mut socket);
        socket.write_all(&[21, 3, 3, 0, 2, 2, 40]).unwrap();
        let _ = socket.read(&mut [0; 64]);
    });
    assert_eq!(
        refusing,
        "the server and dyno have no version or cipher suite of TLS in common: alert handshake_failure"
    );
}

/// What a client reads from a peer that sends so many tickets for later sessions, of more than 60 bytes each, and then a
/// word.
fn after_tickets(tickets: usize) -> String {
    let authority = Authority::new("authority");
    let issued = authority.issue(&[HOST], Lifetime::Now);
    let mut config = ServerConfig::clone(&server_config(&issued, &TLS13, None));
    config.send_tls13_tickets = tickets;
    let (endpoint, serving) = peer(move |socket| {
        let session = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = StreamOwned::new(session, socket);
        let _ = stream.write_all(b"hello");
        let _ = stream.read(&mut [0]);
    });
    let client = client(&authority);
    let read = run(|handle| async move {
        let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
        stream.secure(&client, HOST).await.unwrap();
        let word = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let bound = Duration::from_secs(20);
        let read = within(&handle, bound, stream.read_with(word)).await;
        read.expect("it ends").unwrap_or_else(|error| error.to_string())
    });
    serving.join().unwrap();
    read
}

#[test]
fn a_tls_peer_may_send_many_tickets_and_not_tickets_without_end() {
    for tickets in [0, 4, 100, 2_000] {
        assert_eq!(after_tickets(tickets), "hello", "{tickets} tickets");
    }
    assert_eq!(after_tickets(30_000), "the server breaks the TLS protocol: a message without end");
}

#[test]
fn a_tls_peer_that_sends_a_record_of_garbage_is_dropped() {
    let (client, peers) = secure_peers(|mut stream| {
        stream.write_all(b"hello").unwrap();
        let mut request = [0; 3];
        stream.read_exact(&mut request).unwrap();
        // A byte at a time, as fast as the kernel accepts it.
        let mut socket = stream.sock;
        let _ = socket.write_all(&[23, 3, 3, 0x40, 0]);
        while socket.write_all(&[0]).is_ok() {}
    });
    for (endpoint, serving) in peers {
        let client = client.clone();
        let kind = run(|handle| async move {
            let mut stream = Stream::connect(&handle, &endpoint).await.unwrap();
            stream.secure(&client, HOST).await.unwrap();
            assert_eq!(read_bytes(&mut stream, 5).await, b"hello");
            stream.write_all(b"go!").await.unwrap();
            let bound = Duration::from_secs(60);
            let read = within(&handle, bound, stream.read_with(<[u8]>::len)).await;
            read.unwrap().unwrap_err().kind()
        });
        assert_eq!(kind, ErrorKind::InvalidData);
        serving.join().unwrap();
    }
}
