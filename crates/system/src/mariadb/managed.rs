//! The kind `mariadb` of a plan: a managed server as a system under test.

use std::path::Path;

use driver::Address;
use driver::mysql::{Config, StatementProtocol};
use driver::{Target, Timeouts};
use net::Endpoint;
use plan::declared::{Choice, Named, choice, named};
use plan::{OptionReader, Options, Problem};

use super::server::start_watched;
use super::{DATABASE, Settings, USER};
use crate::ask::ask;
use crate::mysql::PS;
use crate::options::{self, ARGUMENTS, BINARY, CPUS, HOLD_FLUSHES};
use crate::ports::local;
use crate::{Kind, ProgressListener, Running, System};

/// Arguments that dyno sets, to find the server and its data. For the user there is a separate option.
const RESERVED_ARGUMENTS: [&str; 6] = ["port", "P", "socket", "datadir", "user", "u"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connect {
    Tcp,
    Socket,
}

const PROGRAM: Named = named(BINARY, "mariadbd on PATH or in /usr/sbin", "the server's program");
const SETTINGS: Named = named(
    "settings",
    "the server's own",
    "server variables, such as { innodb_flush_log_at_trx_commit = 0 }",
);
const ACCOUNT: Named = named(
    "user",
    "mysql, or else nobody",
    "the user that runs the server when root starts dyno; may be root",
);
const CONNECT: Choice<Connect> = choice(
    "connect",
    ("tcp", Connect::Tcp),
    &[("tcp", Connect::Tcp), ("socket", Connect::Socket)],
    "how clients connect: tcp, or socket for the unix socket",
);

pub(crate) static KIND: Kind = Kind {
    name: "mariadb",
    summary: "a MariaDB server that dyno starts with temporary data and stops after the run",
    argument: "mariadb",
    options: &[&PROGRAM, &SETTINGS, &ARGUMENTS, &CPUS, &HOLD_FLUSHES, &ACCOUNT, &CONNECT, &PS],
    read,
};

#[derive(Clone, Debug)]
struct Managed {
    settings: Settings,
    connect: Connect,
    protocol: StatementProtocol,
}

/// Reads the options of a managed MariaDB; a relative `binary` is relative to `folder`.
fn read(options: &Options, folder: &Path) -> Result<Box<dyn System>, Vec<Problem>> {
    let mut reader = options.reader();
    let settings = Settings {
        binary: reader.text(BINARY).map(|binary| options::program(folder, &binary)),
        arguments: arguments(&mut reader),
        cpus: options::cpus(&mut reader),
        user: reader.text(ACCOUNT.name),
        flushes: options::flushes(&mut reader),
    };
    let connect = CONNECT.read(&mut reader);
    let protocol = PS.read(&mut reader);
    reader.finish()?;
    Ok(Box::new(Managed { settings, connect, protocol }))
}

/// Arguments of the server: variables by name first, then the arguments as the plan gives them.
fn arguments(reader: &mut OptionReader<'_>) -> Vec<String> {
    let variables = reader.settings(SETTINGS.name);
    let mut arguments: Vec<String> =
        variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    options::refuse_reserved(reader, SETTINGS.name, &arguments, &RESERVED_ARGUMENTS);
    arguments.extend(options::arguments(reader, ARGUMENTS.name, &RESERVED_ARGUMENTS));
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
