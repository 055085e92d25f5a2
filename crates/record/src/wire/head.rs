//! What every JSON file of a record begins with.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{FORMAT_VERSION, RecordError};

/// Value of the field `format` in every file.
pub(crate) const FORMAT: &str = "dyno-record";

/// The text of a JSON file, formatted for people as well.
pub(crate) fn pretty<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value)
        .expect("plain structs with text keys always have a JSON form");
    bytes.push(b'\n');
    bytes
}

/// The two fields that every version of every file has.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
}

/// Parses a file after checking its version, so that a newer format is reported as newer and not as damaged.
pub(crate) fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, RecordError> {
    let damaged =
        |error: &serde_json::Error| RecordError::malformed(path, error.line(), error.to_string());
    let head: Head = serde_json::from_slice(bytes).map_err(|error| damaged(&error))?;
    if head.format != FORMAT {
        let what = format!("its format is `{}` instead of `{FORMAT}`", head.format);
        return Err(RecordError::malformed(path, 0, what));
    }
    if head.version > u64::from(FORMAT_VERSION) {
        let path = path.to_path_buf();
        return Err(RecordError::Newer { path, found: head.version, known: FORMAT_VERSION });
    }
    serde_json::from_slice(bytes).map_err(|error| damaged(&error))
}
