//! The nearest valid spelling of a wrong word, and the help when there is none.

/// The candidate that `word` most probably means; `None` when none is near.
///
/// Case, `-` and `_` are ignored; otherwise a third of the letters, rounded up, may differ by Damerau-Levenshtein
/// distance, or one word may begin with the other (three letters or more).
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = plain(word);
    let by_distance = candidates
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &plain(candidate)), *candidate))
        .filter(|(distance, candidate)| *distance <= tolerance(&word, candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate);
    by_distance.or_else(|| candidates.iter().copied().find(|c| one_begins_the_other(&word, c)))
}

/// A word without the differences that are ignored.
fn plain(word: &str) -> String {
    word.to_lowercase().replace(['-', ' '], "_")
}

fn tolerance(word: &str, candidate: &str) -> usize {
    let letters = word.chars().count().max(candidate.chars().count());
    letters.div_ceil(3)
}

fn one_begins_the_other(word: &str, candidate: &str) -> bool {
    let candidate = plain(candidate);
    word.len().min(candidate.len()) >= 3
        && (candidate.starts_with(word) || word.starts_with(candidate.as_str()))
}

/// The help for an unknown word: the nearest valid one, then all allowed ones.
pub(crate) fn help_for(word: &str, allowed: &[&str]) -> String {
    let list = if allowed.is_empty() {
        "nothing is allowed here".to_owned()
    } else {
        format!("allowed: {}", allowed.join(", "))
    };
    match nearest(word, allowed) {
        Some(near) => format!("did you mean `{near}`? {list}"),
        None => list,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &[&str] = &["tables", "table_size", "range_size", "skip_trx", "isolation"];

    #[test]
    fn finds_typing_errors() {
        assert_eq!(nearest("tabels", KEYS), Some("tables"));
        assert_eq!(nearest("table_szie", KEYS), Some("table_size"));
        assert_eq!(nearest("tablesize", KEYS), Some("table_size"));
        assert_eq!(nearest("Skip-Trx", KEYS), Some("skip_trx"));
        assert_eq!(nearest("lode", &["name", "load", "seed"]), Some("load"));
        assert_eq!(nearest("iso", KEYS), Some("isolation"));
        assert_eq!(nearest("isolation_level", KEYS), Some("isolation"));
    }

    #[test]
    fn suggests_nothing_when_no_name_is_near() {
        assert_eq!(nearest("colour", KEYS), None);
        assert_eq!(nearest("", KEYS), None);
        assert_eq!(nearest("x", &[]), None);
    }

    #[test]
    fn prefers_the_nearest_of_several() {
        assert_eq!(nearest("table", KEYS), Some("tables"));
        assert_eq!(nearest("range_sizes", KEYS), Some("range_size"));
    }
}
