//! External RPC services: dyno connects to them, but neither starts nor stops them.

use std::net::SocketAddr;
use std::path::Path;

use driver::rpc::{Protocol, Service};
use driver::{SslMode, SslOptions, Timeouts};
use net::Endpoint;
use plan::declared::{Named, named};
use plan::{Options, Problem};

use crate::aside::{LOOKING_UP, aside};
use crate::ask::reach;
use crate::options::{SSL_CA, SSL_CERT, SSL_KEY, SSL_MODE, ssl};
use crate::running::External;
use crate::{Identity, Kind, Offer, ProgressListener, Running, System};

#[derive(Clone, Debug)]
struct ExternalService {
    protocol: Protocol,
    url: String,
    ssl: SslOptions,
    authority: Option<String>,
}

const URL: &str = "url";
const MODE: Named = named(
    SSL_MODE,
    "disabled; verify_ca with ssl_ca",
    "disabled, required, verify_ca or verify_identity: whether connections are encrypted, and how the \
     server's certificate is verified",
);

const AUTHORITY: Named = named(
    "authority",
    "host:port of url",
    "name by which requests call the service (`:authority`), for which its certificate must be too",
);

pub(crate) static GRPC: Kind = Kind {
    name: "grpc",
    summary: "a running gRPC service, of which unary methods are called",
    argument: "grpc://HOST:PORT/PACKAGE.SERVICE/METHOD",
    options: &[
        &named(
            URL,
            "must be given",
            "grpc://HOST:PORT/PACKAGE.SERVICE/METHOD; connections are divided among several HOST:PORT with \
             commas; unix:/PATH: is one too",
        ),
        &MODE,
        &SSL_CA,
        &SSL_CERT,
        &SSL_KEY,
        &AUTHORITY,
    ],
    read: |options, folder| {
        let help = "write it such as \"grpc://127.0.0.1:50051/helloworld.Greeter/SayHello\"";
        read(Protocol::Grpc, options, folder, help)
    },
};

pub(crate) static TRPC: Kind = Kind {
    name: "trpc",
    summary: "a running tRPC service",
    argument: "trpc://HOST:PORT/SERVICE/METHOD",
    options: &[
        &named(
            URL,
            "must be given",
            "trpc://HOST:PORT/SERVICE/METHOD; connections are divided among several HOST:PORT with commas; unix:/PATH: is one too",
        ),
        &MODE,
        &SSL_CA,
        &SSL_CERT,
        &SSL_KEY,
    ],
    read: |options, folder| {
        let help =
            "write it such as \"trpc://127.0.0.1:8000/trpc.test.helloworld.Greeter/SayHello\"";
        read(Protocol::Trpc, options, folder, help)
    },
};

pub(crate) static TCP: Kind = Kind {
    name: "tcp",
    summary: "a running server that answers requests of one size with answers of one size, in order",
    argument: "tcp://HOST:PORT",
    options: &[
        &named(
            URL,
            "must be given",
            "tcp://HOST:PORT; connections are divided among several HOST:PORT with commas; unix:/PATH: is one too",
        ),
        &MODE,
        &SSL_CA,
        &SSL_CERT,
        &SSL_KEY,
    ],
    read: |options, folder| {
        let help = "write it such as \"tcp://127.0.0.1:8000\"";
        read(Protocol::Tcp { announces: false }, options, folder, help)
    },
};

/// Reads where a service is.
fn read(
    protocol: Protocol,
    options: &Options,
    folder: &Path,
    help: &str,
) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let url = reader.text(URL).unwrap_or_default();
    if !reader.is_given(URL) {
        reader.reject(URL, "`url` is missing: where is the service?", help);
    } else if let Err(error) = Service::check(protocol, &url) {
        reader.reject(URL, format!("`url` is wrong: {error}"), help);
    }
    let authority = (protocol == Protocol::Grpc).then(|| reader.text(AUTHORITY.name)).flatten();
    let ssl = ssl(&mut reader, folder);
    if ssl.mode == Some(SslMode::Preferred) {
        let message =
            "`ssl_mode` cannot be `preferred`: a service does not say whether it offers TLS";
        reader.reject(SSL_MODE, message, "write disabled, required, verify_ca or verify_identity");
    }
    let names_certificate = [SSL_CERT, SSL_KEY].into_iter().find(|it| reader.is_given(it.name));
    if let Some(option) = names_certificate
        && ssl.mode.is_none()
        && ssl.ca.is_none()
    {
        let message = format!("`{}` is given, but connections are not encrypted", option.name);
        reader.reject(option.name, message, "set `ssl_mode`, such as \"required\", or `ssl_ca`");
    }
    let files = [SSL_CERT.name, SSL_KEY.name, SSL_CA.name];
    let given = files.into_iter().find(|name| reader.is_given(name));
    reader.finish()?;
    // The files are right or wrong now as they are later.
    if let Err(failure) = ssl.tls_from_start() {
        let option = given.unwrap_or(SSL_MODE);
        let help = "correct the files of `ssl_ca`, `ssl_cert` and `ssl_key`";
        return Err(vec![options.problem(option, failure.message.to_string(), help)]);
    }
    Ok(Box::new(ExternalService { protocol, url, ssl, authority }))
}

impl System for ExternalService {
    fn offers(&self) -> Offer {
        Offer::Calls
    }

    fn lacks_method(&self) -> bool {
        let service = Service::named(self.protocol, &self.url);
        self.protocol.has_methods() && service.is_ok_and(|service| service.method.is_none())
    }

    fn service(&self) -> Option<Service> {
        let service = Service::named(self.protocol, &self.url).ok()?;
        Some(Service { authority: self.authority.clone(), ..service })
    }

    fn start(
        &self,
        _scratch: &Path,
        timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running> {
        let (protocol, url) = (self.protocol, self.url.clone());
        let resolved = aside(LOOKING_UP, listener, move || Service::resolve(protocol, &url))?;
        let service = resolved?.encrypted(&self.ssl)?;
        let service = Service { authority: self.authority.clone(), ..service };
        let settings = reach(&service, timeouts, listener)?;
        let addresses = service.endpoints().iter().filter_map(tcp_address).collect();
        let product = format!("{} service", self.protocol.title());
        let identity = Identity { product, settings, ..Identity::default() };
        Ok(Running::service(service, identity, External { addresses }))
    }
}

fn tcp_address(endpoint: &Endpoint) -> Option<SocketAddr> {
    match endpoint {
        Endpoint::Tcp(address) => Some(*address),
        Endpoint::Unix(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_url_is_told_with_an_example() {
        let told = |options: &str| {
            let options = Options::parse(options).unwrap();
            let problem = (TRPC.read)(&options, Path::new("")).err().unwrap().remove(0);
            format!("{}; {}", problem.message, problem.help.unwrap())
        };
        insta::assert_snapshot!(told(""), @r#"`url` is missing: where is the service?; write it such as "trpc://127.0.0.1:8000/trpc.test.helloworld.Greeter/SayHello""#);
        insta::assert_snapshot!(told("url = \"trpc://a\""), @r#"`url` is wrong: write each address as host:port with a port from 1 to 65535, and an IPv6 address in brackets, as [::1]:8000; or as unix:/path/of/socket, with : before the service; write it such as "trpc://127.0.0.1:8000/trpc.test.helloworld.Greeter/SayHello""#);
    }
}
