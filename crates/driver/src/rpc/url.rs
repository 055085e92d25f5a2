//! URLs of services, such as `trpc://host:8000/trpc.test.helloworld.Greeter/SayHello`.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use measure::{ErrorClass, Failure};
use net::Endpoint;

use super::{Method, Protocol, Service};
use crate::url_parts::Host;
use crate::{Address, SslOptions, names};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceUrlError {
    /// Another scheme, or none.
    #[error("expected a URL such as {0}://host:port{1}")]
    Scheme(&'static str, &'static str),
    /// An address without a port, or a socket without its whole path.
    #[error(
        "write each address as host:port with a port from 1 to 65535, and an IPv6 address in brackets, as [::1]:8000; or \
         as unix:/path/of/socket, with : before the service"
    )]
    Address,
    /// The path is not a service and a method.
    #[error("the path is /service/method, such as /trpc.test.helloworld.Greeter/SayHello")]
    Path,
    /// Options behind a `?`.
    #[error(
        "a service's URL has no options behind `?`: give them beside `url`, as `ssl_mode`, or with --system-option"
    )]
    Options,
    /// A path where the protocol has no methods.
    #[error("this protocol has no methods: leave the path out")]
    NoPath,
}

impl Service {
    /// Reads the URL of a service of this protocol and looks up all addresses of its hosts.
    ///
    /// # Errors
    /// What is wrong with the URL, or a host that is not known.
    pub fn resolve(protocol: Protocol, url: &str) -> Result<Self, Failure> {
        let (places, method) = parse(protocol, url)
            .map_err(|error| Failure::new(ErrorClass::Connection, "", error.to_string()))?;
        let mut addresses = Vec::new();
        for place in places {
            addresses.extend(match place {
                Place::Socket(path) => vec![socket(path)],
                Place::Host(host, port) => {
                    let name = host.with_port(port);
                    names::of_first_family(Address::look_up_all(&host.name, port, &name)?)
                }
            });
        }
        Ok(Self { protocol, addresses, method, tls: None, authority: None })
    }

    /// Reads the URL of a service without a look-up of its hosts: the service has their names, but not where they are.
    ///
    /// # Errors
    /// What is wrong with the URL.
    pub fn named(protocol: Protocol, url: &str) -> Result<Self, ServiceUrlError> {
        let (places, method) = parse(protocol, url)?;
        let address = |place| match place {
            Place::Socket(path) => socket(path),
            Place::Host(host, port) => Address {
                name: host.with_port(port),
                endpoint: Endpoint::Tcp((Ipv4Addr::UNSPECIFIED, port).into()),
            },
        };
        let addresses = places.into_iter().map(address).collect();
        Ok(Self { protocol, addresses, method, tls: None, authority: None })
    }

    /// The same service, with connections that are encrypted as these options say.
    ///
    /// # Errors
    /// When a file cannot be used, or the mode cannot be one of a service.
    pub fn encrypted(self, options: &SslOptions) -> Result<Self, Failure> {
        let tls = options.tls_from_start()?.map(|tls| self.protocol.announced(tls));
        Ok(Self { tls, ..self })
    }

    /// Checks a URL without looking up its hosts.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(protocol: Protocol, url: &str) -> Result<(), ServiceUrlError> {
        parse(protocol, url).map(drop)
    }
}

/// What an address on a unix socket begins with, before the path.
pub(super) const UNIX: &str = "unix:";

/// One address of a URL.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    Host(Host, u16),
    Socket(PathBuf),
}

/// Addresses, and the method.
pub(super) type Parts = (Vec<Place>, Option<Method>);

fn socket(path: PathBuf) -> Address {
    Address { name: format!("{UNIX}{}", path.display()), endpoint: Endpoint::Unix(path) }
}

pub(super) fn parse(protocol: Protocol, url: &str) -> Result<Parts, ServiceUrlError> {
    let has_methods = protocol.has_methods();
    let path = if has_methods { "/service/method" } else { "" };
    let wrong = || ServiceUrlError::Scheme(protocol.name(), path);
    let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
    if scheme != protocol.name() {
        return Err(wrong());
    }
    if rest.contains('?') {
        return Err(ServiceUrlError::Options);
    }
    let (addresses, path) = split(rest);
    let places = addresses.into_iter().map(place).collect::<Result<_, _>>()?;
    match (path.is_empty(), has_methods) {
        (true, _) => Ok((places, None)),
        (false, false) => Err(ServiceUrlError::NoPath),
        (false, true) => Ok((places, Some(Method::parse(path).ok_or(ServiceUrlError::Path)?))),
    }
}

