//! The last request of a session, so that it can be told what a client waits for. A session keeps no text of it: a
//! statement that was prepared is known by its index, and of a text the start is kept.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

/// Bytes of the start of a text that a session keeps: the first word of most. What reads or writes rows is prepared.
const START_BYTES: usize = 6;
/// Bytes of the text of a prepared statement that are kept.
const TEXT_BYTES: usize = 200;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    Nothing,
    /// A prepared statement, by its index.
    Statement(u32),
    Text {
        start: [u8; START_BYTES],
        length: u8,
    },
}

impl Asked {
    #[inline]
    pub(crate) fn text(sql: &str) -> Self {
        let mut start = [0; START_BYTES];
        let length = sql.len().min(START_BYTES);
        start[..length].copy_from_slice(&sql.as_bytes()[..length]);
        Self::Text { start, length: u8::try_from(sql.len()).unwrap_or(u8::MAX) }
    }

    /// The request in words; `texts` are those of the session's statements.
    pub(crate) fn told(self, texts: &[Rc<str>]) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Statement(index) => texts.get(index as usize).map(|it| (**it).to_owned()),
            Self::Text { start, length } => {
                let length = usize::from(length);
                Some(shortened(&start, length.min(START_BYTES), length))
            }
        }
    }
}

thread_local! {
    /// The texts of the statements that sessions of this thread have prepared: all clients prepare the same ones.
    static TEXTS: RefCell<HashSet<Rc<str>>> = RefCell::default();
}

/// The start of a text, which all sessions of the thread share.
pub(crate) fn shared_text(sql: &str) -> Rc<str> {
    let start = shortened(sql.as_bytes(), sql.len().min(TEXT_BYTES), sql.len());
    TEXTS.with_borrow_mut(|texts| match texts.get(start.as_str()) {
        Some(text) => Rc::clone(text),
        None => {
            let text: Rc<str> = start.into();
            texts.insert(Rc::clone(&text));
            text
        }
    })
}

/// The first `kept` bytes of a text of this length, with a sign where there is more.
fn shortened(bytes: &[u8], kept: usize, length: usize) -> String {
    let text = String::from_utf8_lossy(&bytes[..kept]);
    if kept == length {
        return text.into_owned();
    }
    // The last letter may be cut.
    format!("{}...", text.trim_end_matches(char::REPLACEMENT_CHARACTER).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shortened_between_letters() {
        assert_eq!(&*shared_text("SELECT 1"), "SELECT 1");
        let long = format!("SELECT '{}'", "é".repeat(200));
        let text = shared_text(&long);
        assert_eq!(&*text, format!("SELECT '{}...", "é".repeat(96)));
        assert!(Rc::ptr_eq(&text, &shared_text(&long)));
    }

    #[test]
    fn no_part_of_a_password_where_a_text_is_cut_is_told() {
        for before in 150..200 {
            let sql = format!("SELECT '{}' IDENTIFIED BY 'hors3-carr1age'", "x".repeat(before));
            let told = plan::scrub(&shared_text(&sql));
            assert!(!told.contains("ho"), "{told}");
        }
    }
}
