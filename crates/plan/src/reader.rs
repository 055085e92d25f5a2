//! Reads options one by one, remembers which keys were read, and reports all problems at the end.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::options::Entry;
use crate::value::{Spanned, Value};
use crate::{CpuList, Options, Problem, scrub, spelling, units};

/// Reads [`Options`]. A reader method returns the default for a key that is absent or wrong. [`OptionReader::finish`]
/// returns all wrong values and all keys that were never read.
#[derive(Debug)]
pub struct OptionReader<'a> {
    options: &'a Options,
    asked: Vec<String>,
    /// Keys that were refused, or accepted without effect.
    answered: Vec<String>,
    elsewhere: Option<(&'static [&'static str], &'static str)>,
    problems: Vec<Problem>,
}

impl Options {
    /// Starts reading; call [`OptionReader::finish`] at the end.
    pub fn reader(&self) -> OptionReader<'_> {
        OptionReader::new(self)
    }
}

impl<'a> OptionReader<'a> {
    fn new(options: &'a Options) -> Self {
        let (asked, answered, problems) = (Vec::new(), Vec::new(), Vec::new());
        Self { options, asked, answered, elsewhere: None, problems }
    }

    /// A whole number within `allowed`: `4`, `100_000`, `"100k"`, `"1M"`.
    pub fn integer(&mut self, name: &str, default: u64, allowed: RangeInclusive<u64>) -> u64 {
        self.integer_given(name, allowed).unwrap_or(default)
    }

    /// As [`OptionReader::integer`]; `None` when the key is absent.
    pub fn integer_given(&mut self, name: &str, allowed: RangeInclusive<u64>) -> Option<u64> {
        let entry = self.entry(name)?;
        self.accept(entry, as_count(&entry.placed.value), &allowed, "a whole number")
    }

    /// Distinct whole numbers: one, a list, or a text with commas. `None` when the key is absent or its value wrong.
    pub fn integers(&mut self, name: &str, allowed: RangeInclusive<u64>) -> Option<Vec<u64>> {
        self.list(name, as_count, &allowed, "a whole number")
    }

    /// Distinct numbers: one, a list, or a text with commas; also `"5k"`. `None` when the key is absent or its value
    /// wrong.
    pub fn floats(&mut self, name: &str, allowed: RangeInclusive<f64>) -> Option<Vec<f64>> {
        self.list(name, as_float, &allowed, "a number")
    }

    /// A number within `allowed`.
    pub fn float(&mut self, name: &str, default: f64, allowed: RangeInclusive<f64>) -> f64 {
        let Some(entry) = self.entry(name) else { return default };
        let seen = as_float(&entry.placed.value);
        self.accept(entry, seen, &allowed, "a number").unwrap_or(default)
    }

    pub fn text(&mut self, name: &str) -> Option<String> {
        let entry = self.entry(name)?;
        let text = entry.placed.value.as_text();
        if text.is_none() {
            self.wrong(entry, "a text", "put it in quotes".to_owned());
        }
        text
    }

    /// `true` or `false`; also `"on"`, `"off"`, `"yes"`, `"no"`, `1` and `0`.
    pub fn boolean(&mut self, name: &str, default: bool) -> bool {
        let Some(entry) = self.entry(name) else { return default };
        let seen = as_boolean(&entry.placed.value);
        if seen.is_none() {
            self.wrong(entry, "true or false", "allowed: true, false, \"on\", \"off\"".to_owned());
        }
        seen.unwrap_or(default)
    }

    /// A length of time with its unit: `"500ms"`, `"5s"`, `"2m"`, `"1h30m"`.
    pub fn duration(&mut self, name: &str, default: Duration) -> Duration {
        self.duration_given(name).unwrap_or(default)
    }

    /// As [`OptionReader::duration`]; `None` when the key is absent.
    pub fn duration_given(&mut self, name: &str) -> Option<Duration> {
        let entry = self.entry(name)?;
        let seen = entry.placed.value.as_text().and_then(|text| units::parse_duration(&text));
        if seen.is_none() {
            let help = match &entry.placed.value {
                Value::Integer(number) if *number > 0 => {
                    format!("add its unit, such as \"{number}s\" or \"{number}ms\"")
                }
                _ => "write it such as \"500ms\", \"5s\", \"2m\" or \"1h30m\"".to_owned(),
            };
            self.wrong(entry, "a length of time", help);
        }
        seen
    }

