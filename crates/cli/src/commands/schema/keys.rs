//! Keys of a plan as JSON Schemas.

use std::ops::RangeInclusive;

use ::plan::{Form, Key};
use serde_json::{Map, Value, json};

const COUNT: &str = r"^\s*[0-9][0-9_]*(\.[0-9_]+)?[kKMG]?\s*$";
const COUNTS: &str = r"^\s*[0-9][0-9_.]*[kKMG]?\s*(,\s*[0-9][0-9_.]*[kKMG]?\s*)*$";
const NUMBER: &str = r"^\s*[-+]?[0-9][0-9_.]*([eE][-+]?[0-9]+)?[kKMG]?\s*$";
const NUMBERS: &str = r"^\s*[0-9][0-9_.eE+-]*[kKMG]?\s*(,\s*[0-9][0-9_.eE+-]*[kKMG]?\s*)*$";
const PART: &str = r"^\s*[0-9][0-9.]*\s*%?\s*$";
const SIZE: &str = r"^\s*[0-9][0-9_.]*\s*(B|[kKMGT]B|[KMGT]iB)?\s*$";
const TIME: &str = r"^\s*(0|([0-9][0-9_.]*(ns|us|µs|ms|s|min|m|h|d)\s*)+)\s*$";

/// The properties of a table with these keys.
pub(super) fn properties<'k>(keys: impl IntoIterator<Item = &'k Key>) -> Map<String, Value> {
    keys.into_iter().map(|key| (key.name.to_owned(), property(key))).collect()
}

/// A table with these properties and no others.
pub(super) fn closed(properties: Map<String, Value>) -> Value {
    let properties = Value::Object(properties);
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn property(key: &Key) -> Value {
    let mut value = form(&key.form);
    let default = match key.default.as_str() {
        "" => String::new(),
        default => format!(" (default: {default})"),
    };
    value["description"] = format!("{}{default}", key.meaning).into();
    value
}

pub(super) fn form(form: &Form) -> Value {
    match form {
        Form::Integer(allowed) => any_of(vec![integer(allowed), text(COUNT)]),
        Form::Integers(allowed) => {
            let one = || vec![integer(allowed), text(COUNT)];
            any_of(vec![integer(allowed), text(COUNTS), list(one())])
        }
        Form::Number(allowed) => any_of(vec![number(allowed), text(NUMBER)]),
        Form::Numbers(allowed) => {
            let one = || vec![number(allowed), text(NUMBER)];
            any_of(vec![number(allowed), text(NUMBERS), list(one())])
        }
        Form::Flag => any_of(vec![
            json!({ "type": "boolean" }),
            json!({ "enum": ["on", "off", "yes", "no", "true", "false", 0, 1] }),
        ]),
        Form::Choice(words) => choice(words),
        Form::Text => json!({ "type": ["string", "number"] }),
        Form::Texts => any_of(vec![self::form(&Form::Text), list(vec![self::form(&Form::Text)])]),
        Form::Size => any_of(vec![json!({ "type": "integer", "minimum": 0 }), text(SIZE)]),
        Form::Time => any_of(vec![text(TIME), json!({ "const": 0 })]),
        Form::Limit => any_of(vec![text(TIME), json!({ "enum": ["off", false, 0] })]),
        Form::Part => any_of(vec![json!({ "type": "number", "minimum": 0 }), text(PART)]),
        Form::Table(keys) => closed(properties(keys)),
        Form::Tables(keys) => {
            any_of(vec![closed(properties(keys)), list(vec![closed(properties(keys))])])
        }
        Form::List(forms) => list(forms.iter().map(self::form).collect()),
        Form::Settings => json!({ "type": "object" }),
        Form::Either(forms) => any_of(forms.iter().map(self::form).collect()),
        Form::Any => json!({}),
    }
}

/// Words of a choice; `true` also means `on`, and `false` also `off` and `none`.
fn choice(words: &[&str]) -> Value {
    let mut allowed: Vec<Value> = words.iter().map(|word| Value::from(*word)).collect();
    for (value, meant) in [(true, &["on", "true"][..]), (false, &["off", "none", "false"])] {
        if words.iter().any(|word| meant.contains(word)) {
            allowed.push(value.into());
        }
    }
    json!({ "enum": allowed })
}

pub(super) fn any_of(forms: Vec<Value>) -> Value {
    let forms = Value::Array(forms);
    json!({ "anyOf": forms })
}

pub(super) fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

fn list(items: Vec<Value>) -> Value {
    json!({ "type": "array", "items": any_of(items) })
}

fn integer(allowed: &RangeInclusive<u64>) -> Value {
    let mut value = json!({ "type": "integer", "minimum": allowed.start() });
    if *allowed.end() != u64::MAX {
        value["maximum"] = (*allowed.end()).into();
    }
    value
}

fn number(allowed: &RangeInclusive<f64>) -> Value {
    let mut value = json!({ "type": "number" });
    for (name, bound) in [("minimum", *allowed.start()), ("maximum", *allowed.end())] {
        if bound.is_finite() && bound.abs() < f64::MAX {
            value[name] = bound.into();
        }
    }
    value
}
