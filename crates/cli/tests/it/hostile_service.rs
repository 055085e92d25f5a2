//! A service that behaves badly, over real sockets, and counts the requests that it receives.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use peers::trpc::answer;

/// What a service does with one request of a connection, after it has answered [`GOOD`] of them.
pub(crate) type Reaction = fn(&mut Peer, Request) -> io::Result<()>;

/// The requests of each connection that are answered before the behaviour begins. The round trips before the load,
/// 51 on a connection of their own, need at least so many.
pub(crate) const GOOD: u64 = 60;

/// A service in threads of the test, until that is over.
pub(crate) struct Hostile {
    port: u16,
    /// The requests received on each connection that sent any, in the order of their first ones.
    seen: Arc<Mutex<Vec<u64>>>,
}

/// The service's end of a connection.
pub(crate) struct Peer {
    pub(crate) stream: TcpStream,
    seen: Arc<Mutex<Vec<u64>>>,
    /// Its place in `seen`.
    place: Option<usize>,
    requests: u64,
}

/// A request.
pub(crate) struct Request {
    /// Its id; 0 where there are none.
    id: u32,
    /// Its number on its connection, from 0.
    pub(crate) number: u64,
}

impl Hostile {
    /// A service of tRPC.
    pub(crate) fn trpc(behaviour: Reaction) -> Self {
        Self::serve(move |peer| {
            loop {
                let request = peer.frame()?;
                if request.number < GOOD {
                    peer.answer(&request)?;
                } else {
                    behaviour(peer, request)?;
                }
            }
        })
    }

    /// A service of tRPC that behaves so from the first request of each connection.
    pub(crate) fn serve_all(behaviour: Reaction) -> Self {
        Self::serve(move |peer| {
            loop {
                let request = peer.frame()?;
                behaviour(peer, request)?;
            }
        })
    }

    /// A service that answers requests of 10 bytes with 20.
    pub(crate) fn fixed(behaviour: Reaction) -> Self {
        Self::serve(move |peer| {
            loop {
                peer.stream.read_exact(&mut [0; 10])?;
                let request = Request { id: 0, number: peer.count() };
                if request.number < GOOD {
                    peer.stream.write_all(&[1; 20])?;
                } else {
                    behaviour(peer, request)?;
                }
            }
        })
    }

    fn serve(script: impl Fn(&mut Peer) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (script, of_all) = (Arc::new(script), Arc::clone(&seen));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, seen) = (stream.unwrap(), Arc::clone(&of_all));
                let script = Arc::clone(&script);
                // The way in which a connection ends does not matter here.
                thread::spawn(move || {
                    drop(script(&mut Peer { stream, seen, place: None, requests: 0 }));
                });
            }
        });
        Self { port, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("trpc://127.0.0.1:{}/a.B/C", self.port)
    }

    pub(crate) fn tcp_url(&self) -> String {
        format!("tcp://127.0.0.1:{}", self.port)
    }

    /// The requests of the load on each of its connections: of all but the first, which had the round trips before it.
    pub(crate) fn seen(&self) -> Vec<u64> {
        self.seen.lock().unwrap()[1..].to_vec()
    }
}

impl Peer {
    fn count(&mut self) -> u64 {
        let mut seen = self.seen.lock().unwrap();
        let place = *self.place.get_or_insert_with(|| {
            seen.push(0);
            seen.len() - 1
        });
        seen[place] += 1;
        self.requests += 1;
        self.requests - 1
    }

    fn frame(&mut self) -> io::Result<Request> {
        let mut head = [0; 16];
        self.stream.read_exact(&mut head)?;
        let number = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|place| head[at + place]));
        let rest = u64::from(number(4)) - 16;
        io::copy(&mut (&self.stream).take(rest), &mut io::sink())?;
        Ok(Request { id: number(10), number: self.count() })
    }

    pub(crate) fn answer(&mut self, request: &Request) -> io::Result<()> {
        self.stream.write_all(&answer(request.id, b"", b"\x0a\x05hello"))
    }

    /// Answers with a code of the framework.
    pub(crate) fn refuse(&mut self, request: &Request) -> io::Result<()> {
        self.stream.write_all(&answer(request.id, b"\x20\x0c\x32\x02no", b""))
    }

    /// Answers as if to another request.
    pub(crate) fn answer_another(&mut self) -> io::Result<()> {
        self.stream.write_all(&answer(7, b"", b""))
    }

    pub(crate) fn answer_in_part(&mut self, request: &Request) -> io::Result<()> {
        let frame = answer(request.id, b"", b"\x0a\x05hello");
        self.stream.write_all(&frame[..frame.len() - 3])?;
        self.close()
    }

    pub(crate) fn answer_byte_by_byte(&mut self, request: &Request) -> io::Result<()> {
        for byte in answer(request.id, b"", b"\x0a\x05hello") {
            self.stream.write_all(&[byte])?;
            thread::sleep(std::time::Duration::from_millis(50));
        }
        Ok(())
    }

    /// Closes for reading and writing; what was sent arrives.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        let _ = self.stream.shutdown(Shutdown::Write);
        Err(ErrorKind::ConnectionAborted.into())
    }

    /// Reads nothing more, and does not close, for the rest of the test.
    pub(crate) fn stop_reading(&mut self) -> io::Result<()> {
        loop {
            thread::park();
        }
    }
}
