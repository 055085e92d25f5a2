//! Finds secrets by their value, wherever they occur later: a server may repeat them in its messages, and
//! a build command may print them. Of each only its length and a hash are kept, with a key of this process.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::{LazyLock, PoisonError, RwLock};

use zeroize::Zeroizing;

/// A shorter value is an ordinary word in too many texts: `root`, `test`.
pub(super) const BYTES_MIN: usize = 6;

/// The values passed to [`hide`].
static KNOWN: RwLock<Vec<Known>> = RwLock::new(Vec::new());

/// The key of all hashes. A text of the same length has the hash of a secret once in 2^64 times; then it is blanked.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A secret that is recognised, but not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    bytes: usize,
    hash: u64,
}

impl Known {
    fn of(secret: &str) -> Self {
        Self { bytes: secret.len(), hash: KEY.hash_one(secret.as_bytes()) }
    }

    /// Where it occurs in a text; no two places overlap.
    fn places(self, text: &str) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        for (at, window) in text.as_bytes().windows(self.bytes).enumerate() {
            let is_free = places.last().is_none_or(|last| last.end <= at);
            if is_free && text.is_char_boundary(at) && KEY.hash_one(window) == self.hash {
                places.push(at..at + self.bytes);
            }
        }
        places.retain(|place| text.is_char_boundary(place.end));
        places
    }
}

/// Makes [`crate::scrub`] blank this value everywhere in a text, until the process ends. Values of less than six bytes are
/// not remembered.
pub fn hide(secret: &str) {
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let escaped = Zeroizing::new(secret.escape_debug().to_string());
    for form in [secret, &escaped] {
        let is_wanted = form.len() >= BYTES_MIN && !form.trim_matches('*').is_empty();
        let form = Known::of(form);
        if is_wanted && !known.contains(&form) {
            known.push(form);
        }
    }
}

/// All that is kept of the secrets.
#[cfg(test)]
pub(super) fn hidden() -> impl std::fmt::Debug {
    KNOWN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Byte ranges of known secrets.
pub(super) fn in_text(text: &str) -> Vec<Range<usize>> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.iter().flat_map(|secret| secret.places(text)).collect()
}
