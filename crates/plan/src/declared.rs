//! Options of workloads and systems. Each is declared once: its help text and its reader share the name and the
//! default.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::OptionReader;
use crate::keys::{Form, words};

/// An option as `dyno workloads` and `dyno systems` show it.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionInfo {
    /// Its name in a plan; on the command line with `-` for `_`.
    pub name: &'static str,
    /// The default; empty if there is none.
    pub default: String,
    pub meaning: &'static str,
    /// Whether its value on a command line is a text as it stands, never TOML.
    pub is_text: bool,
    /// What its value may be.
    pub form: Form,
}

impl OptionInfo {
    fn new(
        name: &'static str,
        default: impl Into<String>,
        meaning: &'static str,
        form: Form,
    ) -> Self {
        Self { name, default: default.into(), meaning, is_text: false, form }
    }
}

/// An option that help texts can list.
pub trait Described: Sync {
    /// Its name, default and meaning.
    fn info(&self) -> OptionInfo;
}

/// Options in the order of their help.
pub type OptionList = &'static [&'static dyn Described];

/// The options as help shows them.
pub fn infos(options: OptionList) -> Vec<OptionInfo> {
    options.iter().map(|option| option.info()).collect()
}

/// A number within bounds.
pub struct Number<T> {
    /// Its name in a plan.
    pub name: &'static str,
    default: Option<T>,
    allowed: RangeInclusive<T>,
    meaning: &'static str,
}

/// A number with a default.
pub const fn number<T: Copy>(
    name: &'static str,
    default: T,
    allowed: RangeInclusive<T>,
    meaning: &'static str,
) -> Number<T> {
    Number { name, default: Some(default), allowed, meaning }
}

/// A number whose default depends on other options.
pub const fn number_without_default<T: Copy>(
    name: &'static str,
    allowed: RangeInclusive<T>,
    meaning: &'static str,
) -> Number<T> {
    Number { name, default: None, allowed, meaning }
}

impl Number<u64> {
    /// The value in the plan, or the default.
    pub fn read(&self, reader: &mut OptionReader<'_>) -> u64 {
        self.read_or(reader, self.default.unwrap_or_default())
    }

    /// The same, with `default` for an option without a default of its own.
    pub fn read_or(&self, reader: &mut OptionReader<'_>, default: u64) -> u64 {
        self.read_given(reader).unwrap_or(default)
    }

    /// The same, with `None` where the option is absent.
    pub fn read_given(&self, reader: &mut OptionReader<'_>) -> Option<u64> {
        reader.integer_given(self.name, self.allowed.clone())
    }
}

impl Number<f64> {
    /// The value in the plan, or the default.
    pub fn read(&self, reader: &mut OptionReader<'_>) -> f64 {
        reader.float(self.name, self.default.unwrap_or_default(), self.allowed.clone())
    }
}

impl Described for Number<u64> {
    fn info(&self) -> OptionInfo {
        let default = self.default.as_ref().map(ToString::to_string).unwrap_or_default();
        OptionInfo::new(self.name, default, self.meaning, Form::Integer(self.allowed.clone()))
    }
}

impl Described for Number<f64> {
    fn info(&self) -> OptionInfo {
        let default = self.default.as_ref().map(ToString::to_string).unwrap_or_default();
        OptionInfo::new(self.name, default, self.meaning, Form::Number(self.allowed.clone()))
    }
}

/// Distinct whole numbers within bounds, without a default.
pub struct Numbers {
    /// Its name in a plan.
    pub name: &'static str,
    allowed: RangeInclusive<u64>,
    meaning: &'static str,
}

/// Distinct whole numbers within bounds, without a default.
pub const fn numbers(
    name: &'static str,
    allowed: RangeInclusive<u64>,
    meaning: &'static str,
) -> Numbers {
    Numbers { name, allowed, meaning }
}

impl Numbers {
    /// The numbers in the plan's order; `None` where the option is absent or wrong.
    pub fn read_given(&self, reader: &mut OptionReader<'_>) -> Option<Vec<u64>> {
        reader.integers(self.name, self.allowed.clone())
    }
}

impl Described for Numbers {
    fn info(&self) -> OptionInfo {
        OptionInfo::new(self.name, "", self.meaning, Form::Integers(self.allowed.clone()))
    }
}

/// `true` or `false`.
pub struct Flag {
    /// Its name in a plan.
    pub name: &'static str,
    default: Option<bool>,
    meaning: &'static str,
}

/// `true` or `false`.
pub const fn flag(name: &'static str, default: bool, meaning: &'static str) -> Flag {
    Flag { name, default: Some(default), meaning }
}

/// The same where the system decides when the plan does not.
pub const fn flag_without_default(name: &'static str, meaning: &'static str) -> Flag {
    Flag { name, default: None, meaning }
}

impl Flag {
    /// The value in the plan, or the default.
    pub fn read(&self, reader: &mut OptionReader<'_>) -> bool {
        reader.boolean(self.name, self.default.unwrap_or_default())
    }

    /// The same, with `None` where the option is absent.
    pub fn read_given(&self, reader: &mut OptionReader<'_>) -> Option<bool> {
        reader.is_given(self.name).then(|| self.read(reader))
    }
}

