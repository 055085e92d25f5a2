//! The address of a server.

use std::io::{self, ErrorKind};
use std::net::ToSocketAddrs as _;
use std::time::Duration;

use measure::{ErrorClass, Failure};
use net::{Endpoint, Handle, Stream};
use serde::{Deserialize, Serialize};

use crate::ssl_options::SslWords;
use crate::tls_failure::ended_by_tls;

/// Too many open files in this process.
const EMFILE: i32 = 24;

/// The host of `host:port`, or of a name without a port.
pub(crate) fn host_of_name(name: &str) -> &str {
    let host = name.rsplit_once(':').map_or(name, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

/// The code of a failure to connect to an address at which nothing listens.
pub const REFUSED: &str = "refused";

/// The code of a failure of a statement that was not begun, because the server had closed the connection before.
pub const CLOSED_WHILE_IDLE: &str = "closed-while-idle";

/// One address of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The address as the user wrote it, such as `db1:4000`; messages use this name.
    pub name: String,
    pub endpoint: Endpoint,
}

impl Address {
    /// Looks up a host name or an address; `name` is what messages call it. Of several addresses it takes the first,
    /// but IPv4 before IPv6, because servers listen on IPv4 by default.
    ///
    /// # Errors
    /// When the host is not known.
    pub fn look_up(host: &str, port: u16, name: &str) -> Result<Self, Failure> {
        Ok(Self::look_up_all(host, port, name)?.swap_remove(0))
    }

    /// As [`Address::look_up`], for all addresses of the name: those of IPv4 first; at least one.
    pub(crate) fn look_up_all(host: &str, port: u16, name: &str) -> Result<Vec<Self>, Failure> {
        let unknown = |reason: String| {
            let message = format!("cannot look up host `{host}`: {reason}; check its spelling");
            Failure::new(ErrorClass::Connection, "", message)
        };
        let found = (host, port).to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
        let mut all: Vec<_> = found.collect();
        all.sort_by_key(std::net::SocketAddr::is_ipv6);
        all.dedup();
        if all.is_empty() {
            return Err(unknown("it has no address".to_owned()));
        }
        let address = |found| Self { name: name.to_owned(), endpoint: Endpoint::Tcp(found) };
        Ok(all.into_iter().map(address).collect())
    }

    /// The host for the check of the server's certificate: without the port; `localhost` on a unix socket.
    pub(crate) fn host(&self) -> &str {
        match &self.endpoint {
            Endpoint::Unix(_) => "localhost",
            Endpoint::Tcp(_) => host_of_name(&self.name),
        }
    }

    /// Connects within a time.
    ///
    /// # Errors
    /// When that fails, with what to do about it.
    pub(crate) async fn connect(
        &self,
        handle: &Handle,
        bound: Duration,
    ) -> Result<Stream, Failure> {
        match net::within(handle, bound, Stream::connect(handle, &self.endpoint)).await {
            Some(Ok(stream)) => Ok(stream),
            Some(Err(error)) => Err(self.unreachable(&error)),
            None => Err(self.unreachable(&ErrorKind::TimedOut.into())),
        }
    }

    pub(crate) fn unreachable(&self, error: &io::Error) -> Failure {
        let remedy = match (error.kind(), &self.endpoint) {
            (ErrorKind::ConnectionRefused, _) => {
                "nothing listens there: start the server or correct it"
            }
            (ErrorKind::NotFound, _) => {
                "there is no such socket: start the server or correct the path"
            }
            (ErrorKind::PermissionDenied, Endpoint::Unix(_)) => "this user may not use that socket",
            (ErrorKind::AddrNotAvailable, _) => {
                "local ports have run out: widen net.ipv4.ip_local_port_range or use more addresses"
            }
            _ if error.raw_os_error() == Some(EMFILE) => "raise the limit of open files: ulimit -n",
            _ => "check that the server is up and can be reached",
        };
        let code = if error.kind() == ErrorKind::ConnectionRefused { REFUSED } else { "" };
        let message = format!("cannot connect to {}: {error}; {remedy}", self.name);
        Failure::new(ErrorClass::Connection, code, message)
    }

    pub(crate) fn lost(&self, error: &io::Error, words: &SslWords) -> Failure {
        if let Some(failure) = ended_by_tls(self, error, words) {
            return failure;
        }
        let what = match error.kind() {
            ErrorKind::UnexpectedEof => {
                "the server closed the connection; its log may say why".into()
            }
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                format!("the connection broke ({error}); the server's log may say why")
            }
            _ => error.to_string(),
        };
        Failure::new(ErrorClass::Connection, "", format!("{}: {what}", self.name))
    }
}