    /// A size in bytes: `4096`, `"64MiB"` (powers of 1,024), `"1GB"` (powers of 1,000).
    pub fn bytes(&mut self, name: &str, default: u64) -> u64 {
        let Some(entry) = self.entry(name) else { return default };
        let seen = entry.placed.value.as_text().and_then(|text| units::parse_bytes(&text));
        if seen.is_none() {
            let help = "write it such as 4096, \"64MiB\" or \"1GB\"".to_owned();
            self.wrong(entry, "a size in bytes", help);
        }
        seen.unwrap_or(default)
    }

    /// A set of CPUs: `"0"`, `"0-3"`, `"0,2-3"`.
    pub fn cpus(&mut self, name: &str) -> Option<CpuList> {
        let text = self.text(name)?;
        CpuList::parse(&text)
            .map_err(|why| {
                self.reject(name, why, "write a set such as \"0\", \"0-3\" or \"0,2-3\"");
            })
            .ok()
    }

    /// One of several words; case and the difference of `-` and `_` are ignored.
    pub fn choice<T: Copy>(&mut self, name: &str, default: T, choices: &[(&str, T)]) -> T {
        let Some(entry) = self.entry(name) else { return default };
        let words = as_words(&entry.placed.value);
        let chosen =
            choices.iter().find(|(choice, _)| words.iter().any(|word| same_word(word, choice)));
        if let Some((_, value)) = chosen {
            return *value;
        }
        let names: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
        let seen = words.first().cloned().unwrap_or_default();
        self.wrong(entry, "one of the choices", spelling::help_for(&seen, &names));
        default
    }

    /// A text or a list of texts; empty when the key is absent.
    pub fn texts(&mut self, name: &str) -> Vec<String> {
        let Some(entry) = self.entry(name) else { return Vec::new() };
        let texts: Option<Vec<String>> = match &entry.placed.value {
            Value::List(list) => list.iter().map(|placed| placed.value.as_text()).collect(),
            value => value.as_text().map(|text| vec![text]),
        };
        if texts.is_none() {
            let help = "write \"text\" or [\"text\", \"another\"]".to_owned();
            self.wrong(entry, "a text or a list of texts", help);
        }
        texts.unwrap_or_default()
    }

    /// A list of tables, each read by its own reader: `stalls = [{ at = "5s", for = "1s" }]`; empty when the key is
    /// absent.
    pub fn tables(&mut self, name: &str) -> Vec<Options> {
        let Some(entry) = self.entry(name) else { return Vec::new() };
        let as_table = |placed: &Spanned| match &placed.value {
            Value::Table(table) => Some(table.clone()),
            _ => None,
        };
        let tables: Option<Vec<Options>> = match &entry.placed.value {
            Value::List(list) => list.iter().map(as_table).collect(),
            _ => as_table(&entry.placed).map(|table| vec![table]),
        };
        if tables.is_none() {
            let help = format!("write {name} = [{{ key = \"value\" }}]");
            self.wrong(entry, "a list of tables", help);
        }
        tables.unwrap_or_default()
    }

    /// Names and values of a table that the owner passes on unchanged, such as a server's own settings:
    /// `settings = { max_connections = 500 }`. Names keep `_`; empty when the key is absent.
    pub fn settings(&mut self, name: &str) -> Vec<(String, String)> {
        let Some(entry) = self.entry(name) else { return Vec::new() };
        let Value::Table(table) = &entry.placed.value else {
            let help = format!("write {name} = {{ name = \"value\" }}");
            self.wrong(entry, "a table", help);
            return Vec::new();
        };
        table.entries.iter().filter_map(|setting| self.setting(setting)).collect()
    }

    fn setting(&mut self, setting: &Entry) -> Option<(String, String)> {
        let text = match &setting.placed.value {
            Value::Boolean(true) => Some("ON".to_owned()),
            Value::Boolean(false) => Some("OFF".to_owned()),
            value => value.as_text(),
        };
        if text.is_none() {
            self.wrong(setting, "a text, a number or a boolean", "write one value".to_owned());
        }
        text.map(|text| (setting.key.clone(), text))
    }

