//! How a connection is encrypted before anything else is sent.

use std::io::{self, ErrorKind};

use net::Stream;

use super::codec::append_tls_request;
use super::config::Negotiation;
use crate::Address;
use crate::ssl_options::Tls;

/// The answers of a server that takes TLS, and of one that does not.
const YES: u8 = b'S';
const NO: u8 = b'N';
/// The name of the protocol within TLS.
const ALPN: &[u8] = b"postgresql";

/// How a connection was encrypted, so that another one to the same server can be.
#[derive(Clone, Debug)]
pub(super) struct Secured {
    pub(super) tls: Tls,
    pub(super) negotiation: Negotiation,
}

impl Secured {
    /// Begins TLS; returns whether the server takes it.
    ///
    /// # Errors
    /// The kernel's error, one of TLS, or an answer that is none.
    pub(super) async fn encrypt(&self, stream: &mut Stream, address: &Address) -> io::Result<bool> {
        if self.negotiation == Negotiation::Direct {
            stream.secure(&self.tls.client.offering(ALPN), address.host()).await?;
            return Ok(true);
        }
        let mut request = Vec::new();
        append_tls_request(&mut request);
        stream.write_all(&request).await?;
        // Bytes behind the answer came unencrypted, and must not be taken for bytes from TLS (CVE-2021-23222).
        let answer = stream.read_with(|bytes| match bytes {
            [] => Err(ErrorKind::UnexpectedEof),
            [YES] => Ok(true),
            [NO] => Ok(false),
            _ => Err(ErrorKind::InvalidData),
        });
        if !answer.await?? {
            return Ok(false);
        }
        stream.secure(&self.tls.client, address.host()).await?;
        Ok(true)
    }
}
