//! What an echo server tells of itself when it starts: one line of JSON on its standard output, which is in its log.

use anyhow::{Context, bail};
use measure::Identity;
use serde_json::Value;

/// The identity in the log of a server.
///
/// # Errors
/// When there is no such line, or something is missing in it.
pub(super) fn identity(log: &str) -> anyhow::Result<Identity> {
    let Some(line) = log.lines().find(|line| line.starts_with('{')) else {
        bail!("the server did not tell its version; it said:\n{}", log.trim_end());
    };
    let told: Value = serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))?;
    read(&told).with_context(|| format!("the server did not tell all of itself: {line}"))
}

fn read(told: &Value) -> Option<Identity> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let pair = |pair: &Value| Some((text(pair.get(0)?)?, text(pair.get(1)?)?));
    Some(Identity {
        product: text(told.get("product")?)?,
        version: text(told.get("version")?)?,
        settings: told.get("settings")?.as_array()?.iter().map(pair).collect::<Option<_>>()?,
        ..Identity::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_is_the_line_of_json_among_others() {
        let log = "started\n{\"product\":\"trpc-go\",\"version\":\"v1.0.4\",\
                   \"settings\":[[\"tnet\",\"v1.1.0\"],[\"mode\",\"sync\"]]}\nmore\n";
        let identity = identity(log).unwrap();
        assert_eq!(identity.title(), "trpc-go v1.0.4");
        let settings = [("tnet", "v1.1.0"), ("mode", "sync")];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(identity.settings, settings);
    }

    #[test]
    fn a_program_that_is_not_an_echo_server_is_told() {
        let error = |log: &str| format!("{:#}", identity(log).unwrap_err());
        assert_eq!(error("hello\n"), "the server did not tell its version; it said:\nhello");
        assert!(error("{\"product\":1}").starts_with("the server did not tell all of itself"));
        assert!(error("{product").starts_with("not JSON: {product"));
    }
}
