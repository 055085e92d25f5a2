//! What can be wrong with a schema, or with a message for one.

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
    /// No such service.
    #[error("there is no service `{name}`; {help}")]
    NoService {
        /// Its name.
        name: String,
        /// The nearest one, or all.
        help: String,
    },
    /// No such method of the service.
    #[error("the service `{service}` has no method `{name}`; {help}")]
    NoMethod {
        /// The service.
        service: String,
        /// The name of the method.
        name: String,
        /// The nearest one, or all.
        help: String,
    },
    /// The method takes or returns a stream of messages.
    #[error("{0} is a streaming method; dyno calls unary methods only")]
    Streaming(String),
    /// The message is not one of the method.
    #[error("the message does not fit `{input}`, the input of {method}: {reason}")]
    Message {
        /// The type of the message.
        input: String,
        /// The method.
        method: String,
        /// What is wrong, and where.
        reason: String,
    },
}

/// What to write in place of an unknown name.
pub(super) fn help_for(name: &str, known: &[&str]) -> String {
    match (nearest(name, known), known) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => "none is known".to_owned(),
        (None, known) => format!("known are {}", known.join(", ")),
    }
}
