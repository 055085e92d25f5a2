//! Turns a command line into the text of a plan, which is then processed like any other.

use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

use crate::Source;
use crate::overrides::{implicit_table, read_value};
use crate::parts::{label, scheme};
use crate::source::clean_name;

/// The parts of a plan as given on a command line. Values are read as by [`Source::set`]; a repeated key becomes a
/// list; [`crate::Plan::parse`] checks the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Top-level keys, such as `seed`, `existing`, `percentiles`.
    pub settings: Vec<(String, String)>,
    pub systems: Vec<DraftPart>,
    pub workloads: Vec<DraftPart>,
    pub load: Vec<(String, String)>,
    /// Statements around phases: the key of `[sql]` and one statement.
    pub sql: Vec<(String, String)>,
}

/// A system or a workload of a [`Draft`].
#[derive(Clone, Default, PartialEq, Eq)]
pub struct DraftPart {
    /// Its kind: `sqlite`, `sysbench/oltp_read_only`, `my.sql`; for a system also a URL.
    pub kind: String,
    pub options: Vec<(String, String)>,
    /// The options whose values are texts as they stand, never TOML.
    pub texts: Vec<&'static str>,
}

impl std::fmt::Debug for DraftPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let options: Vec<String> = self
            .options
            .iter()
            .map(|(key, value)| crate::scrub(&format!("{key}={value}")))
            .collect();
        let kind = crate::scrub(&self.kind);
        f.debug_struct("DraftPart").field("kind", &kind).field("options", &options).finish()
    }
}

/// Writes a draft as the text of a plan named `command line`. Its relative paths start at the current folder.
pub fn compose(draft: &Draft) -> Source {
    let mut document = DocumentMut::new();
    let root = document.as_table_mut();
    put_all(root, &draft.settings);
    if !draft.settings.iter().any(|(key, _)| key == "name") {
        root.insert("name", toml_edit::value(name_of(draft)));
    }
    root.insert("systems", parts(&draft.systems, &|part| system_name(&part.kind)));
    root.insert("workloads", parts(&draft.workloads, &workload_name));
    for (key, pairs) in [("sql", &draft.sql), ("load", &draft.load)] {
        if !pairs.is_empty() {
            let mut table = Table::new();
            if key == "sql" {
                put_texts(&mut table, pairs);
            } else {
                put_all(&mut table, pairs);
            }
            root.insert(key, Item::Table(table));
        }
    }
    Source {
        name: "command line".to_owned(),
        text: document.to_string(),
        folder: PathBuf::from("."),
    }
}

/// The plan's name, made from its workloads.
fn name_of(draft: &Draft) -> String {
    let names: Vec<String> =
        draft.workloads.iter().map(|part| clean_name(&workload_name(part))).collect();
    if names.is_empty() { "bench".to_owned() } else { names.join("+") }
}

fn system_name(kind: &str) -> String {
    scheme(kind).unwrap_or_else(|| label(kind))
}

/// The name of a workload: its kind, and the stems of the property files that change it.
fn workload_name(part: &DraftPart) -> String {
    let files = part.options.iter().filter(|(key, _)| key == "properties");
    let files = files.flat_map(|(_, files)| files.split(','));
    let stems =
        files.filter_map(|file| Some(Path::new(file.trim()).file_stem()?.to_string_lossy()));
    std::iter::once(label(&part.kind).into()).chain(stems).collect::<Vec<_>>().join("+")
}

/// A table of tables, one for each part; parts with the same name are numbered.
fn parts(parts: &[DraftPart], name_of: &dyn Fn(&DraftPart) -> String) -> Item {
    let mut tables = Table::new();
    tables.set_implicit(true);
    for part in parts {
        let mut table = Table::new();
        let key = if scheme(&part.kind).is_some() { "url" } else { "kind" };
        table.insert(key, toml_edit::value(part.kind.as_str()));
        for (key, text) in &part.options {
            let is_text = part.texts.contains(&key.replace('-', "_").as_str());
            add(&mut table, key, if is_text { text.into() } else { read_value(text) });
        }
        let name = free_name(&tables, &clean_name(&name_of(part)));
        tables.insert(&name, Item::Table(table));
    }
    Item::Table(tables)
}

fn free_name(taken: &Table, name: &str) -> String {
    let mut numbered = (2..).map(|number| format!("{name}_{number}"));
    if taken.contains_key(name) {
        numbered.find(|name| !taken.contains_key(name)).unwrap_or_default()
    } else {
        name.to_owned()
    }
}

fn put_all(table: &mut dyn TableLike, pairs: &[(String, String)]) {
    for (key, text) in pairs {
        add(table, key, read_value(text));
    }
}

/// Like [`put_all`], for values that are always texts.
fn put_texts(table: &mut dyn TableLike, pairs: &[(String, String)]) {
    for (key, text) in pairs {
        add(table, key, text.into());
    }
}

/// Sets a value; a second value for the same key makes a list of both. A key with dots is a path through tables, as
/// in `--set`.
fn add(table: &mut dyn TableLike, key: &str, value: Value) {
    let Some((first, rest)) = key.split_once('.') else { return add_here(table, key, value) };
    let first = first.replace('-', "_");
    match table.entry(&first).or_insert_with(implicit_table).as_table_like_mut() {
        Some(inner) => add(inner, rest, value),
        // The plan reader reports this key as unknown.
        None => add_here(table, key, value),
    }
}

fn add_here(table: &mut dyn TableLike, key: &str, value: Value) {
    let key = key.replace('-', "_");
    let Some(Item::Value(old)) = table.get_mut(&key) else {
        table.insert(&key, Item::Value(value));
        return;
    };
    if let Value::Array(list) = old {
        list.push(value);
    } else {
        let list: Array = [old.clone(), value].into_iter().collect();
        *old = Value::Array(list);
    }
}

#[cfg(test)]
mod tests;
