//! A system's identity and limits.

use std::future::Future;
use std::time::Duration;

use measure::{ErrorClass, Failure, Identity};
use net::Handle;

/// What a server is asked beside a load: its answers must arrive within `bound`. `to` tells what was asked.
pub(crate) async fn asked_within<T>(
    (handle, bound): (&Handle, Duration),
    address: String,
    to: &str,
    ask: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    net::within(handle, bound, ask).await.unwrap_or_else(|| {
        let message = format!("{address}: no answer within {bound:?} to {to}");
        Err(Failure::new(ErrorClass::Connection, "", message))
    })
}

/// What was asked of a server that has let dyno in.
pub(crate) const WHAT_IT_IS: &str =
    "what the server is; it let dyno in, so look at its log and its load";

/// A system's answers to [`crate::Target::probe`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Product, version and settings.
    pub identity: Identity,
    pub limits: ServerLimits,
}

/// Limits that a server sets; `None` where there is no limit or the server does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerLimits {
    pub connections: Option<ServerLimit>,
    pub prepared_statements: Option<ServerLimit>,
    /// The longest packet that the server accepts, bytes.
    pub packet_bytes: Option<ServerLimit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimit {
    /// The limited resource, as in `too few connections`.
    pub resource: &'static str,
    /// The highest value that the server allows.
    pub max: u64,
    /// How much of that is in use by others.
    pub used: u64,
    /// How to raise it; `{needed}` stands for the value to set.
    pub remedy: &'static str,
}
