//! Values of a plan with their places, and their names in messages.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::Options;

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Value {
    Integer(i64),
    /// `0.5`, with the text as it was written
    Float(f64, String),
    Boolean(bool),
    Text(String),
    List(Vec<Spanned>),
    /// `{ a = 1 }` or a table below its own header
    Table(Options),
    /// A date or time, which no option accepts
    Time,
}

/// A value and its place. Two are equal when the values are equal, regardless of their places.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Spanned {
    pub(crate) value: Value,
    pub(crate) span: Option<Range<usize>>,
}

impl PartialEq for Spanned {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Value {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Integer(_) => "a whole number",
            Value::Float(..) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Time => "a date or time",
        }
    }

    /// The value for a text option: a text, or a number as it was written.
    pub(crate) fn as_text(&self) -> Option<String> {
        match self {
            Value::Text(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            Value::Float(_, written) => Some(written.clone()),
            _ => None,
        }
    }

    /// Reads an item of a TOML document; `None` for an empty one.
    pub(crate) fn read(item: &toml_edit::Item) -> Option<Spanned> {
        let span = item.span();
        match item {
            toml_edit::Item::None => None,
            toml_edit::Item::Value(value) => Some(Self::read_value(value)),
            toml_edit::Item::Table(table) => {
                Some(Spanned { value: Value::Table(Options::read(table, span.clone())), span })
            }
            toml_edit::Item::ArrayOfTables(tables) => {
                let read = |table: &toml_edit::Table| Spanned {
                    value: Value::Table(Options::read(table, table.span())),
                    span: table.span(),
                };
                Some(Spanned { value: Value::List(tables.iter().map(read).collect()), span })
            }
        }
    }

    fn read_value(value: &toml_edit::Value) -> Spanned {
        let span = value.span();
        let read = match value {
            toml_edit::Value::String(text) => Value::Text(text.value().clone()),
            toml_edit::Value::Integer(number) => Value::Integer(*number.value()),
            toml_edit::Value::Float(number) => {
                Value::Float(*number.value(), number.display_repr().into_owned())
            }
            toml_edit::Value::Boolean(boolean) => Value::Boolean(*boolean.value()),
            toml_edit::Value::Datetime(_) => Value::Time,
            toml_edit::Value::Array(list) => {
                Value::List(list.iter().map(Self::read_value).collect())
            }
            toml_edit::Value::InlineTable(table) => {
                Value::Table(Options::read(table, span.clone()))
            }
        };
        Spanned { value: read, span }
    }
}

impl fmt::Display for Value {
    /// Roughly in TOML notation, for a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(number) => write!(f, "{number}"),
            Value::Float(_, written) => f.write_str(written),
            Value::Boolean(boolean) => write!(f, "{boolean}"),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::List(list) => {
                let shown: Vec<_> = list.iter().map(|placed| placed.value.to_string()).collect();
                write!(f, "[{}]", shown.join(", "))
            }
            Value::Table(options) => write!(f, "{options:?}"),
            Value::Time => f.write_str(self.kind()),
        }
    }
}
