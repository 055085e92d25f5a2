//! The futures of a loop.

use std::future::Future;
use std::pin::Pin;

/// A future that a loop drives.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()>>>;
/// The place of a future in its loop.
pub(crate) type TaskId = usize;

pub(crate) enum Ready {
    Woken(TaskId),
    /// A future of [`Runtime::spawn`](crate::Runtime::spawn) that was never polled.
    Spawned(Task),
    /// A future of [`Handle::spawn`](crate::Handle::spawn) that was never polled.
    Background(Task),
}
