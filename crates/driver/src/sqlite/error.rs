//! Result codes of SQLite and their classes. Source: sqlite.org/rescode.html

use std::path::Path;

use measure::{ErrorClass, Failure};
use rusqlite::Error;

/// The primary code is the low byte of the extended one.
const PRIMARY: i32 = 0xff;
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
/// Only a time limit interrupts statements.
const INTERRUPT: i32 = 9;
const BUSY_SNAPSHOT: i32 = 517;
const CONSTRAINT_PRIMARY_KEY: i32 = 1555;
const CONSTRAINT_UNIQUE: i32 = 2067;

#[cold]
pub(super) fn failure(path: &Path, error: &Error) -> Failure {
    let (Error::SqliteFailure(code, _) | Error::SqlInputError { error: code, .. }) = error else {
        return Failure::new(ErrorClass::Server, "", format!("{}: {error}", path.display()));
    };
    let extended = code.extended_code;
    let class = class(extended);
    let remedy = remedy(extended).map_or_else(String::new, |remedy| format!("; {remedy}"));
    let name = name(extended);
    let message = format!("{}: {error} ({name}){remedy}", path.display());
    Failure::new(class, name, message)
}

fn class(extended: i32) -> ErrorClass {
    match extended {
        BUSY_SNAPSHOT => ErrorClass::WriteConflict,
        CONSTRAINT_PRIMARY_KEY | CONSTRAINT_UNIQUE => ErrorClass::DuplicateKey,
        _ => match extended & PRIMARY {
            BUSY | LOCKED => ErrorClass::Busy,
            INTERRUPT => ErrorClass::Timeout,
            CANTOPEN | NOTADB => ErrorClass::Connection,
            _ => ErrorClass::Server,
        },
    }
}

const FULL: i32 = 13;
const CANTOPEN: i32 = 14;
const READONLY: i32 = 8;
const NOTADB: i32 = 26;

fn remedy(extended: i32) -> Option<&'static str> {
    Some(match extended & PRIMARY {
        CANTOPEN => "check that the folder exists and may be written to",
        READONLY => "check that the file and its folder may be written to",
        INTERRUPT => "it took longer than `query_timeout`",
        FULL => "make room on the disk or choose another folder",
        NOTADB => "the file is no SQLite database: choose another path",
        _ => return None,
    })
}

fn name(extended: i32) -> String {
    let name = match extended {
        BUSY_SNAPSHOT => "SQLITE_BUSY_SNAPSHOT",
        CONSTRAINT_PRIMARY_KEY => "SQLITE_CONSTRAINT_PRIMARYKEY",
        CONSTRAINT_UNIQUE => "SQLITE_CONSTRAINT_UNIQUE",
        _ => match extended & PRIMARY {
            1 => "SQLITE_ERROR",
            BUSY => "SQLITE_BUSY",
            LOCKED => "SQLITE_LOCKED",
            READONLY => "SQLITE_READONLY",
            INTERRUPT => "SQLITE_INTERRUPT",
            10 => "SQLITE_IOERR",
            11 => "SQLITE_CORRUPT",
            FULL => "SQLITE_FULL",
            CANTOPEN => "SQLITE_CANTOPEN",
            19 => "SQLITE_CONSTRAINT",
            NOTADB => "SQLITE_NOTADB",
            _ => return format!("SQLITE_{extended}"),
        },
    };
    name.to_owned()
}
