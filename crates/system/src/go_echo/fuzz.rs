//! A property of a server's first words that holds for any text.

use super::report::identity;

fuzzing::targets! {
    echo_identity: told;
}

/// What an echo server tells of itself stands in a line of its log, and what else it logs changes nothing.
fn told(bytes: &[u8]) -> Option<()> {
    let log = String::from_utf8_lossy(bytes);
    let identity = identity(&log).ok()?;
    let Some(line) = log.lines().find(|line| line.starts_with('{')) else {
        panic!("an identity without a line");
    };
    let alone = super::report::identity(&format!("starting\n{line}\nstarted\n"));
    assert_eq!(alone.expect("the line alone is an identity"), identity);
    Some(())
}
