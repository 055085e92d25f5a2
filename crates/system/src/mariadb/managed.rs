//! The kind `mariadb` of a plan: a managed server as a system under test.

use std::path::Path;

use driver::Address;
use driver::mysql::{Config, StatementProtocol};
use driver::{Target, Timeouts};
use net::Endpoint;
use plan::{OptionReader, Options, Problem};

use super::server::start_watched;
use super::{DATABASE, Settings, USER};
use crate::ask::ask;
use crate::mysql::PROTOCOLS;
use crate::options;
use crate::ports::local;
use crate::{ProgressListener, Running, System};

/// Arguments that dyno sets, to find the server and its data. For the user there is a separate option.
const RESERVED_ARGUMENTS: [&str; 6] = ["port", "P", "socket", "datadir", "user", "u"];

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

/// Reads the options of a managed MariaDB; a relative `binary` is relative to `folder`.
pub(crate) fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let settings = Settings {
        binary: reader.text("binary").map(|binary| options::program(folder, &binary)),
        arguments: arguments(&mut reader),
        cpus: options::cpus(&mut reader),
        user: reader.text("user"),
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

/// Arguments of the server: variables by name first, then the arguments as the plan gives them.
fn arguments(reader: &mut OptionReader<'_>) -> Vec<String> {
    let variables = reader.settings("settings");
    let mut arguments: Vec<String> =
        variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    options::refuse_reserved(reader, "settings", &arguments, &RESERVED_ARGUMENTS);
    arguments.extend(options::arguments(reader, "arguments", &RESERVED_ARGUMENTS));
    arguments
}

impl System for Managed {
    fn start(
        &self,
        scratch: &Path,
        timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<Running> {
        let server = start_watched(self.settings.clone(), scratch, listener)?;
        let (address, socket) = (local(server.port()), server.socket());
        let (name, endpoint, login) = match self.connect {
            Connect::Tcp => (address.to_string(), Endpoint::Tcp(address), server.login()),
            Connect::Socket => {
                (socket.display().to_string(), Endpoint::Unix(socket), server.socket_login())
            }
        };
        let config = Config {
            addresses: vec![Address { name, endpoint }],
            user: USER.to_owned(),
            password: server.password(),
            database: Some(DATABASE.to_owned()),
            protocol: self.protocol,
            ..Config::default()
        };
        let (target, facts) = ask(Target::mysql(config).with_timeouts(timeouts), listener)?;
        Ok(Running::database(target, facts, server).with_login(login))
    }
}

#[cfg(test)]
mod tests;
