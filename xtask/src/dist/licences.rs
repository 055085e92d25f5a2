//! The texts of the licences of all crates that dyno is made from, in one file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context;

use super::crates::Crate;

/// How the names of files with licences begin, in upper case.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
const RULE: &str =
    "================================================================================";

/// All texts, each with the crates that have it, after a list of all crates. `standard_library` is the text of what
/// Rust's own library consists of.
///
/// # Errors
/// When the folder of a crate cannot be read.
pub(crate) fn of(crates: &[Crate], standard_library: &str) -> anyhow::Result<String> {
    let mut out = "dyno is under the MIT licence or Apache 2.0, at your choice. It contains these crates:\n\n"
        .to_owned();
    // By text: most crates have the same.
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for it in crates.iter().filter(|it| !it.is_ours) {
        let found = texts_in(&it.folder).with_context(|| format!("licences of {}", it.id()))?;
        let remark = if found.is_empty() { ", whose archive has no text of it" } else { "" };
        writeln!(out, "{} {}: {}{remark}", it.name, it.version, it.licence)?;
        for text in found {
            texts.entry(text).or_default().push(it.id());
        }
    }
    let mut by_crates: Vec<(String, String)> =
        texts.into_iter().map(|(text, crates)| (crates.join(", "), text)).collect();
    by_crates.sort();
    by_crates.push(("the standard library of Rust".to_owned(), standard_library.trim().to_owned()));
    for (crates, text) in by_crates {
        write!(out, "\n{RULE}\nof {crates}\n{RULE}\n\n{text}\n")?;
    }
    Ok(out)
}

/// The texts in the folder of a crate, without white space around them.
fn texts_in(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if NAMES.iter().any(|begin| name.starts_with(begin)) {
            // Some crates have a folder of them.
            if path.is_dir() {
                let entries = fs::read_dir(&path)?.flatten().map(|entry| entry.path());
                paths.extend(entries.filter(|path| path.is_file()));
            } else {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let read = |path| Ok(String::from_utf8_lossy(&fs::read(path)?).trim().to_owned());
    paths.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::super::crates::tests::two_crates;
    use super::*;

    #[test]
    fn a_text_that_crates_share_is_there_once_with_their_names() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("LICENSE-MIT"), "Take it.\n").unwrap();
        fs::create_dir(folder.path().join("licenses")).unwrap();
        fs::write(folder.path().join("licenses/zlib"), "Take that.\n").unwrap();
        fs::write(folder.path().join("lib.rs"), "code").unwrap();
        let mut crates = two_crates();
        crates[1].folder = folder.path().to_path_buf();
        crates.push(Crate { name: "other".to_owned(), ..crates[1].clone() });
        let text = of(&crates, "Of Rust.\n").unwrap();
        assert!(text.contains("\nlinked 1.2.3: MIT OR Apache-2.0\n"), "{text}");
        assert_eq!(text.matches("Take it.").count(), 1);
        assert_eq!(text.matches("of linked@1.2.3, other@1.2.3\n").count(), 2, "{text}");
        assert!(text.contains("Take that.") && text.ends_with("Of Rust.\n"), "{text}");
        assert!(!text.contains("code") && !text.contains("dyno-bench"), "{text}");
    }

    #[test]
    fn a_crate_without_a_text_is_named_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let mut crates = two_crates();
        crates[1].folder = folder.path().to_path_buf();
        let text = of(&crates, "").unwrap();
        assert!(text.contains("Apache-2.0, whose archive has no text of it\n"), "{text}");
    }
}
