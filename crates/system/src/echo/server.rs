//! The threads of the server: the first accepts all connections, and each thread serves its share on its own loop.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use net::FixedSizes;
use net::{Accepted, Clock, Handle, Listener, Nanos, Remote, Runtime};

use super::connection::serve;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoOptions {
    /// The address to listen on; the kernel chooses port 0.
    pub listen: SocketAddr,
    /// The number of threads, each with its own event loop.
    pub threads: NonZero<usize>,
    /// The sizes of requests and answers on connections that begin neither with a tRPC frame nor with their sizes;
    /// such connections are closed when `None`.
    pub sizes: Option<FixedSizes>,
}

/// A running echo server. Dropping it closes all connections and ends its threads.
#[derive(Debug)]
pub struct EchoServer {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    loops: Vec<EchoLoop>,
}

#[derive(Debug)]
struct EchoLoop {
    loop_handle: LoopHandle,
    thread: JoinHandle<io::Result<()>>,
}

/// The way to a loop from other threads.
#[derive(Clone, Debug)]
struct LoopHandle {
    tasks: Sender<Task>,
    remote: Remote,
}

enum Task {
    Serve(Accepted),
    /// Accept connections and share them out among these loops.
    Accept(TcpListener, Vec<LoopHandle>),
}

impl EchoServer {
    /// Listens and starts the threads.
    ///
    /// # Errors
    /// When the address is not free or not of this machine, or the machine refuses a thread or an event queue.
    pub fn start(options: &EchoOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(options.listen)?;
        let mut server =
            Self { address: listener.local_addr()?, is_over: Arc::default(), loops: Vec::new() };
        for index in 0..options.threads.get() {
            let started = EchoLoop::start(index, options.sizes, Arc::clone(&server.is_over))?;
            server.loops.push(started);
        }
        let handles: Vec<LoopHandle> =
            server.loops.iter().map(|it| it.loop_handle.clone()).collect();
        if let Some(first) = handles.first().cloned() {
            first.give(Task::Accept(listener, handles));
        }
        Ok(server)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether one of its threads has ended by itself; [`EchoServer::stop`] returns why.
    pub fn has_failed(&self) -> bool {
        self.loops.iter().any(|it| it.thread.is_finished())
    }

    /// Closes all connections and ends the threads.
    ///
    /// # Errors
    /// The error of a thread that had ended by itself.
    pub fn stop(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut result = Ok(());
        for it in self.loops.drain(..) {
            it.loop_handle.remote.wake();
            let ended = it.thread.join();
            let panicked = |_| Err(io::Error::other("a thread of the echo server panicked"));
            result = result.and(ended.unwrap_or_else(panicked));
        }
        result
    }
}

impl Drop for EchoServer {
    fn drop(&mut self) {
        // Without `stop` nobody asks for the reason of an earlier end.
        let _ = self.end();
    }
}

impl EchoLoop {
    fn start(
        index: usize,
        sizes: Option<FixedSizes>,
        is_over: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let (tasks, inbox) = mpsc::channel();
        let (started, is_started) = mpsc::channel();
        let body = move || {
            let mut runtime = Runtime::new(Clock::monotonic())?;
            // The receiver waits for this message.
            let _ = started.send(runtime.remote());
            work(&mut runtime, &inbox, sizes, &is_over)
        };
        let thread = thread::Builder::new().name(format!("dyno-echo-{index}")).spawn(body)?;
        match is_started.recv() {
            Ok(remote) => Ok(Self { loop_handle: LoopHandle { tasks, remote }, thread }),
            Err(_) => {
                let ended = thread.join().unwrap_or(Ok(()));
                Err(ended.err().unwrap_or_else(|| io::Error::other("an event loop did not start")))
            }
        }
    }
}

impl LoopHandle {
    /// Gives the loop a task, unless the loop has ended.
    fn give(&self, task: Task) {
        if self.tasks.send(task).is_ok() {
            self.remote.wake();
        }
    }
}

/// Runs a loop until the server is over.
fn work(
    runtime: &mut Runtime,
    inbox: &Receiver<Task>,
    sizes: Option<FixedSizes>,
    is_over: &AtomicBool,
) -> io::Result<()> {
    let handle = runtime.handle();
    // A loop runs as long as it has one future of this kind.
    runtime.spawn(std::future::pending());
    runtime.run(|| {
        if is_over.load(Ordering::Relaxed) {
            return None;
        }
        while let Ok(task) = inbox.try_recv() {
            match task {
                Task::Serve(accepted) => handle.spawn(serve(handle.clone(), accepted, sizes)),
                Task::Accept(listener, handles) => {
                    handle.spawn(accept(handle.clone(), listener, handles));
                }
            }
        }
        Some(Nanos::MAX)
    })
}

/// Accepts connections and gives them to the loops in turn.
async fn accept(handle: Handle, listener: TcpListener, handles: Vec<LoopHandle>) {
    // A socket that is bound and listens is refused by the kernel's queue only without memory.
    let Ok(mut listener) = Listener::new(&handle, listener) else { return };
    for loop_handle in handles.iter().cycle() {
        loop_handle.give(Task::Serve(listener.accept().await));
    }
}

#[cfg(test)]
mod tests;
