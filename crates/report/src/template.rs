//! Sentences from templates and named values, and the values for programs.

use analysis::Value;
use serde_json::json;

use crate::cross_check::signed;
use crate::number::{count, latency_ns, number, percent, percentile_name, signed_percent};

/// Changes of more than this are told as multiples.
const TIMES: f64 = 1.0;

pub(crate) type Values = [(&'static str, Value)];

/// Fills a template with values. `{name}` is a value, `{subject}` the given name, if there is one, `{name:one|more}`
/// a value with its singular or plural noun, or a change without its sign and with the word for its direction
/// (`{name:higher|lower}`), and `[...]` a part that is left out when one of its values is missing.
/// Returns `None` when any other value is missing.
pub(crate) fn fill(template: &str, values: &Values, subject: Option<&str>) -> Option<String> {
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '[']) {
        text.push_str(&rest[..at]);
        let is_part = rest[at..].starts_with('[');
        let (inner, after) = rest[at + 1..].split_once(if is_part { ']' } else { '}' })?;
        let filled = match is_part {
            true => fill(inner, values, subject),
            false => Some(field(inner, values, subject)?),
        };
        text.push_str(&filled.unwrap_or_default());
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

fn field(field: &str, values: &Values, subject: Option<&str>) -> Option<String> {
    if field == "subject" {
        return subject.map(str::to_owned);
    }
    let (name, words) = field.split_once(':').unwrap_or((field, ""));
    let value = values.iter().find(|(known, _)| *known == name).map(|(_, value)| value)?;
    let is_one = matches!(value, Value::Count(1) | Value::Small(1) | Value::Difference(1 | -1));
    match words.split_once('|') {
        Some((up, down)) if matches!(value, Value::Change(_)) => {
            let shown = show(value);
            if shown.ends_with("times") {
                return Some(format!("{shown} as high"));
            }
            Some(match shown.strip_prefix('-') {
                Some(shown) => format!("{shown} {down}"),
                None => format!("{} {up}", shown.trim_start_matches('+')),
            })
        }
        Some((one, more)) => Some(format!("{} {}", show(value), if is_one { one } else { more })),
        None => Some(show(value)),
    }
}

pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Count(value) => count(*value),
        Value::Small(value) => value.to_string(),
        Value::Difference(value) => signed(i128::from(*value)),
        Value::Number(value) => number(*value),
        Value::Percent(value) => format!("{value:.2}"),
        Value::PercentSet(value) => value.to_string(),
        Value::Part(value) => percent(*value),
        Value::Change(value) if *value > TIMES => format!("{} times", number(1.0 + value)),
        Value::Change(value) => signed_percent(*value),
        Value::Nanos(value) => latency_ns(*value),
        Value::At(value) => format!("{:.2} s", *value as f64 / 1e9),
        Value::Percentile(value) => percentile_name(*value),
        Value::Text(text) => text.clone(),
    }
}

/// The values for programs: plain numbers and texts.
pub(crate) fn json(values: &Values) -> serde_json::Value {
    let values = values.iter().map(|(name, value)| ((*name).to_owned(), raw(value)));
    serde_json::Value::Object(values.collect())
}

fn raw(value: &Value) -> serde_json::Value {
    match value {
        Value::Count(value) | Value::Small(value) | Value::Nanos(value) | Value::At(value) => {
            json!(value)
        }
        Value::Difference(value) => json!(value),
        Value::Number(value)
        | Value::Percent(value)
        | Value::PercentSet(value)
        | Value::Part(value)
        | Value::Change(value)
        | Value::Percentile(value) => json!(value),
        Value::Text(text) => json!(text),
    }
}
