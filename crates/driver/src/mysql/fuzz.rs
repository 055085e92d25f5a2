//! Properties of the codec and of the parsers of logins that hold for any bytes.

mod login;

use fuzzing::SECRET;

use super::Url;
use super::codec::{
    AuthReply, BoundTypes, Escapes, Greeting, PACKET_BYTES_MAX, PacketReader, Prepared, Reply,
    ReplyProgress, RowFormat, RowProgress, RowSet, ServerError, TextTemplate, append_literal,
    encode_execute, quote_identifier,
};
use super::option_file::OptionFile;
use crate::{Rows, Value};

fuzzing::targets! {
    mysql_packets: packets;
    mysql_handshake: handshake;
    mysql_login: login::login;
    mysql_rsa_key: login::rsa_key;
    mysql_reply: reply;
    mysql_rows: rows;
    mysql_rows_under_load: fetched;
    mysql_server_error: server_error;
    mysql_prepared: prepared;
    mysql_text_template: template;
    mysql_option_file: option_file;
    mysql_url: url;
}

/// A server's RSA key, generated for these tests.
pub(super) const RSA_KEY: &str = "-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAy4gXgrSKWbqd/0hdAyqX
r10z5JqumgHBepT2bh5qQXHADbduFuR9ZHzpPqPvq62n5Aur+mYyyMsJTYBW8pj3
8NULV616IVXq6rW/RCxAFb72rNKyTdf0TbVWUZEvKyIegFHZ/Rd26HlpMJgnV3Ck
hCjZyURwrUCvFtCRnt2fukeZbyuGkQpcZ1kPGuFgJbaNQz7p/iipoOZTO6jYBTg6
/rvCXQDgHxbVodOa7EOMQgS4AsPCOhOHeDmp6wznG65XNKA0uRkYnj08+basiLo5
zVb7m2I2g0E2Dhwywv2FLcLbb/nobKNLKMFaSKAr9URo/pOyTgAf1fHlr1M837e3
DQIDAQAB
-----END PUBLIC KEY-----
";

/// The most bytes of a partial message that are kept until it is whole.
const KEPT_BYTES_MAX: usize = 64 * 1024 + 4;

/// Splits `bytes` by its own first two bytes, so that every input is split in its own way.
fn chunks(bytes: &[u8]) -> Vec<&[u8]> {
    let step = match bytes {
        [first, second, ..] => usize::from(*first) % 7 + usize::from(*second) % 64 + 1,
        _ => 1,
    };
    bytes.chunks(step).collect()
}

/// Messages are the same however their bytes are split, and only received bytes are kept.
fn packets(bytes: &[u8]) {
    let mut whole = PacketReader::default();
    whole.push(bytes);
    let (mut cut, mut messages) = (PacketReader::default(), Vec::new());
    for piece in chunks(bytes) {
        cut.push(piece);
        while let Ok(Some(message)) = cut.next() {
            messages.push(message);
        }
        assert!(cut.capacity_bytes() <= 2 * bytes.len().max(64), "more is kept than came");
    }
    for message in messages {
        assert_eq!(whole.next(), Ok(Some(message)), "cuts change a message");
    }
    assert!(!matches!(whole.next(), Ok(Some(_))), "cuts lose a message");
}

fn handshake(bytes: &[u8]) -> Option<()> {
    let _ = AuthReply::parse(bytes);
    let greeting = Greeting::parse(bytes).ok()?;
    assert!(greeting.nonce.len() <= 20, "a challenge of {} bytes", greeting.nonce.len());
    Some(())
}

/// The counts of an answer equal those of its decoded rows, however it is split, in bounded memory.
fn reply(bytes: &[u8]) {
    for has_deprecated_eof in [false, true] {
        let mut reply = Reply::new(has_deprecated_eof, 0);
        let mut step = Ok(ReplyProgress::More);
        for piece in chunks(bytes) {
            step = reply.feed(piece);
            assert!(reply.kept_bytes() <= KEPT_BYTES_MAX, "{} bytes kept", reply.kept_bytes());
            if step != Ok(ReplyProgress::More) {
                break;
            }
        }
        if let Some(rows) = whole_answer(bytes, has_deprecated_eof) {
            let mut whole = Reply::new(has_deprecated_eof, 0);
            assert_eq!(
                whole.feed(bytes),
                Ok(ReplyProgress::Done),
                "rows are read, but not counted"
            );
            assert_eq!(whole.answer().rows, rows, "another number of rows is counted");
            assert_eq!(
                (step, reply.answer()),
                (Ok(ReplyProgress::Done), whole.answer()),
                "a cut matters"
            );
        }
    }
}

