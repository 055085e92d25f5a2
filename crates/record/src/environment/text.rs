//! Reads the small files in which a machine describes itself.

use std::fs;
use std::path::Path;

/// A small file's text without surrounding white space; `None` when it is missing or empty.
pub(super) fn read(root: &Path, path: &str) -> Option<String> {
    let text = fs::read(root.join(path)).ok()?;
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
