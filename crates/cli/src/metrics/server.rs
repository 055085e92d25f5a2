//! Serves the page of metrics over HTTP: `GET /metrics`, and nothing else.
//!
//! A thread waits for connections, and each has a short-lived thread of its own, so that one that sends nothing delays no
//! other. Their number, what they may send and how long they may take are bounded.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use engine::Stop;
use net::{Clock, Nanos};

use super::Latest;
use super::page::{CONTENT_TYPE, page};

/// Connections at a time; more are closed at once.
const CONNECTIONS_MAX: usize = 8;
/// The longest request, bytes.
const REQUEST_BYTES_MAX: usize = 16 << 10;
/// How long a connection may take from its begin to its end.
const CONNECTION_BOUND: Duration = Duration::from_secs(5);
const STACK_BYTES: usize = 256 << 10;
/// Pause after the kernel refused a connection, as when there are too many open files.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);
/// Within which bounds the end of a run waits for a last scrape.
const LAST_SCRAPE_LEAST: Duration = Duration::from_secs(5);
const LAST_SCRAPE_MOST: Duration = Duration::from_secs(60);
/// A shorter wait is not told.
const UNTOLD: Duration = Duration::from_secs(2);
const POLL_PERIOD: Duration = Duration::from_millis(20);

/// Where the page is served.
pub(super) struct Page(SocketAddr);

impl Page {
    /// # Errors
    /// When it is no address of loopback with a port.
    pub(super) fn at(text: &str) -> Result<Self, String> {
        let address: SocketAddr = text.parse().map_err(|_| {
            format!("`{text}` is no address with a port; write it as 127.0.0.1:9464")
        })?;
        if !address.ip().is_loopback() {
            return Err(format!(
                "{address} can be reached from other machines, and the page has no login; serve it at 127.0.0.1:{} and \
                 forward the port, or send the metrics to a collector with --otlp",
                address.port()
            ));
        }
        Ok(Self(address))
    }

    /// # Errors
    /// When something else listens there.
    pub(super) fn serve(&self, latest: Arc<Latest>) -> Result<Server, String> {
        let address = self.0;
        let listener = TcpListener::bind(address).map_err(|error| {
            format!(
                "--metrics: cannot listen on {address}: {error}; choose another port, or 0 for a free one"
            )
        })?;
        Server::start(listener, latest).map_err(|error| format!("--metrics: {error}"))
    }
}

pub(super) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    latest: Arc<Latest>,
    is_over: AtomicBool,
    connections: AtomicUsize,
    scrapes: Mutex<Scrapes>,
}

/// What is known of the requests that were answered with a page.
#[derive(Clone, Copy, Debug, Default)]
struct Scrapes {
    /// The version of the last page.
    version: u64,
    last_ns: Option<Nanos>,
    /// The time between the last two.
    apart_ns: Option<Nanos>,
}

impl Server {
    fn start(listener: TcpListener, latest: Arc<Latest>) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            latest,
            is_over: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            scrapes: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        let thread = small_thread("metrics", move || accept(&listener, &accepting))?;
        Ok(Self { address, shared, thread: Some(thread) })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until whoever has asked again and again has asked once more, so that the last interval is seen, or until
    /// twice the time between two requests is over. A stop ends the wait.
    pub(super) fn finish(self, stop: &Stop, tell: impl Fn(&str)) {
        let scrapes = self.shared.scrapes();
        let version = self.shared.latest.get().version;
        let Some(apart_ns) = scrapes.apart_ns else { return };
        let [least, most, untold] =
            [LAST_SCRAPE_LEAST, LAST_SCRAPE_MOST, UNTOLD].map(measure::nanos);
        let wait_ns = apart_ns.saturating_mul(2).clamp(least, most);
        let begin = now();
        let mut is_told = false;
        while self.shared.scrapes().version < version && !stop.is_asked() {
            let waited_ns = now().saturating_sub(begin);
            if waited_ns >= wait_ns {
                return;
            }
            if waited_ns >= untold && !is_told {
                is_told = true;
                let seconds = wait_ns.div_ceil(1_000_000_000);
                tell(&format!(
                    "metrics: waiting for the scrape of the last interval, {seconds} s at most; Ctrl-C ends it"
                ));
            }
            thread::sleep(POLL_PERIOD);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        // The thread waits for a connection.
        let woken = TcpStream::connect_timeout(&self.address, CONNECTION_BOUND);
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            let _ = thread.join();
        }
    }
}

fn small_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let accepted = listener.accept();
        if shared.is_over.load(Ordering::Acquire) {
            return;
        }
        let Ok((connection, _)) = accepted else {
            thread::sleep(REFUSED_PAUSE);
            continue;
        };
        if shared.connections.load(Ordering::Acquire) >= CONNECTIONS_MAX {
            continue;
        }
        shared.connections.fetch_add(1, Ordering::AcqRel);
        let answering = Arc::clone(shared);
        let answer = move || {
            // A peer that is gone or too slow is its own fault.
            let _ = answering.answer(connection);
            answering.connections.fetch_sub(1, Ordering::AcqRel);
        };
        if small_thread("metrics-page", answer).is_err() {
            shared.connections.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Shared {
    fn scrapes(&self) -> Scrapes {
        *self.scrapes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, connection: TcpStream) -> io::Result<()> {
        let mut connection = Timed { connection, until: now() + measure::nanos(CONNECTION_BOUND) };
        let request = connection.request()?;
        let status = status(&request);
        if status != OK {
            let text = format!("{status}: the metrics are at /metrics\n");
            return connection.write(response(status, "text/plain", &text).as_bytes());
        }
        let counts = self.latest.get();
        connection.write(response(OK, CONTENT_TYPE, &page(&counts)).as_bytes())?;
        let mut scrapes = self.scrapes.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now();
        let apart_ns = scrapes.last_ns.map(|last| now.saturating_sub(last));
        *scrapes = Scrapes { version: counts.version, last_ns: Some(now), apart_ns };
        Ok(())
    }
}

const OK: &str = "200 OK";

/// The status that answers a request.
pub(super) fn status(request: &[u8]) -> &'static str {
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    match (method, target, version) {
        (Some(method), Some(target), Some(version)) if version.starts_with(b"HTTP/1.") => {
            let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
            match (method, path) {
                (b"GET", b"/metrics") => OK,
                (b"GET", _) => "404 Not Found",
                _ => "405 Method Not Allowed",
            }
        }
        _ => "400 Bad Request",
    }
}

fn response(status: &str, content_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// A connection that ends at a time.
struct Timed {
    connection: TcpStream,
    until: Nanos,
}

impl Timed {
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.until.saturating_sub(now()) {
            0 => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(Duration::from_nanos(left))),
        }
    }

    /// The head of a request: to the first empty line, to the end of what the peer sends, or to the bound.
    fn request(&mut self) -> io::Result<Vec<u8>> {
        let (mut request, mut piece) = (Vec::new(), [0; 4096]);
        while request.len() < REQUEST_BYTES_MAX && !request.windows(4).any(|it| it == b"\r\n\r\n") {
            self.connection.set_read_timeout(self.left()?)?;
            match self.connection.read(&mut piece)? {
                0 => break,
                read => request.extend_from_slice(&piece[..read]),
            }
        }
        Ok(request)
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.connection.set_write_timeout(self.left()?)?;
            match self.connection.write(bytes)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => bytes = &bytes[written..],
            }
        }
        Ok(())
    }
}

fn now() -> Nanos {
    Clock::since_kernel(0).now()
}