/// The number of rows in `bytes` when they are one whole answer and nothing else.
fn whole_answer(bytes: &[u8], has_deprecated_eof: bool) -> Option<u64> {
    let mut packet_reader = PacketReader::default();
    packet_reader.push(bytes);
    let mut set = RowSet::new(has_deprecated_eof);
    while let Ok(Some((payload, _))) = packet_reader.next() {
        match set.message(&payload).ok()? {
            RowProgress::More => {}
            RowProgress::Done if packet_reader.is_empty() => {
                return Some(set.into_rows().len() as u64);
            }
            _ => return None,
        }
    }
    None
}

/// Rows have as many cells as the answer has columns.
fn rows(bytes: &[u8]) {
    for has_deprecated_eof in [false, true] {
        let mut set = RowSet::new(has_deprecated_eof);
        let mut packet_reader = PacketReader::default();
        packet_reader.push(bytes);
        while let Ok(Some((payload, _))) = packet_reader.next() {
            if !matches!(set.message(&payload), Ok(RowProgress::More)) {
                break;
            }
        }
        let _ = set.into_rows();
    }
    let _ = RowSet::new(true).message(bytes);
}

/// The rows that are kept on the load path are the same however the answer is split, and every cell of them can be
/// read.
fn fetched(bytes: &[u8]) {
    for format in [RowFormat::Binary, RowFormat::Text] {
        for has_deprecated_eof in [false, true] {
            let whole = buffered(&[bytes], format, has_deprecated_eof);
            if whole.is_some() {
                let cut = buffered(&chunks(bytes), format, has_deprecated_eof);
                assert_eq!(cut, whole, "a cut matters");
            }
        }
    }
}

/// The cells of an answer that ends with the last chunk.
fn buffered(chunks: &[&[u8]], format: RowFormat, has_deprecated_eof: bool) -> Option<Vec<String>> {
    let mut reply = Reply::new(has_deprecated_eof, 0);
    reply.reset();
    reply.row_buffer(format);
    for (at, piece) in chunks.iter().enumerate() {
        match reply.feed(piece) {
            Ok(ReplyProgress::More) => {}
            Ok(ReplyProgress::Done) if at + 1 == chunks.len() => {
                let rows = reply.buffered()?;
                return Some((0..rows.len()).map(|row| cells(rows, row)).collect());
            }
            _ => return None,
        }
    }
    None
}

/// The first cells of a row, read in every way.
fn cells(rows: &Rows, row: usize) -> String {
    let cell = |column| {
        let (int, float) = (rows.int(row, column), rows.float(row, column).map(f64::to_bits));
        format!("{int:?} {float:?} {:?} {}", rows.text(row, column), rows.is_null(row, column))
    };
    (0..3).map(cell).collect::<Vec<_>>().join(", ")
}

/// A server's error message can be shown on a terminal.
fn server_error(bytes: &[u8]) -> Option<()> {
    let error = ServerError::parse(bytes).ok()?;
    let _ = (error.class(), error.remedy());
    let is_shown = |text: &str| !text.contains(|letter: char| letter.is_control());
    assert!(is_shown(&error.message) && is_shown(&error.state), "{error:?}");
    assert!(error.message.chars().count() <= 1_024, "a message without end");
    Some(())
}

