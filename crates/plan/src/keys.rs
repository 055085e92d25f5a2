//! The keys of a plan, for programs that help to write one: what each may be and what it means. Each list stands beside
//! the function that reads its keys, and shares their bounds and words.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// A key of a table of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    pub name: &'static str,
    pub form: Form,
    /// The default as a plan writes it; empty if there is none.
    pub default: String,
    /// What it sets, in one sentence without a full stop.
    pub meaning: Cow<'static, str>,
}

/// What the value of a key may be.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A whole number, also as a text such as `"10k"`.
    Integer(RangeInclusive<u64>),
    /// One of these, a list, or a text with commas.
    Integers(RangeInclusive<u64>),
    /// A number, also as a text.
    Number(RangeInclusive<f64>),
    /// One of these, a list, or a text with commas.
    Numbers(RangeInclusive<f64>),
    Flag,
    /// One of these words.
    Choice(Vec<&'static str>),
    /// A text, or a number that stands for it.
    Text,
    /// A text or a list of texts.
    Texts,
    /// A size in bytes, such as `"64MiB"`.
    Size,
    /// A length of time, such as `"10s"`.
    Time,
    /// A length of time, or `"off"`.
    Limit,
    /// A part of a whole, such as `"2%"` or `0.02`.
    Part,
    /// A table with these keys.
    Table(Vec<Key>),
    /// A table, or a list of tables, with these keys.
    Tables(Vec<Key>),
    /// A list of these.
    List(Vec<Form>),
    /// A table with names of the user's own, such as a server's settings.
    Settings,
    /// Any of these.
    Either(Vec<Form>),
    /// A form that its reader alone knows.
    Any,
}

impl Key {
    /// A key without a default.
    pub(crate) fn new(name: &'static str, form: Form, meaning: &'static str) -> Self {
        Self { name, form, default: String::new(), meaning: Cow::Borrowed(meaning) }
    }

    /// The same key with a default.
    pub(crate) fn or(mut self, default: impl Display) -> Self {
        self.default = default.to_string();
        self
    }
}

/// The words of choices.
pub(crate) fn words<T>(choices: &[(&'static str, T)]) -> Form {
    Form::Choice(choices.iter().map(|(word, _)| *word).collect())
}

impl crate::declared::OptionInfo {
    /// The option as a key of its table.
    pub fn key(&self) -> Key {
        let Self { name, default, meaning, form, .. } = self;
        Key { name, form: form.clone(), default: default.clone(), meaning: Cow::Borrowed(meaning) }
    }
}
