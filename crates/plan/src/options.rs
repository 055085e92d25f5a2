//! Options of a workload or a system: named values with their places in the plan.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use toml_edit::TableLike;

use crate::Problem;
use crate::scrub;
use crate::value::{Spanned, Value};

/// A table of the plan whose keys another room defines.
///
/// Keys are held as `snake_case`: `table-size` in the plan is `table_size` here. Two are equal when their keys and
/// values are, regardless of their places. Neither `Debug` nor messages show passwords.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Options {
    pub(crate) span: Option<Range<usize>>,
    pub(crate) entries: Vec<Entry>,
    /// Keys that the plan itself has read: no longer options, but messages can still point at their places.
    pub(crate) consumed: Vec<Entry>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The name in the code.
    pub(crate) key: String,
    pub(crate) written: String,
    pub(crate) key_span: Option<Range<usize>>,
    pub(crate) placed: Spanned,
    /// Its place when it is outside the plan, such as `FILE:LINE`.
    pub(crate) place: Option<String>,
}

impl Entry {
    /// The entries of its table, with dots in their names; itself, if it is not a table.
    fn with_dotted_name(self) -> Vec<Self> {
        let Value::Table(table) = &self.placed.value else { return vec![self] };
        let inner = table.entries.iter().flat_map(|inner| inner.clone().with_dotted_name());
        let dotted = |inner: Self| Self {
            key: format!("{}.{}", self.key, inner.key),
            written: format!("{}.{}", self.written, inner.written),
            ..inner
        };
        inner.map(dotted).collect()
    }

    /// A message about it, with its place when it is outside the plan.
    pub(crate) fn told(&self, message: String) -> String {
        match &self.place {
            Some(place) => format!("{place}: {message}"),
            None => message,
        }
    }
}

/// A value from a file that the plan names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub name: String,
    pub value: String,
    /// Its place, such as `FILE:LINE`.
    pub place: String,
}

