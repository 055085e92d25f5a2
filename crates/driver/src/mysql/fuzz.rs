//! Properties of the codec and of the parsers of logins that hold for any bytes.

mod login;

use fuzzing::SECRET;

use super::Url;
use super::codec::{
    AuthReply, BoundTypes, Escapes, Greeting, PacketReader, Prepared, Reply, ReplyProgress,
    RowFormat, RowProgress, RowSet, ServerError, TextTemplate, append_literal, append_packet,
    encode_execute, quote_identifier,
};
use super::option_file::OptionFile;
use crate::{Rows, Value};

fuzzing::targets! {
    mysql_packets: packets, from answers;
    mysql_handshake: handshake, from greetings;
    mysql_login: login::login, from login::conversations;
    mysql_rsa_key: login::rsa_key, from login::rsa_keys;
    mysql_reply: reply, from answers;
    mysql_rows: rows, from answers;
    mysql_rows_under_load: fetched, from fetched_answers;
    mysql_server_error: server_error, from errors;
    mysql_prepared: prepared, from prepares;
    mysql_text_template: template, from statements;
    mysql_option_file: option_file, from option_files;
    mysql_url: url, from urls;
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

fn handshake(bytes: &[u8]) {
    if let Ok(greeting) = Greeting::parse(bytes) {
        assert!(greeting.nonce.len() <= 20, "a challenge of {} bytes", greeting.nonce.len());
    }
    let _ = AuthReply::parse(bytes);
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
fn server_error(bytes: &[u8]) {
    if let Ok(error) = ServerError::parse(bytes) {
        let _ = (error.class(), error.remedy());
        let is_shown = |text: &str| !text.contains(|letter: char| letter.is_control());
        assert!(is_shown(&error.message) && is_shown(&error.state), "{error:?}");
        assert!(error.message.chars().count() <= 1_024, "a message without end");
    }
}

/// A prepared statement of any shape is executed with a request whose length matches its header.
fn prepared(bytes: &[u8]) {
    let Ok(prepared) = Prepared::parse(bytes) else { return };
    let _ = prepared.packets_to_come(true) + prepared.packets_to_come(false);
    let mut bound = BoundTypes::new(prepared.parameters);
    let text = String::from_utf8_lossy(bytes);
    let kinds = [Value::Null, Value::Int(-1), Value::Float(0.5), Value::Text(&text)];
    let values: Vec<Value<'_>> = (0..bound.len()).map(|at| kinds[at % 4]).collect();
    let mut request = Vec::new();
    encode_execute(&mut request, prepared.id, &mut bound, &values);
    let mut packet_reader = PacketReader::default();
    packet_reader.push(&request);
    let message = packet_reader.next();
    assert!(matches!(&message, Ok(Some((payload, 0))) if payload.len() + 4 == request.len()));
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

fn framed(payloads: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut sequence = 1;
    for payload in payloads {
        sequence = append_packet(&mut bytes, payload, sequence);
    }
    bytes
}

/// An OK packet: 2 rows changed, in autocommit.
const OK: &[u8] = &[0x00, 2, 0, 0x02, 0x00, 0x00, 0x00];
/// The same, with another answer to follow.
const OK_MORE: &[u8] = &[0x00, 2, 0, 0x0a, 0x00, 0x00, 0x00];
/// The end of rows as an OK packet and as the older EOF packet.
const END_OK: &[u8] = &[0xfe, 0, 0, 0x02, 0x00, 0x00, 0x00];
const END_EOF: &[u8] = &[0xfe, 0x01, 0x00, 0x22, 0x00];
const DEADLOCK: &[u8] = b"\xff\xbd\x04#40001Deadlock found";

fn column(kind: u8) -> Vec<u8> {
    let mut payload = b"\x03def\x04test\x01t\x01t\x01c\x01c\x0c".to_vec();
    payload.extend_from_slice(&[45, 0, 120, 0, 0, 0, kind, 0, 0, 0, 0, 0]);
    payload
}

fn answers() -> Vec<Vec<u8>> {
    let (integer, text) = (column(3), column(253));
    let (row, nulls): (&[u8], &[u8]) = (b"\x0242\x03abc", b"\xfb\xfb");
    vec![
        framed(&[OK]),
        framed(&[DEADLOCK]),
        framed(&[b"\xfbdyno"]),
        framed(&[b"\xfbdyno", OK]),
        framed(&[&[2], &integer, &text, row, nulls, END_OK]),
        framed(&[&[2], &integer, &text, END_EOF, row, nulls, row, END_EOF]),
        framed(&[OK_MORE, &[1], &integer, b"\x017", END_OK]),
        framed(&[&[1], &text, DEADLOCK]),
        // Ends before the number of warnings.
        framed(&[&[1], &integer, b"\x017", &END_OK[..5]]),
        // The header announces 16 MiB.
        vec![0xfe, 0xff, 0xff, 0, 1, 2, 3],
    ]
}

fn fetched_answers() -> Vec<Vec<u8>> {
    let (integer, text, time) = (column(3), column(253), column(12));
    let row: &[u8] = b"\0\0\x2a\0\0\0\x03abc";
    let nulls: &[u8] = b"\0\x0c";
    let moment: &[u8] = b"\0\0\x07\xe8\x07\x01\x02\x03\x04\x05";
    let mut answers = answers();
    answers.push(framed(&[&[2], &integer, &text, row, nulls, END_OK]));
    answers.push(framed(&[&[1], &time, moment, END_OK]));
    answers
}

fn greetings() -> Vec<Vec<u8>> {
    let mut greeting = b"\x0a8.0.11-TiDB-v8.5.0\0\x01\x02\0\0".to_vec();
    greeting.extend_from_slice(b"abcdefgh\0\x09\xa2\x2d\x02\x00\x09\x00\x15");
    greeting.extend_from_slice(&[0; 10]);
    greeting.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    let switch = b"\xfecaching_sha2_password\x0012345678901234567890\0".to_vec();
    vec![greeting, switch, OK.to_vec(), vec![0x01, 0x04], vec![0xfe], errors().swap_remove(0)]
}

fn errors() -> Vec<Vec<u8>> {
    vec![
        DEADLOCK.to_vec(),
        b"\xff\x10\x04Too many connections".to_vec(),
        b"\xff\x15\x04#28".to_vec(),
    ]
}

fn prepares() -> Vec<Vec<u8>> {
    vec![vec![0, 7, 0, 0, 0, 2, 0, 3, 0, 0, 0, 0], vec![0, 1, 0, 0, 0, 0, 0, 9, 0, 0, 1, 0]]
}

fn bytes_of(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn statements() -> Vec<Vec<u8>> {
    bytes_of(&[
        "SELECT c FROM t WHERE id=? AND c = 'it''s ?' -- ?\n",
        "SELECT \"?\\\"?\", `?` /* ? */, ? # ?\n",
        "'unclosed \\",
    ])
}

fn option_files() -> Vec<Vec<u8>> {
    bytes_of(&[
        "# mine\n[mysqld]\nport=1\n[client]\nuser = me\npassword = 'x y\\s#z'\nport=3307 # here\n",
        "[client]\nssl-mode=REQUIRED\nget-server-public-key\nssl_ca='/ca.pem'\nskip-ssl\nssl-verify-server-cert\nssl=0\n",
        "[client\nsocket=\"/run/é.sock\nhost=\\\n!include x\n",
    ])
}

fn urls() -> Vec<Vec<u8>> {
    bytes_of(&[
        "mysql://root@127.0.0.1:3306/test?ps=off",
        "mysql://u%40:p%25@[::1]:4000,db2/x",
        "mysql:///test?socket=/run/mysqld/mysqld.sock",
        "mysql://db1/x?ssl-mode=verify-identity&ssl-ca=%2fca.pem&ssl-cert=c&ssl-key=k",
        "@host:1/db?ps=on&socket=%2f",
    ])
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
