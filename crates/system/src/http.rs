//! HTTP without TLS, to servers that are watched and to those that take metrics: no proxies, no redirects.

use std::time::Duration;

pub use ureq::Agent;

/// A client that waits at most `bound` for each answer, including the connection. An answer that is no success is an answer.
pub fn agent(bound: Duration) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(bound))
        .proxy(None)
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent("dyno")
        .build();
    config.into()
}

/// A short description of the error; the caller adds the address.
pub fn explain(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "it did not answer in time".to_owned(),
        ureq::Error::BodyExceedsLimit(bytes) => format!("its answer is longer than {bytes} bytes"),
        ureq::Error::Io(cause) => format!("it cannot be reached: {cause}"),
        other => other.to_string(),
    }
}
