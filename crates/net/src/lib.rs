//! The basis of the load path: clock, event loop, timers and sockets.
//!
//! A [`Runtime`] is one thread's event loop over mio (epoll on Linux). It drives the futures of one thread's
//! clients for as long as the load lasts. A future is polled when the socket that it owns is ready, when its
//! timer fires, or when another future of the same loop wakes it through a [`Signal`]. So a request costs
//! the three system calls that it needs (wait, read, write), and nothing is allocated for it.
//!
//! Wakers of the standard library do nothing here, so futures of other runtimes do not work.

mod affinity;
mod alarm;
mod blocking;
mod clock;
mod coarse_timers;
mod connect_permit;
mod connect_queue;
mod fixed_sizes;
mod holds;
mod listener;
mod read_budget;
mod runtime;
mod signal;
mod stream;
mod task;
mod tcp_info;
mod timeout;
pub mod tls;
mod within;

pub use affinity::bind_thread;
pub use blocking::{BlockingCheck, must_end};
pub use clock::{Clock, kernel_ns, origin};
pub use connect_permit::{ConnectPermit, ConnectPermitWait};
pub use fixed_sizes::FixedSizes;
pub use listener::{Accepted, Listener};
pub use measure::Nanos;
pub use runtime::{Handle, Remote, Runtime, Sleep};
pub use signal::{Gate, Signal};
pub use stream::{Endpoint, Stream};
pub use tcp_info::{CloseNotice, TcpConnection, TcpDiagnosis, TcpInfo};
pub use timeout::Timeout;
pub use within::within;