    /// Whether the plan has a value for `name`. Marks the key as read.
    pub fn is_given(&mut self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// Keys, as they were written, that have neither been read nor answered so far.
    pub fn unasked(&self) -> Vec<String> {
        let is_known = |key| self.asked.contains(key) || self.answered.contains(key);
        let unasked = self.options.entries.iter().filter(|entry| !is_known(&entry.key));
        unasked.map(|entry| entry.written.clone()).collect()
    }

    /// The value of `name` as text, if the plan has one. The key does not count as read.
    pub fn peek(&self, name: &str) -> Option<String> {
        let entry = self.options.find(name)?;
        Some(entry.placed.value.as_text().unwrap_or_else(|| entry.placed.value.to_string()))
    }

    /// Reports a problem that only the owner of the options can detect, at the value of `name` (or at the table when
    /// the key is absent).
    pub fn reject(&mut self, name: &str, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(self.options.problem(name, message, help));
    }

    /// Reports a known but unsupported key, if the plan has it. Errors about other keys do not list it as allowed.
    pub fn refuse(&mut self, name: &str, message: impl Into<String>, help: impl Into<String>) {
        if self.options.find(name).is_some() {
            self.answered.push(name.to_owned());
            self.reject(name, message, help);
        }
    }

    /// Accepts a known key that changes nothing, for the reason `why`, and returns a note that says so, with the key's
    /// place if it is in a file. Errors about other keys do not list it as allowed.
    pub fn disregard(&mut self, name: &str, why: &str) -> String {
        self.answered.push(name.to_owned());
        let Some(entry) = self.options.find(name) else { return String::new() };
        entry.told(format!("`{}` changes nothing here ({why})", entry.written))
    }

    /// Finishes reading.
    ///
    /// # Errors
    /// In the order of the plan: every wrong value, every duplicate key, and every key that was never read, with the
    /// nearest valid key.
    pub fn finish(mut self) -> Result<(), Vec<Problem>> {
        let mut allowed: Vec<&str> = self.asked.iter().map(String::as_str).collect();
        allowed.sort_unstable();
        let keys = self.options.entries.iter().enumerate();
        let keys = keys.filter(|(_, entry)| !self.answered.contains(&entry.key));
        let wrong = keys.filter_map(|(index, entry)| self.wrong_key(index, entry, &allowed));
        let wrong: Vec<Problem> = wrong.collect();
        self.problems.extend(wrong);
        self.problems.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        if self.problems.is_empty() { Ok(()) } else { Err(self.problems) }
    }

    /// A key that was never read, or that was set before in another spelling.
    fn wrong_key(&self, index: usize, entry: &Entry, allowed: &[&str]) -> Option<Problem> {
        let key = entry.key.as_str();
        let is_known = allowed.contains(&key);
        let (message, help) = if !is_known {
            let help = match self.elsewhere {
                Some((keys, place)) if keys.contains(&key) => format!("`{key}` stands {place}"),
                _ => spelling::help_for(key, allowed),
            };
            (format!("unknown key `{}`", entry.written), help)
        } else if self.options.entries[..index].iter().any(|other| other.key == key) {
            (format!("`{key}` is set twice"), "keep one".to_owned())
        } else {
            return None;
        };
        let span = entry.key_span.clone().or_else(|| entry.placed.span.clone());
        Some(Problem { span, message: entry.told(message), help: Some(help) })
    }

    pub(crate) fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    /// Problems so far, without a check for keys that were never read.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// Keys that are valid in another table, with a hint for users who write them here.
    pub(crate) fn belongs_elsewhere(&mut self, keys: &'static [&'static str], place: &'static str) {
        self.elsewhere = Some((keys, place));
    }

