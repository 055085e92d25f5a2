//! What several arguments may be.

use std::str::FromStr;

/// A [`NonZero`](std::num::NonZero).
pub(super) fn one_or_more<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| "it takes a whole number, 1 or more")
}

/// What `existing` may be.
pub(super) const EXISTING: [&str; 4] = ["match", "refuse", "reuse", "replace"];

/// What `--system` takes where the data have to stay.
pub(super) const LASTING_SYSTEM: &str = "The system that has the data: `sqlite:FILE`, or a URL such as \
                                         `mysql://user@host:3306/database`";
