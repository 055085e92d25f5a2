//! The parts of the benchmark, read from `benchmarks/parts.toml`: a server, and contestants that are commands.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::{paths, shell};

/// sysbench has a thread for each connection; it is not measured with more connections than this.
const SYSBENCH_CONNECTIONS_MAX: usize = 256;
/// Connections that calls share, and the number of clients from which each has one of its own.
const LINKS: usize = 100;
const OWN_LINKS_FROM: usize = 10_000;

/// Every part, and words that their commands share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parts {
    words: BTreeMap<String, String>,
    pub parts: BTreeMap<String, Part>,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    /// In words.
    pub is: String,
    #[serde(default)]
    pub server: ServerKind,
    /// The cores of server and client; all of them where there is none.
    pub cores: Option<[String; 2]>,
    /// A command that fills the server.
    pub before: Option<String>,
    #[serde(default)]
    pub kind: Kind,
    /// The statements that are counted as transactions of a PostgreSQL, as a regular expression of its own.
    pub ends: Option<String>,
    /// A table, and how many rows it must have after each load.
    pub rows: Option<(String, u64)>,
    /// Whether it is measured only when it is asked for by name.
    #[serde(default)]
    pub by_name_only: bool,
    pub connections: Vec<usize>,
    /// Contestants whose load ends only when they are told to.
    #[serde(default)]
    pub endless: Vec<String>,
    pub contestants: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ServerKind {
    #[default]
    None,
    Mariadb,
    Postgres,
    Tidb,
    /// The bare loop in C.
    Floor,
    Trpc,
    Grpc,
}

/// How a part is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// By a window in the middle of a load, in which the server counts queries or calls.
    #[default]
    Queries,
    /// The same with transactions.
    Transactions,
    /// To its end, on a fresh server.
    Load,
    /// To its end, on a fresh server with data: a load that is little more than opening its connections.
    Open,
    /// Until the first measured transaction of a command that starts its own server.
    Start,
    Report,
}

/// What stands for the names in braces.
pub(super) type Facts = BTreeMap<String, String>;

impl Parts {
    /// Reads the parts.
    ///
    /// # Errors
    /// When the file is not what this reads.
    pub(super) fn read() -> anyhow::Result<Self> {
        let path = paths::root().join("benchmarks/parts.toml");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }

    /// The part with this name.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn get(&self, name: &str) -> anyhow::Result<&Part> {
        let names = || self.parts.keys().cloned().collect::<Vec<_>>().join(", ");
        self.parts.get(name).with_context(|| format!("no part {name}; there are {}", names()))
    }

    /// A command with its shared words in place.
    pub(super) fn spelled(&self, command: &str) -> String {
        let mut text = command.to_owned();
        while let Some((name, words)) =
            self.words.iter().find(|(name, _)| text.contains(&format!("{{{name}}}")))
        {
            text = text.replace(&format!("{{{name}}}"), words);
        }
        text
    }

    /// A command with the facts in place.
    ///
    /// # Errors
    /// When a name in braces is not a fact.
    pub(super) fn command(&self, command: &str, facts: &Facts) -> anyhow::Result<Command> {
        let mut text = self.spelled(command);
        for (name, fact) in facts {
            text = text.replace(&format!("{{{name}}}"), fact);
        }
        // ghz's data is in braces too, with a quotation mark behind the first.
        let unknown = text.split('{').skip(1).find(|rest| !rest.starts_with('"'));
        ensure!(unknown.is_none(), "unknown name in {text}");
        let mut words = text.split(' ').filter(|word| !word.is_empty());
        let mut command = shell::command(words.next().context("an empty command")?, &[]);
        command.args(words.map(|word| word.replace('~', " ")));
        Ok(command)
    }
}

impl Part {
    /// Who is measured with so many connections.
    pub(super) fn contestants_with(&self, connections: usize) -> Vec<String> {
        let names = self.contestants.keys().cloned();
        names.filter(|it| it != "sysbench" || connections <= SYSBENCH_CONNECTIONS_MAX).collect()
    }
}

/// The facts of a load.
pub(super) fn facts_of_load(connections: usize, seconds: f64) -> Facts {
    let links = if connections >= OWN_LINKS_FROM { connections } else { LINKS };
    facts([
        ("connections", connections.to_string()),
        ("links", links.to_string()),
        ("in_flight", connections.div_ceil(links).to_string()),
        // sysbench and others take whole seconds.
        ("seconds", seconds.ceil().to_string()),
    ])
}

pub(super) fn facts<const N: usize>(all: [(&str, String); N]) -> Facts {
    all.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
}

/// The begin of a command that runs on these cores only.
pub(super) fn pinned(cores: &str) -> String {
    format!("taskset -c {cores} ")
}

/// A path as a fact.
pub(super) fn path(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_knows_all_of_its_names() {
        let parts = Parts::read().unwrap();
        let programs = [
            "dyno",
            "floor",
            "postgres-floor",
            "rpc-client",
            "go-ycsb",
            "go-tpc",
            "trpc-client",
            "ghz",
        ];
        let of_server = ["url", "port", "password", "user", "database", "floor_user", "address"];
        let others = ["scratch", "grpc_body"];
        let mut all = facts_of_load(800, 2.5);
        for name in programs.into_iter().chain(of_server).chain(others) {
            all.insert(name.to_owned(), format!("<{name}>"));
        }
        let shown = |command: &Command| -> Vec<String> {
            let words = [command.get_program()].into_iter().chain(command.get_args());
            words.map(|word| word.to_string_lossy().into_owned()).collect()
        };
        for part in parts.parts.values() {
            for command in part.contestants.values().chain(&part.before) {
                parts.command(command, &all).unwrap();
            }
        }
        let of = |part: &str, contestant: &str| {
            shown(&parts.command(&parts.parts[part].contestants[contestant], &all).unwrap())
        };
        assert_eq!(of("tcp", "floor"), ["<rpc-client>", "<port>", "100", "8", "3"]);
        assert!(of("grpc", "h2load").contains(&"te: trailers".to_owned()));
        assert!(of("grpc", "ghz").contains(&"{\"msg\":\"hello\"}".to_owned()));
        assert!(parts.command("{stranger}", &all).is_err());
        assert!(parts.get("stranger").is_err());
    }

    #[test]
    fn sysbench_has_no_more_connections_than_it_can() {
        let pinned = &Parts::read().unwrap().parts["pinned"];
        assert_eq!(pinned.contestants_with(256).len(), 4);
        assert_eq!(pinned.contestants_with(1024), ["dyno", "dyno, watching", "floor"]);
    }
}
