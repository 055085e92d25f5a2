//! Values of the command line that replace those of the plan: `load.time=5s`.

use std::path::PathBuf;

use toml_edit::{Array, DocumentMut, Item, Key, Table, TableLike, Value};

use crate::options::normal;
use crate::{Problem, Problems, Source};

impl Source {
    /// The same plan with values replaced or added, each as `path=value`, as [`Source::set`] does; but the values of
    /// `text_options` are texts as they stand. From then on, this text is checked,
    /// referred to in messages and recorded.
    ///
    /// # Errors
    /// If an override is not an assignment, a path leads through a value that is not a table, or the text is not
    /// TOML. [`crate::Plan::parse`] reports unknown paths, with the nearest spelling.
    pub fn with_overrides<S: AsRef<str>>(
        self,
        assignments: &[S],
        text_options: TextOptions,
    ) -> Result<Self, Problems> {
        let mut source = self;
        for assignment in assignments {
            let assignment = assignment.as_ref();
            let Some((path, value)) = assignment.split_once('=') else {
                let message = format!("`{assignment}` has no `=`, so it sets nothing");
                let help = "write path=value, such as load.time=5s";
                return Err(refused(assignment, assignment, message, help));
            };
            source = source.put(path.trim(), value, text_options)?;
        }
        Ok(source)
    }

    /// The same plan with one value replaced or added. `value` is read as TOML if possible; numbers with commas are a
    /// list, and everything else is text. `load.time` replaces `load.events` and the reverse, and so do `load.rate`
    /// and `load.steps`.
    ///
    /// # Errors
    /// As [`Source::with_overrides`].
    pub fn set(self, path: &str, value: &str) -> Result<Self, Problems> {
        self.put(path, value, |_| Vec::new())
    }

    fn put(self, path: &str, value: &str, texts: TextOptions) -> Result<Self, Problems> {
        let mut document = match self.text.parse::<DocumentMut>() {
            Ok(document) => document,
            Err(error) => return Err(Problems::new(&self, vec![Problem::syntax(&error)])),
        };
        let assignment = format!("{path}={value}");
        let keys = Key::parse(path).unwrap_or_default();
        let Some((last, tables)) = keys.split_last() else {
            let message = format!("`{path}` is not a path to a value");
            let help = "write the keys with dots between them, such as load.time";
            return Err(refused(&assignment, path, message, help));
        };
        let is_text = option_of_workload(&document, &keys)
            .is_some_and(|(kind, option)| texts(&kind).contains(&option.as_str()));
        let mut table: &mut dyn TableLike = document.as_table_mut();
        for key in tables {
            let name = spelled(table, key.get());
            let item = table.entry(&name).or_insert_with(implicit_table);
            let kind = item.type_name();
            table = match item.as_table_like_mut() {
                Some(inner) => inner,
                None => {
                    let message =
                        format!("`{}` is a {kind}, so nothing can be set in it", key.get());
                    let help = format!("set `{}` itself, or make it a table", key.get());
                    return Err(refused(&assignment, path, message, &help));
                }
            };
        }
        put(table, last.get(), if is_text { value.into() } else { read_value(value) });
        if let Some(other) = instead_of(&keys) {
            table.remove(other);
        }
        Ok(Self { text: document.to_string(), ..self })
    }
}

/// The options of a kind of workload whose values are texts as they stand, never TOML.
pub type TextOptions = fn(kind: &str) -> Vec<&'static str>;

/// The kind of the workload that a path leads into, and the option there.
fn option_of_workload(document: &DocumentMut, keys: &[Key]) -> Option<(String, String)> {
    let (workload, name, option) = match keys {
        [one, option] if one.get() == "workload" => (document.get("workload")?, "", option),
        [many, name, option] if many.get() == "workloads" => {
            let all = document.get("workloads")?.as_table_like()?;
            (all.get(&spelled(all, name.get()))?, name.get(), option)
        }
        _ => return None,
    };
    let given = workload.as_table_like().and_then(|table| table.get("kind"));
    let kind = given.or(Some(workload)).and_then(Item::as_str).unwrap_or(name);
    Some((kind.to_owned(), normal(option.get())))
}

/// The key that is removed when `path` is set: a trial has one rate or steps, and rounds have a number or end by
/// themselves, so the later value applies.
fn instead_of(path: &[Key]) -> Option<&'static str> {
    match path.iter().map(Key::get).collect::<Vec<_>>().as_slice() {
        ["load", "rate"] => Some("steps"),
        ["load", "steps"] => Some("rate"),
        ["rounds", "width"] => Some("decide"),
        ["rounds", "decide"] => Some("width"),
        ["rounds"] => Some("repetitions"),
        ["repetitions"] => Some("rounds"),
        _ => None,
    }
}

/// Replaces a value in place and keeps its comment, or adds it.
fn put(table: &mut dyn TableLike, key: &str, mut value: Value) {
    let name = spelled(table, key);
    if let Some(Item::Value(old)) = table.get(&name) {
        *value.decor_mut() = old.decor().clone();
    }
    table.insert(&name, Item::Value(value));
}

/// The key as the table already spells it; `-` and `_` are the same.
fn spelled(table: &dyn TableLike, key: &str) -> String {
    if table.contains_key(key) {
        return key.to_owned();
    }
    let same = table.iter().map(|(other, _)| other).find(|other| normal(other) == normal(key));
    same.unwrap_or(key).to_owned()
}

/// A table whose header is shown only when it has its own values.
pub(crate) fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// A value of the command line: TOML, numbers with commas, or else text.
pub(crate) fn read_value(text: &str) -> Value {
    let text = text.trim();
    match text.parse::<Value>() {
        Ok(Value::Datetime(_)) => text.into(),
        Ok(mut value) => {
            value.decor_mut().clear();
            value
        }
        Err(_) => numbers(text).map_or_else(|| text.into(), Value::Array),
    }
}

/// `1,4,8` as a list.
fn numbers(text: &str) -> Option<Array> {
    let parts: Option<Vec<Value>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    let parts = parts.filter(|parts| parts.len() > 1)?;
    let all_numbers = parts.iter().all(|part| part.is_integer() || part.is_float());
    all_numbers.then(|| parts.into_iter().map(undecorated).collect())
}

fn undecorated(mut value: Value) -> Value {
    value.decor_mut().clear();
    value
}

/// An assignment that cannot be applied, with `part` of it marked.
fn refused(assignment: &str, part: &str, message: String, help: &str) -> Problems {
    let source = Source {
        name: "command line".to_owned(),
        text: assignment.to_owned(),
        folder: PathBuf::new(),
    };
    let problem = Problem { span: Some(0..part.len()), message, help: Some(help.to_owned()) };
    Problems::new(&source, vec![problem])
}

#[cfg(test)]
mod tests;
