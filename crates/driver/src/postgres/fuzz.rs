//! Properties of the codec and of the parsers of logins that hold for any bytes.

use fuzzing::SECRET;
use plan::Password;

use super::Url;
use super::codec::{
    AnswerLimit, Authentication, Binding, KnownKeys, MessageReader, ParameterKind, Reply,
    ReplyProgress, Request, RowProgress, RowSet, Scram, ServerError,
};
use super::password_file;
use crate::Answer;

fuzzing::targets! {
    postgres_messages: messages;
    postgres_reply: reply;
    postgres_rows: rows;
    postgres_server_error: server_error;
    postgres_login: login;
    postgres_scram: scram;
    postgres_url: url;
    postgres_password_file: passwords;
}

/// Splits `bytes` by its own first byte, so that every input is split in its own way.
fn chunks(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.chunks(bytes.first().map_or(1, |first| usize::from(*first) % 23 + 1)).collect()
}

/// Messages are the same however their bytes are split, and only received bytes are kept.
fn messages(bytes: &[u8]) {
    let mut whole = MessageReader::default();
    whole.push(bytes);
    let (mut cut, mut all) = (MessageReader::default(), Vec::new());
    for piece in chunks(bytes) {
        cut.push(piece);
        while let Ok(Some(message)) = cut.next() {
            all.push(message);
        }
        assert!(cut.capacity_bytes() <= 2 * bytes.len().max(64), "more is kept than came");
    }
    for message in all {
        assert_eq!(whole.next(), Ok(Some(message)), "cuts change a message");
    }
    assert!(!matches!(whole.next(), Ok(Some(_))), "cuts lose a message");
}

/// How an answer ends; `None` when it is malformed or has not ended.
fn ended(
    pieces: &[&[u8]],
    request: Request,
    keeps: bool,
) -> Option<(ReplyProgress, Answer, usize)> {
    let mut reply = Reply::default();
    reply.begin(request);
    if keeps {
        reply.row_buffer();
    }
    for piece in pieces {
        match reply.feed(piece) {
            Ok(ReplyProgress::More) => {}
            Ok(step) => {
                let rows = reply.buffered().map_or(0, crate::Rows::len);
                return Some((step, reply.answer(), rows));
            }
            Err(_) => return None,
        }
    }
    None
}

/// The counts of an answer are those of its rows, and a cut makes no difference.
fn reply(bytes: &[u8]) {
    for request in [Request::Text, Request::Execute, Request::ParseAndExecute, Request::Rows] {
        let whole = ended(&[bytes], request, false);
        let cut = ended(&chunks(bytes), request, false);
        if let (Some(whole), Some(cut)) = (&whole, &cut) {
            assert_eq!(whole, cut, "a cut matters");
        }
        if let (Some((_, kept, rows)), Some((_, skipped, _))) =
            (ended(&[bytes], request, true), whole)
        {
            assert_eq!(kept, skipped, "rows that are kept count differently");
            assert!(rows as u64 <= kept.rows, "rows without a count");
        }
    }
}

/// Rows that are read are counted too.
fn rows(bytes: &[u8]) -> Option<()> {
    let (mut reader, mut set) = (MessageReader::default(), RowSet::new(AnswerLimit::Facts));
    reader.push(bytes);
    while let Some((kind, body)) = reader.next().ok()? {
        if set.message(kind, &body).ok()? == RowProgress::Done {
            let columns = set.into_rows().iter().map(Vec::len).max();
            assert!(columns.is_none_or(|columns| columns <= bytes.len()));
            return Some(());
        }
    }
    None
}

fn server_error(bytes: &[u8]) -> Option<()> {
    let error = ServerError::parse(bytes).ok()?;
    let text = error.text();
    assert!(text.chars().count() <= 3_200, "{} letters", text.len());
    assert!(!text.contains(char::is_control), "a terminal would act on it");
    let (_class, _remedy) = (error.class(), error.remedy());
    Some(())
}

fn login(bytes: &[u8]) -> Option<()> {
    let _kinds = ParameterKind::all(bytes);
    Authentication::parse(bytes).ok().map(drop)
}

/// A server that does not know the password proves nothing, whatever it says.
fn scram(bytes: &[u8]) -> Option<()> {
    let mut scram = Scram::new(Binding::None, "abc".to_owned());
    assert!(scram.verify(bytes).is_err());
    // Rounds take time.
    if bytes.windows(6).any(|window| window.iter().all(u8::is_ascii_digit)) {
        return None;
    }
    let answer = scram.answer(bytes, &Password::new(SECRET), &KnownKeys::default()).ok()?;
    assert!(answer.starts_with("c=biws,r=abc") && !answer.contains(SECRET));
    assert!(scram.verify(bytes).is_err());
    Some(())
}

fn url(bytes: &[u8]) -> Option<()> {
    let text = std::str::from_utf8(bytes).ok()?;
    let with_password = text.replacen('@', &format!(":{SECRET}@"), 1);
    if let Err(error) = Url::parse(&with_password) {
        assert!(!error.to_string().contains(SECRET), "{error}");
    }
    Url::parse(text).ok().map(drop)
}

/// A line without a colon too few has the password that it ends with.
fn passwords(bytes: &[u8]) -> Option<()> {
    let text = std::str::from_utf8(bytes).ok()?;
    let found = password_file::find(text, ["h", "5432", "d", "u"]);
    let first = format!("h:5432:d:u:{SECRET}\n{text}");
    let wanted = Some(Password::new(SECRET));
    assert_eq!(password_file::find(&first, ["h", "5432", "d", "u"]), wanted);
    found.map(drop)
}
