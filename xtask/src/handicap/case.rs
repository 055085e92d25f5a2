//! What is compared: systems, sizes of the handicap, and how the variants take turns.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A system whose variants are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum System {
    /// Reads by primary key on a MariaDB; the handicap is computed in the statement
    Mariadb,
    /// The same on a TiDB
    Tidb,
    /// Calls of trpc-go's echo server; the handicap is its option `spin`
    Echo,
    /// TiDB built with GOAMD64=v3 against v1: two builds, without a handicap
    TidbGoamd64,
}

/// How the variants take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Interleave {
    /// One trial of each variant in each round, on a server that was just started
    Rounds,
    /// All variants are up in a round, and the load alternates between them
    Windows,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Case {
    pub system: System,
    /// By how much the handicap is to lower the throughput, percent; `None` where builds are compared.
    pub handicap_percent: Option<u32>,
    pub interleave: Interleave,
    /// Length of one comparison, min.
    pub minutes: u32,
}

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Purpose {
    /// Its rounds serve the true ratio alone.
    Truth,
    /// It is one of the comparisons that are counted.
    Comparison,
}

impl System {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mariadb => "MariaDB",
            Self::Tidb => "TiDB",
            Self::Echo => "trpc-go echo server",
            Self::TidbGoamd64 => "TiDB, GOAMD64 v3 against v1",
        }
    }

    pub(super) fn has_handicap(self) -> bool {
        self != Self::TidbGoamd64
    }

    /// Length of one comparison by default, min.
    pub(super) fn minutes(self) -> u32 {
        if self.has_handicap() { 10 } else { 20 }
    }

    /// Number of comparisons by default.
    pub(super) fn comparisons(self) -> u32 {
        if self.has_handicap() { 10 } else { 1 }
    }
}

impl Interleave {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Windows => "windows",
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.system.name();
        match self.handicap_percent {
            Some(percent) => write!(f, "{name}, {percent} %"),
            None => write!(f, "{name}"),
        }
    }
}
