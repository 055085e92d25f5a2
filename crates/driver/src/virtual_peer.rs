//! A peer that misbehaves, on a unix socket and on the event loop of its client, so that all of its acts take exact
//! virtual time.

use std::cell::Cell;
use std::future::{Future, pending};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use measure::Failure;
use net::{Clock, Handle, Runtime};
use peers::{Act, Behaviour, Framing, Phase, Wire};

use crate::Timeouts;

/// The time-outs of clients here.
pub(crate) const TIMEOUTS: Timeouts =
    Timeouts { connect: Duration::from_secs(1), query: Some(Duration::from_millis(200)) };
/// A time-out is noticed within two sweeps of the loop, of 20 ms each; what comes before the phase takes the rest.
const NOTICE: Duration = Duration::from_millis(50);
/// The peer looks for bytes and for room this often.
const TICK: Duration = Duration::from_millis(1);

/// How what a client did ended.
pub(crate) struct Ending {
    /// Why it failed, or nothing.
    pub(crate) result: Result<(), Failure>,
    /// How long it took, in virtual time.
    pub(crate) elapsed: Duration,
    /// The memory of the connection's buffers after it.
    pub(crate) kept_bytes: usize,
}

/// What an ending has to keep to.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) time: Duration,
    /// The most memory of the connection's buffers.
    pub(crate) kept_bytes: usize,
    /// The most bytes that the peer can get rid of before the connection ends for another reason than a time-out.
    pub(crate) sent_bytes: usize,
}

/// One cell of the table of phases and behaviours: runs `client` against a peer that behaves in this way in this phase,
/// and checks that it keeps to its bounds. Returns the line of the table.
pub(crate) fn line<F>(
    (phase, behaviour): (&Phase, Behaviour),
    bounds: Bounds,
    client: impl FnOnce(Handle, PathBuf) -> F,
) -> String
where
    F: Future<Output = Ending> + 'static,
{
    let name = format!("{}, {behaviour:?}", phase.name);
    let (ending, path, sent_bytes) = meet(behaviour.acts(phase), 10 * bounds.time, client);
    let Some(Ending { result, elapsed, kept_bytes }) = ending else { panic!("{name} never ends") };
    let has_timed_out = elapsed >= bounds.time;
    assert!(elapsed <= bounds.time + NOTICE, "{name} ends after {elapsed:?}");
    assert!(kept_bytes <= bounds.kept_bytes, "{name}: {kept_bytes} bytes are kept");
    let has_sent = has_timed_out || sent_bytes <= bounds.sent_bytes;
    assert!(has_sent, "{name}: {sent_bytes} bytes were sent");
    let when = if has_timed_out { "time-out" } else { "before" };
    let what = told(result, &path.to_string_lossy());
    format!("{:<17} {:<10} {when:<8} {what}", phase.name, format!("{behaviour:?}"))
}

/// A result in words; `peer` is the name of the peer, which differs from one run to another.
pub(crate) fn told(result: Result<(), Failure>, peer: &str) -> String {
    let what = match result {
        Ok(()) => "no failure".to_owned(),
        Err(failure) => format!("{}: {failure}", failure.key.class),
    };
    // Which of the two it is depends on the sizes of the kernel's buffers.
    let what = what.replace("Broken pipe (os error 32)", "RESET");
    what.replace("Connection reset by peer (os error 104)", "RESET").replace(peer, "PEER")
}

/// Runs `client` with the path of a socket with such a peer, for so long at most. Also returns the path, and how much the
/// peer has sent.
fn meet<F>(
    acts: Vec<Act>,
    time: Duration,
    client: impl FnOnce(Handle, PathBuf) -> F,
) -> (Option<Ending>, PathBuf, usize)
where
    F: Future<Output = Ending> + 'static,
{
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let mut runtime = Runtime::new(Clock::simulated()).unwrap();
    let handle = runtime.handle();
    let sent_bytes = Rc::new(Cell::new(0));
    handle.spawn(serve(handle.clone(), listener, acts, Rc::clone(&sent_bytes)));
    let met = client(handle.clone(), path.clone());
    let ending = runtime.block_on(async move { net::within(&handle, time, met).await }).unwrap();
    (ending, path, sent_bytes.get())
}

/// Performs acts on the first connection. Later ones are never accepted.
async fn serve(
    handle: Handle,
    listener: UnixListener,
    acts: Vec<Act>,
    sent_bytes: Rc<Cell<usize>>,
) {
    let stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(_) => handle.sleep(TICK).await,
        }
    };
    stream.set_nonblocking(true).unwrap();
    let mut peer = VirtualPeer { handle, wire: Wire::new(stream), sent_bytes };
    for act in &acts {
        // The way in which the other side ends the connection does not matter here.
        if peer.perform(act).await.is_err() {
            return;
        }
    }
}

/// The peer's end of the connection.
struct VirtualPeer {
    handle: Handle,
    wire: Wire<UnixStream>,
    sent_bytes: Rc<Cell<usize>>,
}

impl VirtualPeer {
    async fn perform(&mut self, act: &Act) -> io::Result<()> {
        match act {
            Act::Send(bytes) => self.send(bytes).await,
            Act::Drip(bytes, pause) => {
                for byte in bytes {
                    self.send(&[*byte]).await?;
                    self.handle.sleep(*pause).await;
                }
                Ok(())
            }
            Act::Repeat(unit) => loop {
                self.send(unit).await?;
                // Time stands still while there are bytes to read.
                self.handle.sleep(TICK).await;
            },
            Act::Receive(framing) => self.receive(*framing).await,
            Act::Wait => {
                let mut buffer = [0; 64 << 10];
                while self.read(&mut buffer).await? > 0 {}
                Ok(())
            }
            Act::Hold => pending().await,
            Act::Encrypt => {
                self.wire.encrypt()?;
                self.until(Wire::flush).await
            }
            Act::Decrypt => {
                self.wire.decrypt();
                Ok(())
            }
            Act::HalfClose => self.wire.half_close(),
            Act::Reset => {
                self.read(&mut [0]).await?;
                Err(ErrorKind::ConnectionAborted.into())
            }
        }
    }

    async fn send(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let length = self.until(|wire| wire.write(bytes)).await?;
            self.sent_bytes.set(self.sent_bytes.get() + length);
            bytes = &bytes[length..];
        }
        self.until(Wire::flush).await
    }

    async fn receive(&mut self, framing: Framing) -> io::Result<()> {
        let mut message = Vec::new();
        loop {
            let (begun, missing) = (message.len(), framing.missing(&message));
            if missing == 0 {
                return Ok(());
            }
            message.resize(begun + missing, 0);
            let length = self.read(&mut message[begun..]).await?;
            if length == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            message.truncate(begun + length);
        }
    }

    /// Reads what has come; 0 bytes when the other side has closed.
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.until(|wire| wire.read(buffer)).await
    }

    /// Does this, as soon as there are bytes or room for it.
    async fn until<T>(
        &mut self,
        mut act: impl FnMut(&mut Wire<UnixStream>) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            match act(&mut self.wire) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.handle.sleep(TICK).await;
                }
                done => return done,
            }
        }
    }
}
