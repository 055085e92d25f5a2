//! Opening a session at the address of a server, whatever its protocol: the turn, the time-out, and a name that moved.

use std::time::Duration;

use measure::{ErrorClass, Failure};
use net::Handle;

use crate::{Address, Timeouts, names};

#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectOptions {
    /// The index of its client, which determines the address where there are several.
    pub(crate) index: usize,
    pub(crate) timeouts: Timeouts,
    /// Whether the session may send rows by LOAD DATA LOCAL.
    pub(crate) sends_local_rows: bool,
    /// Whether it takes the place of a session that was lost: names are looked up again, because they move in a failover.
    pub(crate) is_again: bool,
}

impl ConnectOptions {
    /// The session that `open` makes at the address `known`, or at another one of its name; `protocol` is what a server
    /// has to speak there.
    ///
    /// # Errors
    /// As [`names::first_of`].
    pub(crate) async fn connect<T>(
        &self,
        handle: &Handle,
        (known, protocol): (Option<&Address>, &str),
        open: impl AsyncFn(&Address) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let known: Vec<Address> = known.cloned().into_iter().collect();
        let bound = self.timeouts.connect;
        let _turn = handle.connect_permit().await;
        let open = async |address: &Address| {
            let timed_out = || Err(no_answer(address, protocol, bound));
            net::within(handle, bound, open(address)).await.unwrap_or_else(timed_out)
        };
        let followed = async || match known.as_slice() {
            [known] => names::followed(handle, known, (self.index, bound)).await,
            _ => None,
        };
        let now = if self.is_again { followed().await } else { None };
        let mut opened = names::first_of(now.as_deref().unwrap_or(&known), &open).await;
        if now.is_none()
            && matches!(&opened, Err(failure) if failure.key.class == ErrorClass::Connection)
            && let Some(mut others) = followed().await
        {
            others.retain(|address| !known.contains(address));
            if !others.is_empty() {
                opened = names::first_of(&others, &open).await;
            }
        }
        opened
    }
}

fn no_answer(address: &Address, protocol: &str, bound: Duration) -> Failure {
    let message = format!(
        "{}: no login within {bound:?}; check that a server of the {protocol} protocol listens there and is \
         not overloaded, or raise connect_timeout",
        address.name,
    );
    Failure::new(ErrorClass::Connection, "", message)
}
