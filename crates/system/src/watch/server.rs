//! Asks a server for its metrics, and keeps what has changed since the last answer.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::time::Duration;

use driver::ServerFigures;
use measure::{Answer, Nanos, NewSeries};

use super::exposition::{Line, lines};
use super::host::LOOK_PERIOD;
use super::left_out::LeftOut;
use super::sql_source::SqlSource;
use super::stores;
use crate::http;

/// The size limit of an answer, bytes.
const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The size limit of a list of stores, bytes: one takes about 1 kB. In memory, JSON takes up to 40 times its length.
const LIST_BYTES_MAX: u64 = 2 * 1024 * 1024;
const SERIES_MAX: usize = 200_000;
/// The longest name with labels, or name of a family, bytes.
const NAME_BYTES_MAX: usize = 16 * 1024;
/// The most bytes of all names, as the record has them. A file of a record may always unpack to 16 MiB.
const NAMES_BYTES_MAX: usize = 12 * 1024 * 1024;
/// The most bytes of what is new in one answer, as the record has it: in a line, of which readers take 16 MiB. The rest
/// comes with the next answer.
const ANSWER_BYTES_MAX: usize = 12 * 1024 * 1024;
/// The most gauges that are kept though they do not change.
const GAUGES_MAX: usize = 5_000;

#[derive(Debug)]
pub struct ServerWatch {
    source: Source,
    known: HashMap<String, KnownSeries>,
    /// The bytes of the names of all families and known series, as the record has them.
    names_bytes: usize,
    /// The bytes of what is new in the current answer.
    answer_bytes: usize,
    left_out: LeftOut,
    numbered: usize,
    first_answer_ns: Option<Nanos>,
}

/// Where figures come from.
#[derive(Debug)]
enum Source {
    /// A page of metrics.
    Page {
        url: String,
        agent: ureq::Agent,
    },
    Database(Box<SqlSource>),
}

#[derive(Clone, Copy, Debug)]
struct KnownSeries {
    first: f64,
    first_ns: Nanos,
    last: f64,
    /// Its number, once a value of it is kept.
    number: Option<usize>,
}

/// The text of one page; waits at most `bound` for it.
///
/// # Errors
/// Why there was no answer, without a password in the text.
pub fn read_page(url: &str, bound: Duration) -> Result<String, String> {
    fetch(&http::agent(bound), url, BODY_BYTES_MAX)
}

/// What is at an address, of at most so many bytes; waits at most `bound` for it.
///
/// # Errors
/// As [`read_page`].
pub(crate) fn read_bytes(url: &str, bound: Duration, bytes_max: u64) -> Result<Vec<u8>, String> {
    fetch_bytes(&http::agent(bound), url, bytes_max)
}

impl ServerWatch {
    /// Prepares to ask at `url`, with at most `bound` for each answer, including the connection.
    pub fn new(url: &str, bound: Duration) -> Self {
        Self::of(Source::Page { url: url.to_owned(), agent: http::agent(bound) })
    }

    /// Prepares to ask a database by SQL, with at most `bound` for each answer.
    ///
    /// # Errors
    /// When the kernel has no event loop.
    pub fn by_sql(figures: ServerFigures) -> io::Result<Self> {
        Ok(Self::of(Source::Database(Box::new(SqlSource::new(figures)?))))
    }

    fn of(source: Source) -> Self {
        Self {
            source,
            known: HashMap::new(),
            names_bytes: 0,
            answer_bytes: 0,
            left_out: LeftOut::default(),
            numbered: 0,
            first_answer_ns: None,
        }
    }

    /// Asks, and returns what is new: the first time every gauge, later every series whose value has changed.
    ///
    /// # Errors
    /// Why there was no answer, without a password in the text.
    pub fn ask(&mut self, clock: impl Fn() -> Nanos) -> Result<Answer, String> {
        let text = match &mut self.source {
            Source::Database(database) => database.read()?,
            Source::Page { url, agent } => {
                let mut text = fetch(agent, url, BODY_BYTES_MAX)?;
                if let Some(url) = stores::url(&text, url) {
                    // Without the list, the stores are those that the metrics mention.
                    let list = fetch(agent, &url, LIST_BYTES_MAX);
                    match list.and_then(|list| stores::exposition(&list)) {
                        Ok(stores) => text.push_str(&stores),
                        Err(why) => self.left_out.add_list(&why),
                    }
                }
                text
            }
        };
        self.take_in(&text, clock())
    }

    /// Looks at the state of the server between two questions, where that can be seen. Returns the time until the next
    /// look; `None` when there is nothing to look at.
    pub fn sample(&mut self) -> Option<Duration> {
        match &mut self.source {
            Source::Page { .. } => None,
            Source::Database(database) => {
                database.sample();
                Some(LOOK_PERIOD)
            }
        }
    }

    /// Ends the connection, if there is one.
    pub fn close(self) {
        if let Source::Database(database) = self.source {
            database.close();
        }
    }

