//! The crates that dyno is made from: names, versions, licences, and what each depends on.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;

use super::target::Target;
use crate::shell;

/// The crate of the binary.
const BINARY: &str = "dyno-bench";

/// A crate that is compiled into dyno, or that a macro of it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) version: String,
    /// An expression of SPDX.
    pub(crate) licence: String,
    /// The folder of its sources.
    pub(crate) folder: PathBuf,
    /// Whether it is a crate of this repository.
    pub(crate) is_ours: bool,
    /// SHA-256 of its archive in the registry.
    pub(crate) checksum: Option<String>,
    /// The ids of the crates that it needs at run time.
    pub(crate) needs: Vec<String>,
}

impl Crate {
    /// Name and version, as in the registry.
    pub(crate) fn id(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    manifest_path: PathBuf,
    source: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    /// Nothing for a dependency at run time, or `dev` or `build`.
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// The crates of dyno for a processor, by name and version; `sources` is the folder with the lock file.
///
/// # Errors
/// When cargo cannot read the sources, or a crate has no licence.
pub(crate) fn of(sources: &Path, target: Target) -> anyhow::Result<Vec<Crate>> {
    let mut cargo = shell::cargo(&["metadata", "--locked", "--format-version=1"]);
    cargo.args(["--filter-platform", target.triple()]).current_dir(sources);
    let output = cargo.output().context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    let lock: Lock = toml::from_str(&fs::read_to_string(sources.join("Cargo.lock"))?)?;
    linked(&metadata, &lock)
}

/// The crates that the binary reaches by dependencies at run time.
fn linked(metadata: &Metadata, lock: &Lock) -> anyhow::Result<Vec<Crate>> {
    let packages: HashMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let nodes: HashMap<&str, &Node> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let binary = metadata.packages.iter().find(|package| package.name == BINARY);
    let mut open = vec![binary.context("cargo knows no crate of the binary")?.id.as_str()];
    let mut found = BTreeMap::new();
    while let Some(id) = open.pop() {
        let (Some(package), Some(node)) = (packages.get(id), nodes.get(id)) else {
            bail!("cargo metadata lacks {id}");
        };
        let key = (package.name.clone(), package.version.clone());
        if found.contains_key(&key) {
            continue;
        }
        let is_needed = |edge: &&Edge| edge.dep_kinds.iter().any(|kind| kind.kind.is_none());
        let needed: Vec<&str> =
            node.deps.iter().filter(is_needed).map(|edge| edge.pkg.as_str()).collect();
        let ids = needed.iter().filter_map(|id| packages.get(id));
        let mut needs: Vec<String> =
            ids.map(|package| format!("{}@{}", package.name, package.version)).collect();
        needs.sort();
        found.insert(key, of_package(package, lock, needs)?);
        open.extend(needed);
    }
    Ok(found.into_values().collect())
}

fn of_package(package: &Package, lock: &Lock, needs: Vec<String>) -> anyhow::Result<Crate> {
    let (name, version) = (package.name.clone(), package.version.clone());
    let licence = package.license.as_deref().with_context(|| format!("{name} has no licence"))?;
    let locked = lock.package.iter().find(|it| it.name == name && it.version == version);
    let folder = package.manifest_path.parent().unwrap_or(Path::new("/")).to_path_buf();
    Ok(Crate {
        // The older way to write it.
        licence: licence.replace('/', " OR "),
        is_ours: package.source.is_none(),
        checksum: locked.and_then(|locked| locked.checksum.clone()),
        name,
        version,
        folder,
        needs,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const METADATA: &str = r#"{
        "packages": [
            { "id": "b", "name": "dyno-bench", "version": "0.1.0", "license": "MIT",
              "manifest_path": "/build/dyno/Cargo.toml", "source": null },
            { "id": "l", "name": "linked", "version": "1.2.3", "license": "MIT/Apache-2.0",
              "manifest_path": "/registry/linked/Cargo.toml", "source": "registry" },
            { "id": "t", "name": "tested-with", "version": "1.0.0", "license": "MIT",
              "manifest_path": "/registry/tested-with/Cargo.toml", "source": "registry" }
        ],
        "resolve": { "nodes": [
            { "id": "b", "deps": [
                { "pkg": "l", "dep_kinds": [{ "kind": "dev" }, { "kind": null }] },
                { "pkg": "t", "dep_kinds": [{ "kind": "dev" }] } ] },
            { "id": "l", "deps": [] },
            { "id": "t", "deps": [] }
        ] }
    }"#;
    const LOCK: &str = "[[package]]\nname = \"linked\"\nversion = \"1.2.3\"\nchecksum = \"abc\"\n";

    /// A binary and one crate that it needs.
    pub(in crate::dist) fn two_crates() -> Vec<Crate> {
        linked(&serde_json::from_str(METADATA).unwrap(), &toml::from_str(LOCK).unwrap()).unwrap()
    }

    #[test]
    fn crates_of_tests_are_not_handed_out() {
        let crates = two_crates();
        let ids: Vec<String> = crates.iter().map(Crate::id).collect();
        assert_eq!(ids, ["dyno-bench@0.1.0", "linked@1.2.3"]);
        assert_eq!(crates[0].needs, ["linked@1.2.3"]);
        assert!(crates[0].is_ours && !crates[1].is_ours);
        assert_eq!(crates[1].licence, "MIT OR Apache-2.0");
        assert_eq!(crates[1].checksum.as_deref(), Some("abc"));
    }

    #[test]
    fn a_crate_without_a_licence_is_refused() {
        let metadata = METADATA.replace("\"MIT/Apache-2.0\"", "null");
        let metadata = serde_json::from_str(&metadata).unwrap();
        let error = linked(&metadata, &toml::from_str(LOCK).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "linked has no licence");
    }
}
