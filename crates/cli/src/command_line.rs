//! The command line as it was typed, for doing the run again.

/// The arguments of this process, quoted for a shell and without passwords in URLs.
pub(crate) fn again() -> String {
    let mut words = vec!["dyno".to_owned()];
    words.extend(std::env::args().skip(1).map(|word| quoted(&plan::scrub(&word))));
    words.join(" ")
}

/// A word as a POSIX shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_when_a_shell_would_change_them() {
        for (word, shell) in [
            ("--clients=1,4", "--clients=1,4"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(quoted(word), shell);
        }
    }
}
