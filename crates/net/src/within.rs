//! A time limit for any future.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::Handle;

/// Waits for `future`, but no longer than `length`: `None` when that time has passed.
pub async fn within<T>(
    handle: &Handle,
    length: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    let mut sleep = pin!(handle.sleep(length));
    poll_fn(|context| {
        if let Poll::Ready(value) = future.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        sleep.as_mut().poll(context).map(|()| None)
    })
    .await
}