impl Options {
    /// No options, so every default applies.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Options from the text of a TOML table, such as `tables = 4`; places count within `text`.
    ///
    /// # Errors
    /// If the text is not TOML.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let document = toml_edit::Document::parse(text).map_err(|error| Problem::syntax(&error))?;
        Ok(Self::read(document.as_table(), None))
    }

    pub(crate) fn read(table: &dyn TableLike, span: Option<Range<usize>>) -> Self {
        let entries = table.iter().filter_map(|(written, item)| {
            let placed = Value::read(item)?;
            let key_span = table.get_key_value(written).and_then(|(key, _)| key.span());
            let (key, written) = (normal(written), written.to_owned());
            Some(Entry { key, written, key_span, placed, place: None })
        });
        Self { span, entries: entries.collect(), consumed: Vec::new() }
    }

    /// A table that has only its kind.
    pub(crate) fn of_kind(kind: &Spanned) -> Self {
        let entry = Entry {
            key: "kind".to_owned(),
            written: "kind".to_owned(),
            key_span: None,
            placed: kind.clone(),
            place: None,
        };
        Self { span: kind.span.clone(), entries: vec![entry], consumed: Vec::new() }
    }

    /// The same options with names that hold dots instead of tables: `mysql = { host = "db1" }`, which is also the
    /// meaning of `mysql.host = "db1"` in TOML, becomes `mysql.host`.
    #[must_use]
    pub fn with_dotted_names(self) -> Self {
        let entries = self.entries.into_iter().flat_map(Entry::with_dotted_name).collect();
        Self { entries, ..self }
    }

    /// The same options with lines of files as fallback: a line applies if the plan does not set its name, and of
    /// several lines with one name the last applies. A `.` in a name counts as `_`, because dots have another meaning
    /// in TOML.
    #[must_use]
    pub fn above(mut self, lines: impl IntoIterator<Item = Line>) -> Self {
        for entry in &mut self.entries {
            entry.key = entry.key.replace('.', "_");
        }
        // A file may have very many lines.
        let mut indices: HashMap<String, usize> = HashMap::new();
        for (index, entry) in self.entries.iter().enumerate() {
            indices.entry(entry.key.clone()).or_insert(index);
        }
        for Line { name, value, place } in lines {
            let key = normal(&name).replace('.', "_");
            let placed = Spanned { value: Value::Text(value), span: None };
            let place = Some(place);
            let line = Entry { key: key.clone(), written: name, key_span: None, placed, place };
            match indices.get(&key).map(|index| &mut self.entries[*index]) {
                Some(entry) if entry.place.is_some() => *entry = line,
                Some(_) => {}
                None => {
                    indices.insert(key, self.entries.len());
                    self.entries.push(line);
                }
            }
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Every key with its value as shown to a person, in the order of the plan, passwords blanked.
    pub fn shown(&self) -> Vec<(String, String)> {
        self.entries
            .iter()
            .map(|Entry { key, placed, .. }| {
                let text = placed.value.as_text().unwrap_or_else(|| placed.value.to_string());
                (key.clone(), scrub::scrub_setting(key, &text))
            })
            .collect()
    }

    /// A problem at the value of `name` (also `kind`), or at the table when the key is absent.
    pub fn problem(
        &self,
        name: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Problem {
        let entry = self.find(name).or_else(|| self.consumed.iter().find(|e| e.key == name));
        let (span, message) = match entry {
            Some(entry) => (entry.placed.span.clone(), entry.told(message.into())),
            None => (self.span.clone(), message.into()),
        };
        Problem { span, message, help: Some(help.into()) }
    }

    /// The keys that lead to what is written at a place of the text.
    pub(crate) fn path_at(&self, offset: usize) -> Option<Vec<String>> {
        let is_at = |span: &Option<Range<usize>>| {
            span.as_ref().is_some_and(|span| span.start <= offset && offset < span.end)
        };
        self.entries.iter().find_map(|entry| {
            let inner = match &entry.placed.value {
                Value::Table(table) => table.path_at(offset),
                _ => None,
            };
            let is_here = is_at(&entry.key_span) || is_at(&entry.placed.span);
            let rest = inner.or_else(|| is_here.then(Vec::new))?;
            Some(std::iter::once(entry.key.clone()).chain(rest).collect())
        })
    }

    /// Separates the keys that the plan itself has read from the options.
    pub(crate) fn consume(mut self, keys: &[&str]) -> Self {
        let is_ours = |entry: &Entry| keys.contains(&entry.key.as_str());
        let (ours, rest) = self.entries.into_iter().partition(is_ours);
        self.consumed = ours;
        self.entries = rest;
        self
    }

    /// The same options without `key`.
    pub(crate) fn without(mut self, key: &str) -> Self {
        self.entries.retain(|entry| entry.key != key);
        self
    }

    /// The same options overridden by those of `other`; tables are merged key by key.
    pub(crate) fn overlaid(mut self, other: &Self) -> Self {
        for theirs in &other.entries {
            match self.entries.iter_mut().find(|mine| mine.key == theirs.key) {
                None => self.entries.push(theirs.clone()),
                Some(mine) => mine.placed = overlaid(&mine.placed, &theirs.placed),
            }
        }
        self
    }

    /// Adds the value of `from` also under `to`.
    pub(crate) fn add_copy(&mut self, from: &str, to: &str) {
        if let Some(entry) = self.find(from) {
            let copy = Entry { key: to.to_owned(), written: to.to_owned(), ..entry.clone() };
            self.entries.push(copy);
        }
    }

    pub(crate) fn find(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

fn overlaid(mine: &Spanned, theirs: &Spanned) -> Spanned {
    match (&mine.value, &theirs.value) {
        (Value::Table(mine), Value::Table(other)) => {
            let value = Value::Table(mine.clone().overlaid(other));
            Spanned { value, span: theirs.span.clone() }
        }
        _ => theirs.clone(),
    }
}

/// A key's name in the code.
pub(crate) fn normal(written: &str) -> String {
    written.replace('-', "_")
}

impl PartialEq for Options {
    fn eq(&self, other: &Self) -> bool {
        let pairs = |options: &Self| {
            options.entries.iter().map(|entry| (entry.key.clone(), entry.placed.clone())).collect()
        };
        let (mine, theirs): (Vec<_>, Vec<_>) = (pairs(self), pairs(other));
        mine == theirs
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (entry, (key, text)) in self.entries.iter().zip(self.shown()) {
            match entry.placed.value {
                Value::Text(_) => map.entry(&key, &text),
                // The texts in a table have their marks: with others around them these would double at each level.
                _ => map.entry(&key, &format_args!("{text}")),
            };
        }
        map.finish()
    }
}
