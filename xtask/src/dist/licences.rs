//! The texts of the licences of all crates that dyno is made from, in one file. cargo-about would leave out NOTICE files,
//! which Apache 2.0 requires, and the texts of all licences of a crate but one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::Deserialize;

/// How the names of files with licences begin, in upper case.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
const RULE: &str =
    "================================================================================";

/// What the bill of materials says of a crate.
#[derive(Deserialize)]
struct Crate {
    name: String,
    version: String,
    #[serde(default)]
    licenses: Vec<Licence>,
    purl: String,
}

#[derive(Deserialize)]
struct Licence {
    expression: String,
}

#[derive(Deserialize)]
struct Materials {
    components: Vec<Crate>,
}

/// All texts, each with the crates that have it, after a list of all crates. `registry` has the folders of crates by registry,
/// and `standard_library` is the text of what Rust's own library consists of.
///
/// # Errors
/// When a crate has no licence, or its folder cannot be read.
pub(crate) fn of(
    materials: &str,
    registry: &Path,
    standard_library: &str,
) -> anyhow::Result<String> {
    let materials: Materials = serde_json::from_str(materials)?;
    let mut out = "dyno is under the MIT licence or Apache 2.0, at your choice. It contains these crates:\n\n"
        .to_owned();
    // By text: most crates have the same.
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let is_ours = |it: &Crate| it.purl.contains("download_url=file:");
    for Crate { name, version, licenses, .. } in
        materials.components.iter().filter(|it| !is_ours(it))
    {
        ensure!(!licenses.is_empty(), "{name} has no licence");
        let licences: Vec<&str> = licenses.iter().map(|it| it.expression.as_str()).collect();
        let mut places =
            entries(registry)?.into_iter().map(|it| it.join(format!("{name}-{version}")));
        let folder = places.find(|it| it.is_dir()).context("not in the registry");
        let found = folder
            .and_then(|folder| texts_in(&folder))
            .with_context(|| format!("licences of {name} {version}"))?;
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
          "licenses": [{ "expression": "Zlib" }] }
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
        let text = of(MATERIALS, registry.path(), "Of Rust.\n").unwrap();
        assert!(text.contains("\nlinked 1.2.3: MIT OR Apache-2.0\n"), "{text}");
        assert_eq!(text.matches("Take it.").count(), 1);
        assert_eq!(text.matches("of linked@1.2.3, other@1.2.3\n").count(), 2, "{text}");
        assert!(text.contains("Take that.") && text.ends_with("Of Rust.\n"), "{text}");
        assert!(!text.contains("code") && !text.contains("dyno-plan"), "{text}");
    }

    #[test]
    fn a_crate_without_a_text_is_named_and_one_without_a_licence_refused() {
        let registry = tempfile::tempdir().unwrap();
        for name in ["linked-1.2.3", "other-1.2.3"] {
            fs::create_dir_all(registry.path().join("index").join(name)).unwrap();
        }
        let text = of(MATERIALS, registry.path(), "").unwrap();
        assert!(text.contains("Apache-2.0, whose archive has no text of it\n"), "{text}");
        let without = MATERIALS.replace(r#"{ "expression": "Zlib" }"#, "");
        let error = of(&without, registry.path(), "").unwrap_err();
        assert_eq!(error.to_string(), "other has no licence");
    }
}
