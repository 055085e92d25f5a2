//! A service: the protocol that it speaks, and its addresses.

use std::fmt;
use std::time::Duration;

use measure::{ErrorClass, Failure, nanos};
use net::{Endpoint, Handle, Stream};
use serde::{Deserialize, Serialize};

use super::grpc::{RequestFault, RequestHead, RequestParts};
use super::url::UNIX;
use super::{Call, Method, trpc};
use crate::address::host_of_name;
use crate::limits::{self, Footprint};
use crate::ssl_options::SSL_WORDS;
use crate::{Address, Demand, ServerLimits, Shortage, Timeouts, Tls, names};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// Requests of one size, answered in order by answers of one size. With `announces`, each connection begins by
    /// telling the sizes to the server, as `dyno echo` understands it ([`net::FixedSizes`]).
    Tcp {
        /// Whether the client tells the sizes.
        announces: bool,
    },
    /// tRPC, version 1.
    Trpc,
    /// gRPC: unary calls over HTTP/2.
    Grpc,
}

impl Protocol {
    pub fn has_methods(self) -> bool {
        !matches!(self, Self::Tcp { .. })
    }

    /// Settings of TLS that tell a server of this protocol in the handshake.
    pub(crate) fn announced(self, tls: Tls) -> Tls {
        match self {
            Self::Grpc => Tls { client: tls.client.offering(b"h2"), ..tls },
            Self::Tcp { .. } | Self::Trpc => tls,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Tcp { .. } => "TCP",
            Self::Trpc => "tRPC",
            Self::Grpc => "gRPC",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp { .. } => "tcp",
            Self::Trpc => "trpc",
            Self::Grpc => "grpc",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    pub protocol: Protocol,
    /// At least one; connection `i` goes to address `i % n`. A name with several addresses is here with each of them.
    pub addresses: Vec<Address>,
    /// The method that is called unless the workload names another.
    pub method: Option<Method>,
    /// The encryption of connections, from their first byte on; `None` for none.
    pub tls: Option<Tls>,
    /// The name by which requests and the handshake of TLS call the service, in place of that of its address.
    pub authority: Option<String>,
}

impl Service {
    pub(super) fn address(&self, index: usize) -> Option<&Address> {
        self.addresses.get(index.checked_rem(self.addresses.len())?)
    }

    pub fn endpoints(&self) -> Vec<Endpoint> {
        self.addresses.iter().map(|address| address.endpoint.clone()).collect()
    }

    /// Connects once to every name, at one of its addresses. Returns settings for the record: the encryption of connections
    /// to the first address, what it protects against, and the addresses of names that have several.
    ///
    /// # Errors
    /// When one cannot be reached, with what to do about it.
    pub async fn reach(
        &self,
        handle: &Handle,
        timeouts: Timeouts,
    ) -> Result<Vec<(String, String)>, Failure> {
        let mut settings = Vec::new();
        for addresses in self.addresses.chunk_by(|one, next| one.name == next.name) {
            let (stream, address) = self.connect_to_any(addresses, handle, timeouts).await?;
            if settings.is_empty() {
                settings = self.protection(&stream, &address);
            }
        }
        settings.extend(names::several(&self.addresses));
        Ok(settings)
    }

    /// Connects to the first of these addresses where that succeeds.
    ///
    /// # Errors
    /// That of the first one.
    pub(super) async fn connect_to_any(
        &self,
        addresses: &[Address],
        handle: &Handle,
        timeouts: Timeouts,
    ) -> Result<(Stream, Address), Failure> {
        names::first_of(addresses, async |address| {
            let stream = self.connect(address, handle, timeouts).await?;
            Ok((stream, address.clone()))
        })
        .await
    }

    fn protection(&self, stream: &Stream, address: &Address) -> Vec<(String, String)> {
        let on_socket = matches!(address.endpoint, Endpoint::Unix(_));
        let none = if on_socket { "none (unix socket)" } else { "none" };
        let encryption = stream.cipher().map_or_else(|| none.to_owned(), |it| it.to_string());
        let connection = match &self.tls {
            Some(tls) => format!("encrypted, {}", tls.check.description()),
            None if on_socket => "unix socket".to_owned(),
            None => "not encrypted".to_owned(),
        };
        vec![("encryption".to_owned(), encryption), ("connection".to_owned(), connection)]
    }

    /// Connects to one address within the connect time-out, the handshake of TLS included.
    pub(super) async fn connect(
        &self,
        address: &Address,
        handle: &Handle,
        timeouts: Timeouts,
    ) -> Result<Stream, Failure> {
        let deadline = handle.now().saturating_add(nanos(timeouts.connect));
        let mut stream = address.connect(handle, timeouts.connect).await?;
        if let Some(tls) = &self.tls {
            let left = Duration::from_nanos(deadline.saturating_sub(handle.now()));
            let secured =
                net::within(handle, left, stream.secure(&tls.client, self.host_of(address))).await;
            let secured = secured.ok_or_else(|| no_handshake(address, timeouts.connect))?;
            secured.map_err(|error| address.lost(&error, &SSL_WORDS))?;
        }
        Ok(stream)
    }

    /// The host for which the certificate must be.
    fn host_of<'a>(&'a self, address: &'a Address) -> &'a str {
        self.authority.as_deref().map_or_else(|| address.host(), host_of_name)
    }

    /// Checks that requests of such calls can be written.
    ///
    /// # Errors
    /// What the protocol cannot carry.
    pub fn check_call(&self, call: &Call, timeouts: Timeouts) -> Result<(), Failure> {
        let Some(address) = self.addresses.first() else { return Ok(()) };
        let call = &call.with_samples();
        match self.protocol {
            Protocol::Grpc => {
                let checked = self.request_head(address, call, timeouts).map(drop);
                checked.map_err(|fault| Failure::new(ErrorClass::Protocol, "", fault.to_string()))
            }
            Protocol::Trpc => trpc::check(call, timeouts.query.map(deadline)),
            Protocol::Tcp { .. } => Ok(()),
        }
    }

    pub(super) fn request_head(
        &self,
        address: &Address,
        call: &Call,
        timeouts: Timeouts,
    ) -> Result<RequestHead, RequestFault> {
        RequestHead::new(RequestParts {
            is_encrypted: self.tls.is_some(),
            host_and_port: self.authority.as_deref().unwrap_or(match &address.endpoint {
                Endpoint::Tcp(_) => &address.name,
                // As clients of gRPC call it.
                Endpoint::Unix(_) => address.host(),
            }),
            path: &call.method.as_ref().map(Method::path).unwrap_or_default(),
            timeout: timeouts.query.map(deadline),
            metadata: &call.metadata,
            drawn: &call.drawn_metadata,
            compression: call.compression,
        })
    }

    /// The resources that this machine has too few of for so many connections, each with its remedy. Raises this
    /// process's own limit of open files if that is enough.
    pub fn shortages(&self, connections: usize) -> Vec<Shortage> {
        let footprint = Footprint {
            files_per_session: 1,
            prepares_on_server: false,
            packet_bytes: 0,
            endpoints: self.endpoints(),
        };
        let demand = Demand { clients: connections, statements_per_client: 0 };
        limits::check(&footprint, &ServerLimits::default(), demand)
    }
}

fn no_handshake(address: &Address, bound: Duration) -> Failure {
    let message = format!(
        "{}: no TLS handshake within {bound:?}; check that the server speaks TLS there and is not overloaded, or raise \
         connect_timeout",
        address.name,
    );
    Failure::new(ErrorClass::Connection, "", message)
}

/// The deadline that a server is told, for a time-out of dyno: later, because otherwise both would end a call at the same
/// time, and chance would say whether that counts as a time-out or as an error of the server. With gRPC the reset of the
/// stream tells the server of the time-out.
pub(super) fn deadline(timeout: Duration) -> Duration {
    timeout.saturating_mul(2).saturating_add(Duration::from_secs(1))
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&str> =
            self.addresses.iter().map(|address| address.name.as_str()).collect();
        names.dedup();
        write!(f, "{}://{}", self.protocol.name(), names.join(","))?;
        let on_socket = names.last().is_some_and(|name| name.starts_with(UNIX));
        match &self.method {
            Some(method) => write!(f, "{}{}", if on_socket { ":" } else { "" }, method.path()),
            None => Ok(()),
        }
    }
}
