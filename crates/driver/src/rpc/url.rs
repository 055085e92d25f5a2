//! URLs of services, such as `trpc://host:8000/trpc.test.helloworld.Greeter/SayHello`.

use std::net::Ipv4Addr;

use measure::{ErrorClass, Failure};
use net::Endpoint;

use super::{Method, Protocol, Service, names};
use crate::url_parts::Host;
use crate::{Address, SslOptions};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceUrlError {
    /// Another scheme, or none.
    #[error("expected a URL such as {0}://host:port{1}")]
    Scheme(&'static str, &'static str),
    /// An address without a port.
    #[error(
        "write each address as host:port with a port from 1 to 65535, and an IPv6 address in brackets, as [::1]:8000"
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
        let (hosts, method) = parse(protocol, url)
            .map_err(|error| Failure::new(ErrorClass::Connection, "", error.to_string()))?;
        let mut addresses = Vec::new();
        for (host, port) in hosts {
            let found = Address::look_up_all(&host.name, port, &host.with_port(port))?;
            addresses.extend(names::of_first_family(found));
        }
        Ok(Self { protocol, addresses, method, tls: None, authority: None })
    }

    /// Reads the URL of a service without a look-up of its hosts: the service has their names, but not where they are.
    ///
    /// # Errors
    /// What is wrong with the URL.
    pub fn named(protocol: Protocol, url: &str) -> Result<Self, ServiceUrlError> {
        let (hosts, method) = parse(protocol, url)?;
        let address = |(host, port): (Host, u16)| Address {
            name: host.with_port(port),
            endpoint: Endpoint::Tcp((Ipv4Addr::UNSPECIFIED, port).into()),
        };
        let addresses = hosts.into_iter().map(address).collect();
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

/// Hosts and ports, and the method.
pub(super) type Parts = (Vec<(Host, u16)>, Option<Method>);

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
    let (hosts, path) = match rest.split_once('/') {
        Some((hosts, path)) => (hosts, path),
        None => (rest, ""),
    };
    let hosts = hosts.split(',').map(host_and_port).collect::<Result<_, _>>()?;
    match (path.is_empty(), has_methods) {
        (true, _) => Ok((hosts, None)),
        (false, false) => Err(ServiceUrlError::NoPath),
        (false, true) => Ok((hosts, Some(Method::parse(path).ok_or(ServiceUrlError::Path)?))),
    }
}

fn host_and_port(text: &str) -> Result<(Host, u16), ServiceUrlError> {
    let host = Host::read(text).map_err(|_| ServiceUrlError::Address)?;
    let port = host.port.ok_or(ServiceUrlError::Address)?;
    Ok((host, port))
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
            trpc("trpc://a:1/b/c?ssl-mode=REQUIRED"),
            wrong(Protocol::Tcp { announces: false }, "tcp://a:1/b"),
        ];
        insta::assert_snapshot!(texts.join("\n"), @"
        expected a URL such as trpc://host:port/service/method
        write each address as host:port with a port from 1 to 65535, and an IPv6 address in brackets, as [::1]:8000
        write each address as host:port with a port from 1 to 65535, and an IPv6 address in brackets, as [::1]:8000
        write each address as host:port with a port from 1 to 65535, and an IPv6 address in brackets, as [::1]:8000
        the path is /service/method, such as /trpc.test.helloworld.Greeter/SayHello
        the path is /service/method, such as /trpc.test.helloworld.Greeter/SayHello
        a service's URL has no options behind `?`: give them beside `url`, as `ssl_mode`, or with --system-option
        this protocol has no methods: leave the path out
        ");
    }
}
