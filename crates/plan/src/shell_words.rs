//! Splits a text into words as a shell does, without any of its expansions.

/// The words of a text. Blanks part them; `'...'` is taken as it is; in `"..."` a backslash takes `"`, `\`, `$` and a
/// back quote for what they are; elsewhere it takes any character. Source: POSIX.1-2024, Shell Command Language, 2.2.
///
/// # Errors
/// What is wrong, as a phrase behind the text's name.
pub(crate) fn shell_words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => single(&mut letters, word.get_or_insert_default())?,
            '"' => double(&mut letters, word.get_or_insert_default())?,
            '\\' => {
                let taken = letters.next().ok_or("end with a backslash")?;
                word.get_or_insert_default().push(taken);
            }
            '\0' => return Err("have a zero byte".to_owned()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

const OPEN: &str = "have a quotation that does not end";

fn single(letters: &mut impl Iterator<Item = char>, word: &mut String) -> Result<(), String> {
    loop {
        match letters.next().ok_or(OPEN)? {
            '\'' => return Ok(()),
            letter => word.push(letter),
        }
    }
}

fn double(letters: &mut impl Iterator<Item = char>, word: &mut String) -> Result<(), String> {
    loop {
        match letters.next().ok_or(OPEN)? {
            '"' => return Ok(()),
            '\\' => match letters.next().ok_or(OPEN)? {
                taken @ ('"' | '\\' | '$' | '`') => word.push(taken),
                other => word.extend(['\\', other]),
            },
            letter => word.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        for (text, words) in [
            ("", vec![]),
            ("  ", vec![]),
            ("docker exec  -i\tc ", vec!["docker", "exec", "-i", "c"]),
            ("a 'b c'd \"e f\"", vec!["a", "b cd", "e f"]),
            (r#""a\"\\\$\x" '\'"#, vec![r#"a"\$\x"#, r"\"]),
            (r"a\ b \'", vec!["a b", "'"]),
            ("'' \"\"", vec!["", ""]),
            ("$HOME *;|", vec!["$HOME", "*;|"]),
        ] {
            assert_eq!(shell_words(text).unwrap(), words, "{text}");
        }
    }

    #[test]
    fn open_quotations_are_errors() {
        for text in ["'a", "\"a", "\"a\\", "a\\"] {
            assert!(shell_words(text).is_err(), "{text}");
        }
    }
}