/// A prepared statement of any shape is executed with a request whose length matches its headers.
fn prepared(bytes: &[u8]) -> Option<()> {
    let prepared = Prepared::parse(bytes).ok()?;
    let _ = prepared.packets_to_come(true) + prepared.packets_to_come(false);
    let mut bound = BoundTypes::new(prepared.parameters);
    // Sometimes long enough for a request of more than a packet. Not always: all time would go into copying it.
    let most = if prepared.id.is_multiple_of(64) { 1_024 } else { 16 };
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(most)]);
    let kinds = [Value::Null, Value::Int(-1), Value::Float(0.5), Value::Text(&text)];
    let values: Vec<Value<'_>> = (0..bound.len()).map(|at| kinds[at % 4]).collect();
    let mut request = Vec::new();
    encode_execute(&mut request, prepared.id, &mut bound, &values);
    let mut packet_reader = PacketReader::default();
    packet_reader.push(&request);
    let message = packet_reader.next();
    let Ok(Some((payload, last))) = message else { panic!("{message:?}") };
    // A request that is longer than a packet is several.
    let packets = payload.len() / PACKET_BYTES_MAX + 1;
    assert_eq!((usize::from(last) + 1, payload.len() + 4 * packets), (packets, request.len()));
    Some(())
}

/// A template keeps its text, and a value that is filled in stays within its quotes.
fn template(bytes: &[u8]) {
    let sql = String::from_utf8_lossy(bytes);
    let template = TextTemplate::new(&sql);
    let ones = vec![Value::Int(1); template.parameters()];
    let mut filled = Vec::new();
    assert_eq!(template.fill(&mut filled, &ones, Escapes::Backslash), Ok(()));
    assert_eq!(filled.len(), sql.len(), "a template loses text");
    for escapes in [Escapes::Backslash, Escapes::QuotesOnly] {
        let mut literal = Vec::new();
        assert!(append_literal(&mut literal, Value::Text(&sql), escapes).is_ok());
        let end = literal_end(&literal, escapes);
        assert_eq!(end, Some(literal.len()), "a value leaves its quotes: {sql:?}");
    }
    let name = quote_identifier(&sql);
    assert!(name[1..name.len() - 1].replace("``", "").find('`').is_none(), "{name:?}");
}

/// Where a server sees the end of a string literal.
fn literal_end(literal: &[u8], escapes: Escapes) -> Option<usize> {
    let mut at = 1;
    loop {
        match (literal.get(at)?, literal.get(at + 1)) {
            (b'\\', _) if escapes == Escapes::Backslash => at += 2,
            (b'\'', Some(b'\'')) => at += 2,
            (b'\'', _) => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// A password in an option file is not shown.
fn option_file(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let options = OptionFile::parse(&format!("{text}\n[client]\npassword={SECRET}\n"));
    assert!(options.password.is_some(), "the password is lost");
    assert!(!format!("{options:?}").contains(SECRET), "the password is shown");
}

/// A password in a URL is shown neither by the URL nor by an error in it.
fn url(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = Url::parse(&text);
    let half = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (password, place) = text.split_at(half);
    // After an unescaped question mark, the rest of a URL may really be options.
    let password = password.replace('?', "%3F");
    for url in
        [format!("mysql://user:{SECRET}{text}"), format!("mysql://user:{password}{SECRET}@{place}")]
    {
        let shown = match Url::parse(&url) {
            Ok(url) => format!("{url} {url:?}"),
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(!shown.contains(SECRET), "the password of {url:?} is shown: {shown}");
    }
}

#[test]
fn announced_packet_lengths_allocate_nothing() {
    let announced = [0xff, 0xff, 0xff, 0, 0x0a];
    let mut packet_reader = PacketReader::default();
    packet_reader.push(&announced);
    assert_eq!(packet_reader.next(), Ok(None));
    assert!(packet_reader.capacity_bytes() < 100, "{} bytes", packet_reader.capacity_bytes());
    let mut reply = Reply::new(true, 0);
    assert!(reply.feed(&announced).is_err(), "no answer begins so");
    assert!(reply.kept_bytes() < 100, "{} bytes", reply.kept_bytes());
}

#[test]
fn a_question_mark_in_a_password_does_not_leak_it() {
    let error = Url::parse("mysql://user:12?34secret&x@host/db").unwrap_err().to_string();
    assert!(!error.contains("secret"), "{error}");
    assert!(error.contains("%3F"), "{error}");
}
