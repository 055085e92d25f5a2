//! The proxy between dyno and the server: it forwards bytes, can hold them back, and counts the statements that dyno
//! sends.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use jiff::Timestamp;

use super::meter::Meter;
use super::requests::Requests;

/// The server is on this machine: it accepts at once or not at all.
const CONNECT_BOUND: Duration = Duration::from_secs(5);

/// A running proxy; dropping it stops it.
#[derive(Debug)]
pub(super) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    server: SocketAddr,
    meter: Meter,
    /// Whether bytes are held back.
    is_held: Mutex<bool>,
    released: Condvar,
    is_over: AtomicBool,
}

impl Proxy {
    /// Listens on a free port of 127.0.0.1 and forwards to `server_port` there.
    pub(super) fn start(server_port: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            server: SocketAddr::from((Ipv4Addr::LOCALHOST, server_port)),
            meter: Meter::default(),
            is_held: Mutex::new(false),
            released: Condvar::new(),
            is_over: AtomicBool::new(false),
        });
        let acceptor = Arc::clone(&shared);
        thread::Builder::new().spawn(move || acceptor.accept(&listener))?;
        Ok(Self { port, shared })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The counts of statements that dyno has sent.
    pub(super) fn meter(&self) -> &Meter {
        &self.shared.meter
    }

    /// From now on no bytes are forwarded.
    pub(super) fn hold(&self) {
        *self.shared.is_held.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// Forwards bytes again, beginning with those that were held back.
    pub(super) fn release(&self) {
        *self.shared.is_held.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.shared.released.notify_all();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.release();
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Wakes the accepting thread, which then ends.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for client in listener.incoming() {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            // A client that cannot be served, such as while the server is away, is disconnected.
            let _ = client.and_then(|client| self.serve(client));
        }
    }

    /// Forwards bytes in both directions, each on a thread of its own.
    fn serve(self: &Arc<Self>, client: TcpStream) -> std::io::Result<()> {
        let statements = self.meter.connection(Timestamp::now());
        let server = TcpStream::connect_timeout(&self.server, CONNECT_BOUND)?;
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
        }
        let counted = Some((Requests::default(), statements));
        let there = (client.try_clone()?, server.try_clone()?, counted);
        let back = (server, client, None);
        for (from, to, counted) in [there, back] {
            let shared = Arc::clone(self);
            thread::Builder::new().spawn(move || {
                shared.pass(&from, &to, counted);
                // When one side has closed, the other is closed too; it may be closed already.
                let _ = from.shutdown(Shutdown::Both);
                let _ = to.shutdown(Shutdown::Both);
            })?;
        }
        Ok(())
    }

    fn pass(
        &self,
        mut from: &TcpStream,
        mut to: &TcpStream,
        mut counted: Option<(Requests, Arc<AtomicU64>)>,
    ) {
        let mut bytes = [0; 16 * 1024];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            let passed = &bytes[..length];
            if let Some((requests, statements)) = &mut counted {
                statements.fetch_add(requests.feed(passed), Ordering::Relaxed);
            }
            self.wait_until_released();
            if to.write_all(passed).is_err() {
                return;
            }
        }
    }

    fn wait_until_released(&self) {
        let is_held = self.is_held.lock().unwrap_or_else(PoisonError::into_inner);
        let released = self.released.wait_while(is_held, |is_held| *is_held);
        drop(released.unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proxy_forwards_both_ways_and_can_hold_bytes_back() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let proxy = Proxy::start(server.local_addr().unwrap().port()).unwrap();
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).unwrap();
        let (mut peer, _) = server.accept().unwrap();
        let mut four = [0; 4];
        peer.write_all(b"well").unwrap();
        client.read_exact(&mut four).unwrap();
        assert_eq!(&four, b"well");

        proxy.hold();
        client.write_all(b"then").unwrap();
        peer.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        assert!(peer.read_exact(&mut four).is_err(), "it is held back");
        proxy.release();
        peer.set_read_timeout(None).unwrap();
        peer.read_exact(&mut four).unwrap();
        assert_eq!(&four, b"then");

        drop(peer);
        assert_eq!(client.read(&mut four).unwrap(), 0, "the end is passed on");
    }
}