    /// The raw value of `name`, for keys that the plan itself reads.
    pub(crate) fn placed(&mut self, name: &str) -> Option<&'a Spanned> {
        self.entry(name).map(|entry| &entry.placed)
    }

    /// The table of `name`, for keys that the plan itself reads; a value of another kind is a problem.
    pub(crate) fn table(&mut self, name: &str, problems: &mut Vec<Problem>) -> Option<Options> {
        let placed = self.placed(name)?;
        if let Value::Table(table) = &placed.value {
            return Some(table.clone());
        }
        problems.push(Problem {
            span: placed.span.clone(),
            message: format!("`{name}` is {}, not a table", placed.value.kind()),
            help: Some(format!("write its keys below a [{name}] header")),
        });
        None
    }

    fn entry(&mut self, name: &str) -> Option<&'a Entry> {
        if !self.asked.iter().any(|asked| asked == name) {
            self.asked.push(name.to_owned());
        }
        self.options.find(name)
    }

    /// Checks a number against the allowed range.
    fn accept<T: PartialOrd + Display>(
        &mut self,
        entry: &Entry,
        seen: Option<T>,
        allowed: &RangeInclusive<T>,
        wanted: &str,
    ) -> Option<T> {
        self.accept_at(entry, &entry.placed, seen, allowed, wanted)
    }

    fn accept_at<T: PartialOrd + Display>(
        &mut self,
        entry: &Entry,
        placed: &Spanned,
        seen: Option<T>,
        allowed: &RangeInclusive<T>,
        wanted: &str,
    ) -> Option<T> {
        let key = &entry.key;
        let shown = scrub::scrub_setting(key, &placed.value.to_string());
        let meant = seen.is_none().then(|| count_meant(&placed.value)).flatten();
        let message = match seen {
            Some(number) if allowed.contains(&number) => return Some(number),
            Some(number) => format!("`{key}` is {number}, out of range"),
            None => format!("`{key}` is {shown}, not {wanted}"),
        };
        let meant = meant.map_or(String::new(), |count| format!("did you mean `{count}`? "));
        let help = Some(format!("{meant}allowed: {}", show_range(allowed)));
        let message = entry.told(message);
        self.problems.push(Problem { span: placed.span.clone(), message, help });
        None
    }

    /// Reads distinct numbers.
    fn list<T: PartialOrd + Display + Copy>(
        &mut self,
        name: &str,
        read: fn(&Value) -> Option<T>,
        allowed: &RangeInclusive<T>,
        wanted: &str,
    ) -> Option<Vec<T>> {
        let entry = self.entry(name)?;
        let (mut numbers, items) = (Vec::new(), items(&entry.placed));
        for placed in &items {
            let Some(number) = self.accept_at(entry, placed, read(&placed.value), allowed, wanted)
            else {
                self.suggest_list(&placed.value);
                continue;
            };
            if numbers.contains(&number) {
                let message = format!("`{name}` has {number} twice");
                let help = Some("give each once".to_owned());
                self.problems.push(Problem { span: placed.span.clone(), message, help });
            }
            numbers.push(number);
        }
        if items.is_empty() {
            self.reject(name, format!("`{name}` is empty"), "give at least one");
        }
        (!numbers.is_empty()).then_some(numbers)
    }

    /// Adds to the last problem, which is about this value of a list, the list that it means.
    fn suggest_list(&mut self, value: &Value) {
        let Value::Text(text) = value else { return };
        if let (Some(list), Some(problem)) = (units::list_meant(text), self.problems.last_mut()) {
            let help = problem.help.take().unwrap_or_default();
            problem.help = Some(format!("a list has each number: `{list}`; {help}"));
        }
    }

    fn wrong(&mut self, entry: &Entry, wanted: &str, help: String) {
        let shown = scrub::scrub_setting(&entry.key, &entry.placed.value.to_string());
        let message = entry.told(format!("`{}` is {shown}, not {wanted}", entry.key));
        self.problems.push(Problem { span: entry.placed.span.clone(), message, help: Some(help) });
    }
}

/// The items of a list, of a text with commas, or a single value.
fn items(placed: &Spanned) -> Vec<Spanned> {
    match &placed.value {
        Value::List(list) => list.clone(),
        Value::Text(text) => {
            let part = |part: &str| Spanned {
                value: Value::Text(part.trim().to_owned()),
                span: placed.span.clone(),
            };
            text.split(',').map(part).collect()
        }
        _ => vec![placed.clone()],
    }
}

fn show_range<T: Display>(allowed: &RangeInclusive<T>) -> String {
    let (least, most) = (allowed.start().to_string(), allowed.end().to_string());
    if [u64::MAX.to_string(), f64::INFINITY.to_string(), f64::MAX.to_string()].contains(&most) {
        format!("{least} or more")
    } else {
        format!("{least} to {most}")
    }
}

fn count_meant(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => units::count_meant(text),
        _ => None,
    }
}

fn as_count(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        Value::Text(text) => units::parse_count(text),
        _ => None,
    }
}

fn as_float(value: &Value) -> Option<f64> {
    match value {
        #[expect(clippy::cast_precision_loss, reason = "a number of a plan is a human one")]
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number, _) => Some(*number),
        #[expect(clippy::cast_precision_loss, reason = "a number of a plan is a human one")]
        Value::Text(text) => text
            .trim()
            .parse()
            .ok()
            .or_else(|| units::parse_count(text).map(|number| number as f64)),
        _ => None,
    }
}

fn as_boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Boolean(boolean) => Some(*boolean),
        Value::Integer(1) => Some(true),
        Value::Integer(0) => Some(false),
        Value::Text(text) => match text.to_lowercase().as_str() {
            "on" | "true" | "yes" | "1" => Some(true),
            "off" | "false" | "no" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The words for a choice; `true` also means `on`, `false` also `off` and `none`.
fn as_words(value: &Value) -> Vec<String> {
    match value {
        Value::Boolean(true) => vec!["true".to_owned(), "on".to_owned()],
        Value::Boolean(false) => vec!["false".to_owned(), "off".to_owned(), "none".to_owned()],
        value => value.as_text().into_iter().collect(),
    }
}

fn same_word(word: &str, choice: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['-', ' '], "_");
    plain(word) == plain(choice)
}

#[cfg(test)]
mod tests;
