//! The database file and how it is opened.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::WrittenTables;

/// When SQLite waits for the disk. Source: sqlite.org/pragma.html#pragma_synchronous
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    Off,
    /// At checkpoints: in WAL mode a power cut may lose the last transactions, never the database.
    #[default]
    Normal,
    /// At every commit.
    Full,
}

impl Synchronous {
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Normal => "normal",
            Self::Full => "full",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Off, Self::Normal, Self::Full].into_iter().find(|value| value.name() == name)
    }
}

/// A database file in WAL mode and how each session opens it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The file; it is created when missing.
    pub path: PathBuf,
    /// When commits wait for the disk.
    pub synchronous: Synchronous,
    /// How long a session waits for the lock of another one before its statement fails as busy.
    pub busy_timeout: Duration,
    /// Page cache of each session, bytes; SQLite's own default (2 MB) when absent.
    pub cache_bytes: Option<u64>,
    /// The tables that sessions of this configuration, and of its clones, have written to since a snapshot.
    pub written: WrittenTables,
}

impl Config {
    /// The usual settings: synchronous `normal`, a busy time-out of five seconds.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            synchronous: Synchronous::default(),
            busy_timeout: Duration::from_secs(5),
            cache_bytes: None,
            written: WrittenTables::default(),
        }
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sqlite:{}", self.path.display())
    }
}
