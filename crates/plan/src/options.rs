//! Options of a workload or a system: named values with their places in the plan.

use std::fmt;
use std::ops::Range;

use toml_edit::TableLike;

use crate::scrub;
use crate::value::{Placed, Value};
use crate::{OptionReader, Problem};

/// A table of the plan whose keys another room knows.
///
/// Keys are held as `snake_case`: `table-size` in the plan is `table_size` here. Two are equal when
/// keys and values are, wherever they stand. Passwords show neither in `Debug` nor in messages.
#[derive(Clone, Default)]
pub struct Options {
    pub(crate) span: Option<Range<usize>>,
    pub(crate) entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Option<Range<usize>>,
    pub(crate) placed: Placed,
}

impl Options {
    /// No options, so that every default holds.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Options from the text of a TOML table, such as `tables = 4`; places count within `text`.
    ///
    /// # Errors
    /// Where the text is no TOML.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let document = toml_edit::Document::parse(text).map_err(|error| Problem::syntax(&error))?;
        Ok(Self::read(document.as_table(), None))
    }

    /// Reads a table of a TOML document.
    pub(crate) fn read(table: &dyn TableLike, span: Option<Range<usize>>) -> Self {
        let entries = table.iter().filter_map(|(written, item)| {
            let placed = Value::read(item)?;
            let key_span = table.get_key_value(written).and_then(|(key, _)| key.span());
            Some(Entry { key: normal(written), key_span, placed })
        });
        Self { span, entries: entries.collect() }
    }

    /// Starts reading; end with [`OptionReader::finish`].
    pub fn reader(&self) -> OptionReader<'_> {
        OptionReader::new(self)
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Every key with its value as a person reads it, in the order of the plan, passwords blanked.
    pub fn shown(&self) -> Vec<(String, String)> {
        self.entries
            .iter()
            .map(|Entry { key, placed, .. }| {
                let text = placed.value.as_text().unwrap_or_else(|| placed.value.to_string());
                (key.clone(), scrub::value_of(key, &text))
            })
            .collect()
    }

    /// The same options without the keys that the plan itself reads.
    pub(crate) fn without(&self, keys: &[&str]) -> Self {
        let mut rest = self.clone();
        rest.entries.retain(|entry| !keys.contains(&entry.key.as_str()));
        rest
    }

    pub(crate) fn find(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

/// A key as the code names it.
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
        f.debug_map().entries(self.shown()).finish()
    }
}
