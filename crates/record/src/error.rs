//! Errors of reading and writing a record.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a record could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The disk is full.
    #[error(
        "no space is left for {}; what was measured until now is kept, make room or choose another \
         place with --out", path.display()
    )]
    Full { path: PathBuf },
    /// Permission to write is missing.
    #[error(
        "cannot {action} {}: {cause}; choose a place that can be written with --out", path.display()
    )]
    Forbidden {
        /// The attempted action: `create`, `write`.
        action: &'static str,
        path: PathBuf,
        /// The cause; it is part of the message and therefore not a `source`.
        cause: io::Error,
    },
    #[error(
        "{} was removed while the run was writing to it; keep the results folder in place until \
         the run ends", path.display()
    )]
    Removed { path: PathBuf },
    /// Any other error of the operating system.
    #[error("cannot {action} {}: {cause}", path.display())]
    Io {
        /// The attempted action: `create`, `write`, `read`.
        action: &'static str,
        path: PathBuf,
        /// The cause; it is part of the message and therefore not a `source`.
        cause: io::Error,
    },
    #[error("{} is not a run folder: it has no run.json; `dyno list` shows stored runs", path.display())]
    NotARun { path: PathBuf },
    /// A name of a run is taken by something else.
    #[error(
        "{} is no link to a run and is not replaced; choose another name, or move it away", path.display()
    )]
    NotALink { path: PathBuf },
    /// A newer dyno wrote it.
    #[error(
        "{} has record format {found}, and this dyno reads formats up to {known}; read it with the \
         dyno that wrote it or a newer one", path.display()
    )]
    Newer {
        path: PathBuf,
        found: u64,
        /// The newest version that this dyno reads.
        known: u32,
    },
    /// A file has invalid content.
    #[error("{} is damaged{}: {what}", path.display(), at_line(*line))]
    Malformed {
        path: PathBuf,
        /// The line, from 1; 0 when the error has no line.
        line: usize,
        what: String,
    },
}

/// Why a trial could not be read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The damaged file, by its name in the trial's folder.
    pub file: String,
    /// The line, from 1; 0 when the damage has no line.
    pub line: usize,
    /// Description of the damage. It may quote the file.
    pub what: String,
}

impl From<RecordError> for Damage {
    fn from(error: RecordError) -> Self {
        let (path, line, what) = match error {
            RecordError::Malformed { path, line, what } => (path, line, what),
            RecordError::Io { path, cause, .. } => (path, 0, cause.to_string()),
            RecordError::Newer { ref path, .. }
            | RecordError::Full { ref path }
            | RecordError::Forbidden { ref path, .. }
            | RecordError::Removed { ref path }
            | RecordError::NotALink { ref path }
            | RecordError::NotARun { ref path } => (path.clone(), 0, error.to_string()),
        };
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { file, line, what }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is damaged{}: {}", self.file, at_line(self.line), self.what)
    }
}

fn at_line(line: usize) -> String {
    if line == 0 { String::new() } else { format!(" at line {line}") }
}

impl RecordError {
    pub(crate) fn io(action: &'static str, path: &Path, cause: io::Error) -> Self {
        let path = path.to_path_buf();
        match cause.kind() {
            // A quota, or a limit on the size of files, leaves as little room as a full disk.
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::Full { path },
            io::ErrorKind::NotFound if action == "write" => Self::Removed { path },
            _ if action == "read" => Self::Io { action, path, cause },
            io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::NotFound => Self::Forbidden { action, path, cause },
            _ => Self::Io { action, path, cause },
        }
    }

    pub(crate) fn malformed(path: &Path, line: usize, what: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_path_buf(), line, what: what.into() }
    }
}