impl Described for Flag {
    fn info(&self) -> OptionInfo {
        OptionInfo::new(
            self.name,
            self.default.map(|default| default.to_string()).unwrap_or_default(),
            self.meaning,
            Form::Flag,
        )
    }
}

/// One of several words.
pub struct Choice<T: 'static> {
    /// Its name in a plan.
    pub name: &'static str,
    /// The default's word (empty if it has no word) and its value.
    default: (&'static str, T),
    choices: &'static [(&'static str, T)],
    meaning: &'static str,
}

/// One of several words; the word of the default is empty if no word stands for it.
pub const fn choice<T: Copy>(
    name: &'static str,
    default: (&'static str, T),
    choices: &'static [(&'static str, T)],
    meaning: &'static str,
) -> Choice<T> {
    Choice { name, default, choices, meaning }
}

impl<T: Copy> Choice<T> {
    /// The value in the plan, or the default.
    pub fn read(&self, reader: &mut OptionReader<'_>) -> T {
        reader.choice(self.name, self.default.1, self.choices)
    }
}

impl<T: Sync> Described for Choice<T> {
    fn info(&self) -> OptionInfo {
        OptionInfo::new(self.name, self.default.0, self.meaning, words(self.choices))
    }
}

/// A text. On a command line it is taken as it stands.
pub struct Text {
    /// Its name in a plan.
    pub name: &'static str,
    /// The default; empty if there is none.
    pub default: &'static str,
    meaning: &'static str,
}

/// A text. On a command line it is taken as it stands.
pub const fn text(name: &'static str, default: &'static str, meaning: &'static str) -> Text {
    Text { name, default, meaning }
}

impl Text {
    /// The value in the plan, or the default.
    pub fn read(&self, reader: &mut OptionReader<'_>) -> String {
        reader.text(self.name).unwrap_or_else(|| self.default.to_owned())
    }
}

impl Described for Text {
    fn info(&self) -> OptionInfo {
        OptionInfo {
            is_text: true,
            ..OptionInfo::new(self.name, self.default, self.meaning, Form::Text)
        }
    }
}

/// A text, or several.
pub struct Texts {
    /// Its name in a plan.
    pub name: &'static str,
    /// The default; empty if there is none.
    pub default: &'static str,
    meaning: &'static str,
}

/// A text, or several.
pub const fn texts(name: &'static str, default: &'static str, meaning: &'static str) -> Texts {
    Texts { name, default, meaning }
}

impl Texts {
    /// All texts in the plan, split at commas; empty if there are none.
    pub fn read_list(&self, reader: &mut OptionReader<'_>) -> Vec<String> {
        let given = reader.texts(self.name);
        let words = given.iter().flat_map(|text| text.split(',')).map(str::trim);
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }
}

impl Described for Texts {
    fn info(&self) -> OptionInfo {
        OptionInfo::new(self.name, self.default, self.meaning, Form::Texts)
    }
}

/// A size in bytes.
pub struct Size {
    /// Its name in a plan.
    pub name: &'static str,
    /// As text for help and messages, and in bytes.
    pub default: (&'static str, u64),
    /// As text for help and messages, and in bytes.
    pub allowed: (&'static str, RangeInclusive<u64>),
    /// What it sets, in one line.
    pub meaning: &'static str,
}

impl Size {
    /// The value in the plan, or the default.
    pub fn read(&self, reader: &mut OptionReader<'_>) -> u64 {
        let Self { name, default: (_, default), allowed: (told, allowed), .. } = self;
        let bytes = reader.bytes(name, *default);
        if !allowed.contains(&bytes) {
            let message = format!("`{name}` is {bytes}, out of range");
            reader.reject(name, message, format!("allowed: {told}"));
        }
        bytes
    }
}

impl Described for Size {
    fn info(&self) -> OptionInfo {
        OptionInfo::new(self.name, self.default.0, self.meaning, Form::Size)
    }
}

/// A length of time.
pub struct Time {
    /// Its name in a plan.
    pub name: &'static str,
    /// As text for help, and as it is.
    default: (&'static str, Duration),
    meaning: &'static str,
}

/// A length of time.
pub const fn time(
    name: &'static str,
    default: (&'static str, Duration),
    meaning: &'static str,
) -> Time {
    Time { name, default, meaning }
}

impl Time {
    /// The value in the plan, or the default.
    pub fn read(&self, reader: &mut OptionReader<'_>) -> Duration {
        reader.duration(self.name, self.default.1)
    }
}

impl Described for Time {
    fn info(&self) -> OptionInfo {
        OptionInfo::new(self.name, self.default.0, self.meaning, Form::Time)
    }
}

/// An option whose reader knows its form and its default, which is in words here.
pub struct Named {
    /// Its name in a plan.
    pub name: &'static str,
    default: &'static str,
    meaning: &'static str,
}

/// An option whose reader knows its form and its default, which is in words here.
pub const fn named(name: &'static str, default: &'static str, meaning: &'static str) -> Named {
    Named { name, default, meaning }
}

impl Described for Named {
    fn info(&self) -> OptionInfo {
        OptionInfo::new(self.name, self.default, self.meaning, Form::Any)
    }
}
