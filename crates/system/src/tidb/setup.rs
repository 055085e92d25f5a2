//! Sets variables of servers that have just started, before any other client connects.

use anyhow::Context;
use driver::mysql::{Config, StatementProtocol};
use driver::{Address, Facts, Target, Timeouts};
use net::Endpoint;
use plan::{OptionReader, Password};

use super::{DATABASE, USER};
use crate::ProgressListener;
use crate::ask::{ask, rows};
use crate::mysql::PS;
use crate::ports::local;

/// The name of the option for the servers' own variables.
pub(crate) const SETTINGS: &str = "settings";

/// Sets up new servers and connects to them.
#[derive(Clone, Debug)]
pub(crate) struct ServerSetup {
    /// The servers' own variables.
    variables: Vec<(String, String)>,
    protocol: StatementProtocol,
}

impl ServerSetup {
    pub(crate) fn read(reader: &mut OptionReader<'_>) -> Self {
        Self { variables: reader.settings(SETTINGS), protocol: PS.read(reader) }
    }

    /// Sets the variables of the servers on these ports of 127.0.0.1, which share this password. It does so on each
    /// server, because the others would get a new value with a delay. Asks the first one for its identity. Clients
    /// are distributed over all servers.
    ///
    /// # Errors
    /// When a server cannot be reached, or rejects a variable.
    pub(crate) fn say(
        &self,
        ports: &[u16],
        password: &Password,
        timeouts: Timeouts,
        listener: &mut ProgressListener<'_>,
    ) -> anyhow::Result<(Target, Facts)> {
        for port in ports {
            let target = self.target(&[*port], password, timeouts);
            for (name, value) in &self.variables {
                rows(&target, &set(name, value), listener)
                    .with_context(|| format!("setting {name} = {value}"))?;
            }
        }
        ask(self.target(ports, password, timeouts), listener)
    }

    fn target(&self, ports: &[u16], password: &Password, timeouts: Timeouts) -> Target {
        let address = |port: &u16| {
            let address = local(*port);
            Address { name: address.to_string(), endpoint: Endpoint::Tcp(address) }
        };
        let config = Config {
            addresses: ports.iter().map(address).collect(),
            user: USER.to_owned(),
            password: password.clone(),
            database: Some(DATABASE.to_owned()),
            protocol: self.protocol,
            ..Config::default()
        };
        Target::mysql(config).with_timeouts(timeouts)
    }
}

/// The statement that sets a variable for all future sessions; a value that is not a number is quoted as text.
fn set(name: &str, value: &str) -> String {
    let name = name.replace('`', "``");
    match value.parse::<f64>() {
        Ok(_) => format!("SET GLOBAL `{name}` = {value}"),
        Err(_) => {
            let value = value.replace('\\', "\\\\").replace('\'', "''");
            format!("SET GLOBAL `{name}` = '{value}'")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_set_as_numbers_or_texts() {
        assert_eq!(
            set("tidb_mem_quota_query", "1073741824"),
            "SET GLOBAL `tidb_mem_quota_query` = 1073741824"
        );
        assert_eq!(set("tidb_txn_mode", "optimistic"), "SET GLOBAL `tidb_txn_mode` = 'optimistic'");
        assert_eq!(set("a`b", "it's"), "SET GLOBAL `a``b` = 'it''s'");
    }
}