/// The addresses, and the path behind the `/` that ends the last one. The path of a socket ends at `:/`, as in nginx.
fn split(mut rest: &str) -> (Vec<&str>, &str) {
    let mut addresses = Vec::new();
    loop {
        let end = match rest.strip_prefix(UNIX) {
            None => rest.find([',', '/']),
            Some(socket) => {
                let ends = [socket.find(','), socket.find(":/")];
                ends.into_iter().flatten().min().map(|end| end + UNIX.len())
            }
        };
        let (address, behind) = rest.split_at(end.unwrap_or(rest.len()));
        addresses.push(address);
        match behind.strip_prefix(',') {
            Some(next) => rest = next,
            None => return (addresses, behind.trim_start_matches(':').trim_start_matches('/')),
        }
    }
}

fn place(text: &str) -> Result<Place, ServiceUrlError> {
    if let Some(path) = text.strip_prefix(UNIX) {
        let path = PathBuf::from(path);
        return if path.is_absolute() {
            Ok(Place::Socket(path))
        } else {
            Err(ServiceUrlError::Address)
        };
    }
    let host = Host::read(text).map_err(|_| ServiceUrlError::Address)?;
    let port = host.port.ok_or(ServiceUrlError::Address)?;
    Ok(Place::Host(host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read_and_shown_again() {
        for (protocol, url) in [
            (Protocol::Trpc, "trpc://127.0.0.1:8000/a.b.Greeter/SayHello"),
            (Protocol::Trpc, "trpc://127.0.0.1:8000,[::1]:8001"),
            (Protocol::Tcp { announces: false }, "tcp://127.0.0.1:7"),
            (Protocol::Grpc, "grpc://127.0.0.1:50051/a.b.Greeter/SayHello"),
            (Protocol::Grpc, "grpc://unix:/run/a b.sock:/a.b.Greeter/SayHello"),
            (Protocol::Grpc, "grpc://unix:/a,127.0.0.1:1,unix:/b:/a.b.Greeter/SayHello"),
            (Protocol::Trpc, "trpc://unix:/a,127.0.0.1:1/a.b.Greeter/SayHello"),
            (Protocol::Tcp { announces: false }, "tcp://unix:/run/a"),
        ] {
            assert_eq!(Service::resolve(protocol, url).unwrap().to_string(), url);
        }
    }

    #[test]
    fn what_is_wrong_with_a_url_is_named() {
        let wrong = |protocol, url| Service::check(protocol, url).unwrap_err().to_string();
        let trpc = |url| wrong(Protocol::Trpc, url);
        let texts = [
            trpc("http://a:1/b/c"),
            trpc("trpc://a/b/c"),
            trpc("trpc://a:0/b/c"),
            trpc("trpc://::1:80/b/c"),
            trpc("trpc://a:1/b"),
            trpc("trpc://a:1/b/c/d"),
            trpc("trpc://unix:a.sock:/b/c"),
            trpc("trpc://unix:/a.sock:/b"),
            trpc("trpc://a:1/b/c?ssl-mode=REQUIRED"),
            wrong(Protocol::Tcp { announces: false }, "tcp://a:1/b"),
        ];
        insta::assert_snapshot!(texts.join("\n"), @"
        expected a URL such as trpc://host:port/service/method
        write each address as host:port with a port from 1 to 65535, and an IPv6 address in brackets, as [::1]:8000; or as unix:/path/of/socket, with : before the service
        write each address as host:port with a port from 1 to 65535, and an IPv6 address in brackets, as [::1]:8000; or as unix:/path/of/socket, with : before the service
        write each address as host:port with a port from 1 to 65535, and an IPv6 address in brackets, as [::1]:8000; or as unix:/path/of/socket, with : before the service
        the path is /service/method, such as /trpc.test.helloworld.Greeter/SayHello
        the path is /service/method, such as /trpc.test.helloworld.Greeter/SayHello
        write each address as host:port with a port from 1 to 65535, and an IPv6 address in brackets, as [::1]:8000; or as unix:/path/of/socket, with : before the service
        the path is /service/method, such as /trpc.test.helloworld.Greeter/SayHello
        a service's URL has no options behind `?`: give them beside `url`, as `ssl_mode`, or with --system-option
        this protocol has no methods: leave the path out
        ");
    }
}
