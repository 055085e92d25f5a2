//! All properties of a workload together: the published file's, those of files, and the options of the
//! plan, each later one above the earlier ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use plan::{OptionReader, Options, Problem};

use super::preset::Preset;
use super::properties;

/// Reads properties, wherever they stand; what is wrong with them comes out at the end.
pub(super) struct Sheet<'a> {
    reader: OptionReader<'a>,
    /// Keys that the plan says.
    given: BTreeSet<String>,
    lines: BTreeMap<String, Line>,
    asked: BTreeSet<&'static str>,
    problems: Vec<Problem>,
}

/// A property that does not come from the plan.
struct Line {
    value: String,
    /// `FILE:LINE`
    place: String,
}

impl<'a> Sheet<'a> {
    /// The properties of `preset` and of the files that the option `properties` names, counted from
    /// `folder`, below the options.
    pub(super) fn new(preset: Preset, options: &'a Options, folder: &Path) -> Self {
        let mut reader = options.reader();
        let given = options.shown().into_iter().map(|(name, _)| name).collect();
        let files = reader.texts("properties");
        let lines = preset.properties().into_iter().map(|(name, value)| {
            let place = format!("ycsb/{}", preset.name());
            (name.to_owned(), Line { value: value.to_owned(), place })
        });
        let lines = lines.collect();
        let mut sheet = Self { reader, given, lines, asked: BTreeSet::new(), problems: Vec::new() };
        files.iter().for_each(|file| sheet.add_file(file, folder));
        sheet
    }

    fn add_file(&mut self, file: &str, folder: &Path) {
        match fs::read_to_string(folder.join(file)) {
            Ok(text) => self.lines.extend(properties::parse(&text).into_iter().map(|property| {
                let place = format!("{file}:{}", property.line);
                (property.name, Line { value: property.value, place })
            })),
            Err(error) => {
                let message = format!("cannot read the properties of {file}: {error}");
                let help = "`properties` takes files such as YCSB's workloads/workloada; a relative \
                            path counts from the plan";
                self.reader.reject("properties", message, help);
            }
        }
    }

