//! The ground of the load path: clock, event loop, timers and sockets.
//!
//! A [`Runtime`] is one thread's event loop over mio (epoll on Linux). It drives a fixed set of
//! futures, one for each client, for as long as the load lasts. There is no work queue and no waker:
//! a future is polled when the socket it waits for is ready or its timer fires, which is all that a
//! load client ever waits for. So a request costs the three system calls it cannot do without
//! (wait, read, write) and nothing is allocated for it.
//!
//! Futures of other runtimes do not work here, because they wait for a waker.

mod alarm;
mod clock;
mod opening;
mod patience;
mod runtime;
mod stream;
mod tcp_info;
pub mod tls;
mod within;

pub use clock::{Clock, origin};
pub use opening::{OpeningTurn, WaitForTurn};
pub use patience::Patience;
pub use runtime::{Gate, Handle, Remote, Runtime, Sleep};
pub use stream::{Endpoint, Stream};
pub use tcp_info::{Ended, TcpConnection, TcpDiagnosis, TcpInfo};
pub use within::within;

/// Nanoseconds: a point on a [`Clock`], or a length of time.
pub type Nanos = u64;
