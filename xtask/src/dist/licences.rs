//! The texts of the licences of all crates that dyno is made from, in one file. cargo-about would leave out NOTICE files,
//! which Apache 2.0 requires, and the texts of all licences of a crate but one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::Value;

/// How the names of files with licences begin, in upper case.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
const RULE: &str =
    "================================================================================";

/// All texts, each with the crates that have it, after a list of all crates of a bill of materials. `registry` has the
/// folders of crates by registry, and `standard_library` is the text of what Rust's own library consists of.
pub(super) fn of(
    materials: &str,
    registry: &Path,
    standard_library: &str,
) -> anyhow::Result<String> {
    let materials: Value = serde_json::from_str(materials)?;
    let crates = materials["components"].as_array().context("a bill without materials")?;
    let mut out = "dyno is under the MIT licence or Apache 2.0, at your choice. It contains these crates:\n\n"
        .to_owned();
    // By text: most crates have the same.
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for it in crates {
        let [name, version, source] =
            ["name", "version", "purl"].map(|key| it[key].as_str().unwrap_or_default());
        if source.contains("download_url=file:") {
            // One of dyno's own.
            continue;
        }
        let licences = it["licenses"].as_array().into_iter().flatten();
        let licences: Vec<&str> = licences.filter_map(|it| it["expression"].as_str()).collect();
        ensure!(!licences.is_empty(), "{name} has no licence");
        let of_registry = |it: PathBuf| it.join(format!("{name}-{version}"));
        let folder = entries(registry)?.into_iter().map(of_registry).find(|it| it.is_dir());
        let folder = folder.with_context(|| format!("{name} {version} is not in the registry"))?;
        let found = texts_in(&folder)?;
        let remark = if found.is_empty() { ", whose archive has no text of it" } else { "" };
        writeln!(out, "{name} {version}: {}{remark}", licences.join(" AND "))?;
        for text in found {
            texts.entry(text).or_default().push(format!("{name}@{version}"));
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
    for path in entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if NAMES.iter().any(|begin| name.starts_with(begin)) {
            // Some crates have a folder of them.
            paths.extend(if path.is_dir() { entries(&path)? } else { vec![path] });
        }
    }
    paths.retain(|path| path.is_file());
    paths.sort();
    let read = |path| Ok(String::from_utf8_lossy(&fs::read(path)?).trim().to_owned());
    paths.iter().map(read).collect()
}

fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATERIALS: &str = r#"{ "components": [
        { "name": "dyno-plan", "version": "0.1.0", "purl": "pkg:cargo/dyno-plan@0.1.0?download_url=file://../plan" },
        { "name": "linked", "version": "1.2.3", "purl": "pkg:cargo/linked@1.2.3",
          "licenses": [{ "expression": "MIT OR Apache-2.0" }] },
        { "name": "other", "version": "1.2.3", "purl": "pkg:cargo/other@1.2.3",
          "licenses": [{ "expression": "Zlib" }] },
        { "name": "bare", "version": "1.2.3", "purl": "pkg:cargo/bare@1.2.3",
          "licenses": [{ "expression": "ISC" }] }
    ] }"#;

    #[test]
    fn a_text_that_crates_share_is_there_once_with_their_names() {
        let registry = tempfile::tempdir().unwrap();
        for name in ["linked", "other"] {
            let folder = registry.path().join(format!("index/{name}-1.2.3"));
            fs::create_dir_all(folder.join("licenses")).unwrap();
            fs::write(folder.join("LICENSE-MIT"), "Take it.\n").unwrap();
            fs::write(folder.join("licenses/zlib"), "Take that.\n").unwrap();
            fs::write(folder.join("lib.rs"), "code").unwrap();
        }
        fs::create_dir(registry.path().join("index/bare-1.2.3")).unwrap();
        let text = of(MATERIALS, registry.path(), "Of Rust.\n").unwrap();
        assert!(text.contains("\nlinked 1.2.3: MIT OR Apache-2.0\n"), "{text}");
        assert_eq!(text.matches("Take it.").count(), 1);
        assert_eq!(text.matches("of linked@1.2.3, other@1.2.3\n").count(), 2, "{text}");
        assert!(text.contains("Take that.") && text.ends_with("Of Rust.\n"), "{text}");
        assert!(!text.contains("code") && !text.contains("dyno-plan"), "{text}");
        assert!(text.contains("\nbare 1.2.3: ISC, whose archive has no text of it\n"), "{text}");
        let without = MATERIALS.replace(r#"{ "expression": "Zlib" }"#, "");
        let error = of(&without, registry.path(), "").unwrap_err();
        assert_eq!(error.to_string(), "other has no licence");
    }
}