    /// The plan's own options, for what is no property of YCSB's.
    pub(super) fn options(&mut self) -> &mut OptionReader<'a> {
        &mut self.reader
    }

    /// Whether a property is said anywhere.
    pub(super) fn is_given(&mut self, name: &'static str) -> bool {
        self.in_plan(name).is_some() || self.line(name).is_some()
    }

    /// The name that the plan has a property by, when it says it: a dot may be written as `_`, for TOML
    /// gives dots another meaning.
    fn in_plan(&mut self, name: &'static str) -> Option<String> {
        self.asked.insert(name);
        let usual = name.replace('.', "_");
        if self.reader.is_given(&usual) {
            return Some(usual);
        }
        (self.given.contains(name) && self.reader.is_given(name)).then(|| name.to_owned())
    }

    fn line(&self, name: &'static str) -> Option<&Line> {
        self.lines.get(name)
    }

    /// A whole number.
    pub(super) fn integer(
        &mut self,
        name: &'static str,
        default: u64,
        allowed: RangeInclusive<u64>,
    ) -> u64 {
        let given = self.in_plan(name);
        let Some(spelling) = given else {
            return self
                .number(name, &allowed, "a whole number", plan::parse_count)
                .unwrap_or(default);
        };
        self.reader.integer(&spelling, default, allowed)
    }

    /// A number.
    pub(super) fn float(
        &mut self,
        name: &'static str,
        default: f64,
        allowed: RangeInclusive<f64>,
    ) -> f64 {
        let Some(spelling) = self.in_plan(name) else {
            let parse = |text: &str| text.parse().ok();
            return self.number(name, &allowed, "a number", parse).unwrap_or(default);
        };
        self.reader.float(&spelling, default, allowed)
    }

    fn number<T: PartialOrd + Display>(
        &mut self,
        name: &'static str,
        allowed: &RangeInclusive<T>,
        wanted: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let line = self.line(name)?;
        match parse(&line.value) {
            Some(number) if allowed.contains(&number) => Some(number),
            _ => {
                let message = format!("`{name}` is {:?}, not {wanted} that is allowed", line.value);
                let help = format!("allowed: {} to {}", allowed.start(), allowed.end());
                self.wrong(name, message, help);
                None
            }
        }
    }

    /// `true` or `false`.
    pub(super) fn boolean(&mut self, name: &'static str, default: bool) -> bool {
        if self.in_plan(name).is_some() {
            return self.reader.boolean(name, default);
        }
        let Some(line) = self.line(name) else { return default };
        match line.value.to_ascii_lowercase().as_str() {
            "true" => true,
            "false" => false,
            _ => {
                let message = format!("`{name}` is {:?}, not true or false", line.value);
                self.wrong(name, message, "allowed: true, false");
                default
            }
        }
    }

    /// One of several words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        default: T,
        choices: &[(&'static str, T)],
    ) -> T {
        if self.in_plan(name).is_some() {
            return self.reader.choice(name, default, choices);
        }
        let Some(line) = self.line(name) else { return default };
        let chosen = choices.iter().find(|(word, _)| line.value.eq_ignore_ascii_case(word));
        if let Some((_, value)) = chosen {
            return *value;
        }
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let message = format!("`{name}` is {:?}, not one of the choices", line.value);
        self.wrong(name, message, format!("allowed: {}", words.join(", ")));
        default
    }

    /// A text; `None` when nobody says.
    pub(super) fn text(&mut self, name: &'static str) -> Option<String> {
        if self.in_plan(name).is_some() {
            return self.reader.text(name);
        }
        self.line(name).map(|line| line.value.clone())
    }

    /// Reports something wrong where the property stands.
    pub(super) fn wrong(
        &mut self,
        name: &'static str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        if let Some(spelling) = self.in_plan(name) {
            self.reader.reject(&spelling, message, help);
            return;
        }
        let message = match self.lines.get(name) {
            Some(line) => format!("{}: {}", line.place, message.into()),
            None => message.into(),
        };
        self.problems.push(Problem { span: None, message, help: Some(help.into()) });
    }

    /// Refuses a property that means something elsewhere, or nothing here.
    pub(super) fn refuse(&mut self, name: &'static str, help: &str) {
        // Asking the plan for what it does not say would offer it to who misspells something else.
        let is_in_plan = self.given.contains(name) || self.given.contains(&name.replace('.', "_"));
        if is_in_plan || self.lines.contains_key(name) {
            self.asked.insert(name);
            self.wrong(name, format!("`{name}` is not offered here"), help);
        }
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// Everything that was wrong, properties that are not known with the nearest that are.
    pub(super) fn finish(mut self) -> Result<(), Vec<Problem>> {
        let known: Vec<&str> = self.asked.iter().copied().collect();
        for (name, line) in &self.lines {
            if !self.asked.contains(name.as_str()) {
                let (message, help) = unknown(name, &known);
                let message = format!("{}: {message}", line.place);
                self.problems.push(Problem { span: None, message, help: Some(help) });
            }
        }
        if let Err(found) = self.reader.finish() {
            self.problems.extend(found);
        }
        if self.problems.is_empty() { Ok(()) } else { Err(self.problems) }
    }
}

/// How the names begin of what bindings to databases read: go-ycsb's for MySQL, and YCSB's JDBC.
const OF_BINDINGS: [&str; 3] = ["mysql.", "jdbc.", "db."];

/// What is wrong with a property that nobody asked for, and what to do.
fn unknown(name: &str, known: &[&str]) -> (String, String) {
    let place = "where the server is and how to log in stands under [systems], or after --system";
    if OF_BINDINGS.iter().any(|beginning| name.starts_with(beginning)) {
        return (format!("`{name}` is not offered here"), place.to_owned());
    }
    let help = match plan::nearest(name, known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("it is no property of YCSB's core workload; {place}"),
    };
    (format!("unknown property `{name}`"), help)
}
