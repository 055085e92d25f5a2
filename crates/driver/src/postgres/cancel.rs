//! Ends the statement of a session over another connection, which is the only way that the protocol has.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::time::Duration;

use net::{Handle, Stream};

use super::codec::append_cancel;
use super::peer::Peer;
use super::secured::Secured;
use crate::Address;

/// How long the end of a statement is awaited after its time-out, and its cancellation at most.
pub(super) const CANCEL_BOUND: Duration = Duration::from_secs(2);

/// Asks the server of this session to end its statement. Whether that arrives does not matter: the session is given up.
pub(super) fn cancel(handle: Handle, peer: &Peer) -> impl Future<Output = ()> + 'static {
    let (address, key, secured) = (peer.address.clone(), peer.key.clone(), peer.secured.clone());
    async move {
        let sent = send(&handle, &address, &key, secured.as_ref());
        let _ = net::within(&handle, CANCEL_BOUND, sent).await;
    }
}

async fn send(
    handle: &Handle,
    address: &Address,
    key: &[u8],
    secured: Option<&Secured>,
) -> io::Result<()> {
    let mut stream = Stream::connect(handle, &address.endpoint).await?;
    if let Some(secured) = secured
        && !secured.encrypt(&mut stream, address).await?
    {
        return Err(ErrorKind::Unsupported.into());
    }
    let mut request = Vec::new();
    append_cancel(&mut request, key);
    stream.write_all(&request).await?;
    // The server closes when it has passed the request on.
    stream.read_with(|_| ()).await
}
