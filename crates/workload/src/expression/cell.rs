//! The value of a variable.

use std::fmt;

use driver::Value;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl Cell {
    /// The value as a number; `None` for others. A text that a statement has returned may be a number.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Null | Self::Bool(_) => None,
        }
    }

    /// The value as pgbench reads a variable: a text may be a number or a truth.
    pub(super) fn read(&self) -> Result<Self, String> {
        let Self::Text(text) = self else { return Ok(self.clone()) };
        let word = text.trim();
        if let Ok(number) = word.parse() {
            return Ok(Self::Int(number));
        }
        match word.to_ascii_lowercase().as_str() {
            "t" | "true" | "y" | "yes" | "on" => return Ok(Self::Bool(true)),
            "f" | "false" | "n" | "no" | "off" => return Ok(Self::Bool(false)),
            _ => {}
        }
        // "inf" and the like are texts.
        let number = word.parse().ok().filter(|number: &f64| number.is_finite());
        number.map(Self::Float).ok_or_else(|| "a text is no number".to_owned())
    }

    /// The value as a whole number; a number with a fraction is rounded to the next even one, as by pgbench.
    pub(crate) fn as_whole(&self) -> Result<i64, String> {
        match self.read()? {
            Self::Int(number) => Ok(number),
            Self::Float(number) => {
                let rounded = number.round_ties_even();
                // The bounds of 64 bits; the upper one is no such number itself.
                let fits =
                    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded);
                if fits { Ok(rounded as i64) } else { Err(too_large()) }
            }
            other => Err(format!("{other} is no number")),
        }
    }

    /// The value as an operand of AND, OR and NOT; `None` for NULL.
    pub(super) fn as_truth(&self) -> Result<Option<bool>, String> {
        match self.read()? {
            Self::Bool(truth) => Ok(Some(truth)),
            Self::Null => Ok(None),
            other => Err(format!("{other} is neither TRUE nor FALSE")),
        }
    }

    /// Whether a condition with this value holds: TRUE, or a number other than 0.
    pub(crate) fn is_true(&self) -> Result<bool, String> {
        Ok(match self.read()? {
            Self::Bool(truth) => truth,
            Self::Int(number) => number != 0,
            Self::Float(number) => number != 0.0,
            Self::Null | Self::Text(_) => false,
        })
    }

    #[inline]
    pub(crate) fn as_value(&self) -> Value<'_> {
        match self {
            Self::Int(number) => Value::Int(*number),
            Self::Float(number) => Value::Float(*number),
            Self::Text(text) => Value::Text(text),
            Self::Bool(true) => Value::Text("true"),
            Self::Bool(false) => Value::Text("false"),
            Self::Null => Value::Null,
        }
    }

    pub(crate) fn as_sql(&self) -> String {
        match self {
            Self::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Self::Null => "NULL".to_owned(),
            Self::Bool(_) | Self::Int(_) | Self::Float(_) => self.to_string(),
        }
    }
}

/// As in the text of a template.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::Int(number) => write!(f, "{number}"),
            Self::Float(number) => write!(f, "{number:?}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

pub(super) fn too_large() -> String {
    "a whole number does not fit into 64 bits".to_owned()
}
