//! The relay between dyno and the server: it forwards bytes, and can hold them back.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use anyhow::Context;

/// The server is on this machine: it accepts at once or not at all.
const CONNECT_BOUND: Duration = Duration::from_secs(5);

/// A proxy that runs until the task ends.
#[derive(Debug)]
pub(super) struct Proxy {
    pub port: u16,
    /// Bytes pass while nobody has it for writing.
    gate: Arc<RwLock<()>>,
}

impl Proxy {
    /// Listens on a free port of 127.0.0.1 and forwards to `server_port` there.
    pub(super) fn start(server_port: u16) -> anyhow::Result<Self> {
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, server_port));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
        let proxy = Self { port: listener.local_addr()?.port(), gate: Arc::default() };
        let gate = Arc::clone(&proxy.gate);
        thread::Builder::new().spawn(move || {
            for client in listener.incoming().flatten() {
                // A client whose server is away is disconnected.
                let _ = serve(client, server, &gate);
            }
        })?;
        Ok(proxy)
    }

    /// Forwards no bytes, in either direction, while something else is done.
    pub(super) fn hold<T>(&self, meanwhile: impl FnOnce() -> T) -> T {
        let _closed = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        meanwhile()
    }
}

/// Forwards bytes in both directions, each on a thread of its own.
fn serve(client: TcpStream, server: SocketAddr, gate: &Arc<RwLock<()>>) -> std::io::Result<()> {
    let server = TcpStream::connect_timeout(&server, CONNECT_BOUND)?;
    for (from, to) in [(client.try_clone()?, server.try_clone()?), (server, client)] {
        to.set_nodelay(true)?;
        let gate = Arc::clone(gate);
        thread::Builder::new().spawn(move || {
            pass(&from, &to, &gate);
            // When one side has closed, the other is closed too; it may be closed already.
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
        })?;
    }
    Ok(())
}

fn pass(mut from: &TcpStream, mut to: &TcpStream, gate: &RwLock<()>) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        drop(gate.read().unwrap_or_else(PoisonError::into_inner));
        if to.write_all(&bytes[..length]).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proxy_forwards_both_ways_and_can_hold_bytes_back() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let proxy = Proxy::start(server.local_addr().unwrap().port()).unwrap();
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port)).unwrap();
        let (mut peer, _) = server.accept().unwrap();
        let mut four = [0; 4];
        peer.write_all(b"well").unwrap();
        client.read_exact(&mut four).unwrap();
        assert_eq!(&four, b"well");

        peer.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        proxy.hold(|| {
            client.write_all(b"then").unwrap();
            assert!(peer.read_exact(&mut four).is_err(), "it is held back");
        });
        peer.set_read_timeout(None).unwrap();
        peer.read_exact(&mut four).unwrap();
        assert_eq!(&four, b"then");

        drop(peer);
        assert_eq!(client.read(&mut four).unwrap(), 0, "the end is passed on");
    }
}
