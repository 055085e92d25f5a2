//! The kind `mariadb` of a plan: a server of our own as a system under test.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use driver::mysql::{Address, Config, StatementProtocol};
use driver::{Password, ServerLimits, Target, Timeouts};
use net::Endpoint;
use plan::{OptionReader, Options, Problem};

use super::{DATABASE, Server, Settings, USER};
use crate::ask::ask;
use crate::mysql::PROTOCOLS;
use crate::process::parse_cpus;
use crate::{Access, Identity, Running, System};

/// How clients reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connect {
    Tcp,
    Socket,
}

#[derive(Clone, Debug)]
struct Managed {
    settings: Settings,
    connect: Connect,
    protocol: StatementProtocol,
}

/// Reads the options of a managed MariaDB; a relative `binary` counts from `folder`.
pub(crate) fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let settings = Settings {
        binary: reader.text("binary").map(|binary| program(folder, &binary)),
        arguments: arguments(&mut reader),
        cpus: cpus(&mut reader),
    };
    let connect = reader.choice(
        "connect",
        Connect::Tcp,
        &[("tcp", Connect::Tcp), ("socket", Connect::Socket)],
    );
    let protocol = reader.choice("ps", StatementProtocol::default(), &PROTOCOLS);
    reader.finish()?;
    Ok(Box::new(Managed { settings, connect, protocol }))
}

/// A bare name is looked for where programs are; anything else is a path.
fn program(folder: &Path, binary: &str) -> PathBuf {
    match crate::programs::find(binary, &[]) {
        Some(found) if !binary.contains('/') => found,
        _ => folder.join(binary),
    }
}

/// Arguments of the server: variables by name first, then what was said word for word.
fn arguments(reader: &mut OptionReader<'_>) -> Vec<String> {
    let variables = reader.settings("settings");
    let mut arguments: Vec<String> =
        variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    arguments.extend(reader.texts("arguments"));
    arguments
}

fn cpus(reader: &mut OptionReader<'_>) -> Option<nix::sched::CpuSet> {
    let text = reader.text("cpus")?;
    match parse_cpus(&text) {
        Ok(cpus) => Some(cpus),
        Err(why) => {
            reader.reject("cpus", why, "write a set such as \"0\", \"0-3\" or \"0,2-3\"");
            None
        }
    }
}

impl System for Managed {
    fn start(&self, scratch: &Path, timeouts: Timeouts) -> anyhow::Result<Box<dyn Running>> {
        let server = Server::start(self.settings.clone(), scratch)?;
        let target = Target::mysql(self.config(&server));
        let (target, facts) = ask(target.with_timeouts(timeouts))?;
        let identity = facts.identity;
        let access = Access::Database(target);
        Ok(Box::new(RunningMariaDb { server, access, identity, limits: facts.limits }))
    }
}

impl Managed {
    fn config(&self, server: &Server) -> Config {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port()));
        let (name, endpoint) = match self.connect {
            Connect::Tcp => (address.to_string(), Endpoint::Tcp(address)),
            Connect::Socket => {
                (server.socket().display().to_string(), Endpoint::Unix(server.socket().to_owned()))
            }
        };
        Config {
            addresses: vec![Address { name, endpoint }],
            user: USER.to_owned(),
            password: Password::default(),
            database: Some(DATABASE.to_owned()),
            protocol: self.protocol,
        }
    }
}

struct RunningMariaDb {
    server: Server,
    access: Access,
    identity: Identity,
    limits: ServerLimits,
}

impl Running for RunningMariaDb {
    fn access(&self) -> &Access {
        &self.access
    }

    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn limits(&self) -> ServerLimits {
        self.limits
    }

    fn exited(&mut self) -> Option<String> {
        self.server.exited()
    }

    fn snapshot(&mut self) -> anyhow::Result<()> {
        self.server.snapshot()
    }

    fn restore(&mut self) -> anyhow::Result<()> {
        self.server.restore()
    }

    fn stop(self: Box<Self>) -> anyhow::Result<()> {
        self.server.stop()
    }
}

#[cfg(test)]
mod tests;