    /// What was left out of its answers, in words; `None` when all of it was taken in.
    pub fn left_out(&self) -> Option<String> {
        let remarks = match &self.source {
            Source::Page { .. } => Vec::new(),
            Source::Database(database) => database.remarks(),
        };
        let words: Vec<String> = remarks.into_iter().chain(self.left_out.words()).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    pub(super) fn take_in(&mut self, text: &str, at_ns: Nanos) -> Result<Answer, String> {
        let mut answer = Answer { at_ns, ..Answer::default() };
        let mut families = BTreeSet::new();
        let mut gauge = "";
        let mut figures = 0;
        let mut bucket_below = None;
        self.answer_bytes = 0;
        for line in lines(text) {
            match line {
                Line::Type { family, kind } => {
                    if self.first_answer_ns.is_none() && self.takes_name(family) {
                        self.answer_bytes += written_text(family);
                        families.insert(family);
                    }
                    gauge = if kind == "gauge" { family } else { "" };
                }
                Line::Sample { key, name, value } => {
                    figures += 1;
                    let is_gauge = name == gauge && answer.new.len() < GAUGES_MAX;
                    let change = self.take_in_one(key, value, is_gauge, &mut answer);
                    if let (SeriesChange::First, Some(below)) = (change, bucket_below) {
                        self.number(below, &mut answer);
                    }
                    bucket_below = Some(key).filter(|_| is_lower_bucket(name, key));
                }
            }
        }
        if figures == 0 {
            return Err("there are no figures in its answer".to_owned());
        }
        if self.first_answer_ns.is_none() {
            self.first_answer_ns = Some(at_ns);
            answer.families = families.into_iter().map(str::to_owned).collect();
        }
        Ok(answer)
    }

    fn take_in_one(
        &mut self,
        key: &str,
        value: f64,
        is_gauge: bool,
        answer: &mut Answer,
    ) -> SeriesChange {
        let at_ns = answer.at_ns;
        if !self.known.contains_key(key) {
            if !self.takes_name(key) {
                return SeriesChange::Nothing;
            }
            // A counter that appears only now was zero since the first answer: all its counts happened since the
            // answer before this one.
            let (first, first_ns) = match self.first_answer_ns {
                Some(first_answer_ns) if !is_gauge => (0.0, first_answer_ns),
                _ => (value, at_ns),
            };
            let known = KnownSeries { first, first_ns, last: first, number: None };
            self.known.insert(key.to_owned(), known);
        }
        let Some(known) = self.known.get_mut(key) else { return SeriesChange::Nothing };
        let is_changed = known.last.to_bits() != value.to_bits();
        let is_first = known.number.is_none();
        let is_wanted = is_changed || (is_gauge && is_first);
        if !is_wanted || self.answer_bytes > ANSWER_BYTES_MAX {
            return SeriesChange::Nothing;
        }
        known.last = value;
        if let (Some(number), true) = (self.number(key, answer), is_changed) {
            self.answer_bytes += written_number(value) + NUMBER_BYTES;
            answer.values.push((number, value));
        }
        if is_first { SeriesChange::First } else { SeriesChange::Another }
    }

    /// Whether there is room for another name; it takes its place now.
    fn takes_name(&mut self, name: &str) -> bool {
        if name.len() > NAME_BYTES_MAX {
            self.left_out.add_long_name(name);
            return false;
        }
        let names_bytes = self.names_bytes + written_text(name);
        if self.known.len() >= SERIES_MAX || names_bytes > NAMES_BYTES_MAX {
            self.left_out.add_too_many();
            return false;
        }
        self.names_bytes = names_bytes;
        true
    }

    /// The number of a series; it gets one now if it has none.
    fn number(&mut self, key: &str, answer: &mut Answer) -> Option<usize> {
        let known = self.known.get_mut(key)?;
        let number = *known.number.get_or_insert_with(|| {
            let (first, first_ns) = (known.first, known.first_ns);
            self.answer_bytes += written_text(key) + written_number(first) + TIME_BYTES;
            answer.new.push(NewSeries { key: key.to_owned(), first, first_ns });
            self.numbered += 1;
            self.numbered - 1
        });
        Some(number)
    }
}

/// A number of a series and the signs around it, in JSON.
const NUMBER_BYTES: usize = 12;
const TIME_BYTES: usize = 28;
const FRACTION_BYTES: usize = 25;

/// The bytes of a text in JSON, with its quotes.
fn written_text(text: &str) -> usize {
    let written = text.bytes().map(|byte| match byte {
        0..0x20 => 6,
        b'"' | b'\\' => 2,
        _ => 1,
    });
    written.sum::<usize>() + 2
}

/// The bytes of a number in JSON, at most.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is at most 15")]
fn written_number(value: f64) -> usize {
    let is_whole = value.fract() == 0.0 && value.abs() < 1e15;
    if is_whole { value.abs().max(1.0).log10() as usize + 2 } else { FRACTION_BYTES }
}

fn fetch(agent: &ureq::Agent, url: &str, bytes_max: u64) -> Result<String, String> {
    let body = fetch_bytes(agent, url, bytes_max)?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

fn fetch_bytes(agent: &ureq::Agent, url: &str, bytes_max: u64) -> Result<Vec<u8>, String> {
    let answer = agent.get(url).call().map_err(|error| http::explain(&error))?;
    let status = answer.status();
    if !status.is_success() {
        return Err(format!("it answered {}", status.as_u16()));
    }
    let body = answer.into_body().into_with_config().limit(bytes_max).read_to_vec();
    body.map_err(|error| http::explain(&error))
}

/// The change of one series between two answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SeriesChange {
    Nothing,
    /// A value of it is kept for the first time.
    First,
    Another,
}

/// Whether the next line may be the next bucket of the same histogram. The range of that bucket begins where this one
/// ends, so this bucket is kept with it even when its own count has not changed.
fn is_lower_bucket(name: &str, key: &str) -> bool {
    name.ends_with("_bucket") && !key.contains("le=\"+Inf\"")
}

#[cfg(test)]
mod tests;
