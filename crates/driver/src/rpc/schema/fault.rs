//! What can be wrong with a schema, or with a message for one.

use std::io;

use plan::nearest;

/// What is wrong with `.proto` files, or with a method or a message for them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaFault {
    /// A `.proto` file cannot be read or has an error, with its place.
    #[error("{0}")]
    Proto(String),
    /// Descriptors of a server do not fit together.
    #[error("the descriptors of the server do not fit together: {0}")]
    Descriptors(String),
    #[error("there is no service `{name}`; {help}")]
    NoService { name: String, help: String },
    #[error("the service `{service}` has no method `{name}`; {help}")]
    NoMethod { service: String, name: String, help: String },
    /// The method takes or returns a stream of messages.
    #[error("{0} is a streaming method; dyno calls unary methods only")]
    Streaming(String),
    #[error("the message does not fit `{input}`, the input of {method}: {reason}")]
    Message { input: String, method: String, reason: String },
}

impl From<io::Error> for SchemaFault {
    fn from(error: io::Error) -> Self {
        Self::Proto(error.to_string())
    }
}

/// The most names of a server that are compared with one that it does not know.
const COMPARED_MAX: usize = 1_000;
/// The longest of them, bytes: a name takes time in proportion to its length.
const NAME_BYTES_MAX: usize = 256;
const LISTED_MAX: usize = 20;

/// What to write in place of an unknown name.
pub(super) fn help_for(name: &str, known: &[&str]) -> String {
    let usable = known.iter().copied().filter(|known| known.len() <= NAME_BYTES_MAX);
    let compared: Vec<&str> = usable.take(COMPARED_MAX).collect();
    if let Some(near) = nearest(name, &compared) {
        return format!("did you mean `{near}`?");
    }
    let listed = &compared[..compared.len().min(LISTED_MAX)];
    match (listed, known.len() - listed.len()) {
        ([], 0) => "none is known".to_owned(),
        ([], others) => format!("the names of the {others} known ones are too long"),
        (listed, 0) => format!("known are {}", listed.join(", ")),
        (listed, others) => format!("known are {} and {others} others", listed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_with_names_without_end_is_not_compared_with_all() {
        assert_eq!(help_for("a.B", &[]), "none is known");
        assert_eq!(help_for("alpha", &["alphb"]), "did you mean `alphb`?");
        let long = "x".repeat(16 << 20);
        assert_eq!(help_for("a.B", &[&long]), "the names of the 1 known ones are too long");
        let many: Vec<String> = (0..500_000).map(|number| format!("of.{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let help = help_for("completely.different.Name", &many);
        assert!(help.starts_with("known are of.0, of.1, ") && help.len() < 300, "{help}");
        assert!(help.ends_with("of.19 and 499980 others"), "{help}");
    }
}
