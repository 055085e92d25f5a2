//! Tests of the codec with bytes: whole, cut anywhere, and random.

use proptest::prelude::*;

use super::reply::{Reply, ReplyProgress};
use super::rows::{AnswerLimit, RowProgress, RowSet};
use super::text::{Escapes, NotFinite, TextTemplate, append_literal};
use super::wire::{Cursor, Malformed, MessageLimit, PacketReader, append_packet};
use super::{
    AuthReply, BoundTypes, Greeting, LoginRequest, ManyRows, PACKET_BYTES_MAX, Prepared, RowArray,
    RowFormat, ServerError, capability, encode_execute,
};
use crate::{Answer, Datum, Value};

/// An OK packet: 2 rows changed, in autocommit.
const OK: &[u8] = &[0x00, 2, 0, 0x02, 0x00, 0x00, 0x00];
/// The end of rows as an OK packet, and as the older EOF packet with one warning.
const END_OK: &[u8] = &[0xfe, 0, 0, 0x02, 0x00, 0x00, 0x00];
const END_EOF: &[u8] = &[0xfe, 0x01, 0x00, 0x22, 0x00];
const DEADLOCK: &[u8] = b"\xff\xbd\x04#40001Deadlock found";

fn packets(payloads: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut sequence = 1;
    for payload in payloads {
        sequence = append_packet(&mut bytes, payload, sequence);
    }
    bytes
}

/// A column definition of type `kind`.
fn column(kind: u8) -> Vec<u8> {
    let mut payload = b"\x03def\x04test\x01t\x01t\x01c\x01c\x0c".to_vec();
    payload.extend_from_slice(&[45, 0, 120, 0, 0, 0, kind, 0, 0, 0, 0, 0]);
    payload
}

/// Feeds `bytes` in pieces that end at `cuts`.
fn feed_in_chunks(
    reply: &mut Reply,
    bytes: &[u8],
    cuts: &[usize],
) -> Result<ReplyProgress, Malformed> {
    let mut from = 0;
    let mut last = ReplyProgress::More;
    for cut in cuts.iter().copied().chain([bytes.len()]) {
        let cut = cut.clamp(from, bytes.len());
        if cut > from {
            last = reply.feed(&bytes[from..cut])?;
        }
        from = cut;
    }
    Ok(last)
}

/// Two columns and three rows, with either end of rows.
fn result_set(has_deprecated_eof: bool) -> Vec<u8> {
    let (integer, text) = (column(3), column(253));
    let rows: [&[u8]; 3] = [b"\x0242\x03abc", b"\xfb\x00", b"\x01\x37\xfb"];
    let mut payloads: Vec<&[u8]> = vec![&[2], &integer, &text];
    if !has_deprecated_eof {
        payloads.push(END_EOF);
    }
    payloads.extend(rows);
    payloads.push(if has_deprecated_eof { END_OK } else { END_EOF });
    packets(&payloads)
}

#[test]
fn an_ok_packet_counts_changed_rows() {
    let mut reply = Reply::new(true, 0);
    assert_eq!(reply.feed(&packets(&[OK])), Ok(ReplyProgress::Done));
    assert_eq!(reply.answer(), Answer { rows: 0, affected: 2 });
    assert_eq!(reply.status(), 2);
}

#[test]
fn a_result_set_is_counted_wherever_it_is_cut() {
    for has_deprecated_eof in [false, true] {
        let bytes = result_set(has_deprecated_eof);
        for cut in 0..bytes.len() {
            let mut reply = Reply::new(has_deprecated_eof, 0);
            let step = feed_in_chunks(&mut reply, &bytes, &[cut]);
            assert_eq!(step, Ok(ReplyProgress::Done), "cut at {cut}, {has_deprecated_eof}");
            assert_eq!(reply.answer(), Answer { rows: 3, affected: 0 });
        }
        let every_byte: Vec<usize> = (0..bytes.len()).collect();
        let mut reply = Reply::new(has_deprecated_eof, 0);
        assert_eq!(feed_in_chunks(&mut reply, &bytes, &every_byte), Ok(ReplyProgress::Done));
        assert_eq!(reply.answer().rows, 3);
    }
}

#[test]
fn a_session_answers_again_after_a_cut_answer() {
    let bytes = result_set(true);
    let mut reply = Reply::new(true, 0);
    for _ in 0..3 {
        reply.reset();
        assert_eq!(feed_in_chunks(&mut reply, &bytes, &[3, 50]), Ok(ReplyProgress::Done));
        assert_eq!(reply.answer().rows, 3);
    }
}

#[test]
fn a_binary_row_that_begins_with_zero_is_a_row() {
    let number = column(8);
    let bytes = packets(&[&[1], &number, &[0, 0, 1, 0, 0, 0, 0, 0, 0, 0], END_OK]);
    let mut reply = Reply::new(true, 0);
    assert_eq!(reply.feed(&bytes), Ok(ReplyProgress::Done));
    assert_eq!(reply.answer().rows, 1);
}

#[test]
fn a_row_longer_than_a_packet_is_one_row() {
    let text = column(253);
    // 0xfe begins the length of a cell of more than 16 MiB; in a short packet, it ends the rows.
    let mut row = vec![0xfe];
    row.extend_from_slice(&(PACKET_BYTES_MAX as u64 + 100).to_le_bytes());
    row.resize(9 + PACKET_BYTES_MAX + 100, b'x');
    let bytes = packets(&[&[1], &text, &row, b"\x01y", END_OK]);
    for cuts in [vec![], vec![70, 100_000, 16_777_290], vec![bytes.len() - 120]] {
        let mut reply = Reply::new(true, 0);
        assert_eq!(feed_in_chunks(&mut reply, &bytes, &cuts), Ok(ReplyProgress::Done));
        assert_eq!(reply.answer().rows, 2);
    }
}

#[test]
fn a_row_of_exactly_one_full_packet_is_followed_by_an_empty_one() {
    let text = column(253);
    let mut row = vec![0xfd, 0xfb, 0xff, 0xff];
    row.resize(PACKET_BYTES_MAX, b'x');
    let bytes = packets(&[&[1], &text, &row, END_OK]);
    for cuts in [vec![], vec![bytes.len() - END_OK.len() - 4], vec![bytes.len() - END_OK.len() - 6]]
    {
        let mut reply = Reply::new(true, 0);
        assert_eq!(feed_in_chunks(&mut reply, &bytes, &cuts), Ok(ReplyProgress::Done));
        assert_eq!(reply.answer().rows, 1);
    }
}

#[test]
fn several_results_are_added_up() {
    let more = &[0x00, 1, 0, 0x0a, 0x00, 0x00, 0x00][..];
    let mut reply = Reply::new(true, 0);
    assert_eq!(reply.feed(&packets(&[more, OK])), Ok(ReplyProgress::Done));
    assert_eq!(reply.answer().affected, 3);
}

#[test]
fn an_error_among_rows_ends_the_answer() {
    let text = column(253);
    let bytes = packets(&[&[1], &text, b"\x01a", DEADLOCK]);
    let mut reply = Reply::new(true, 0);
    let Ok(ReplyProgress::Refused(error)) = reply.feed(&bytes) else { panic!("an error was due") };
    assert_eq!((error.code, error.state.as_str()), (1213, "40001"));
    assert_eq!(error.message, "Deadlock found");
}

#[test]
fn trailing_bytes_after_an_answer_are_a_protocol_error() {
    let mut bytes = packets(&[OK]);
    bytes.push(7);
    assert!(Reply::new(true, 0).feed(&bytes).is_err());
}

#[test]
fn an_overlong_message_is_refused_before_it_is_kept() {
    let header = [0xff, 0xff, 0x7f, 1, 0x00];
    assert!(Reply::new(true, 0).feed(&header).is_err());
}

#[test]
fn a_user_that_logs_in_by_its_account_is_led_to_the_socket() {
    let message = "Access denied for user 'root'@'localhost'".to_owned();
    let error = ServerError { code: 1698, state: "28000".to_owned(), message };
    let remedy = error.remedy().unwrap();
    assert!(remedy.contains("unix_socket, auth_socket"), "{remedy}");
    assert!(remedy.contains("socket=PATH"), "{remedy}");
}

#[test]
fn classes_follow_the_numbers() {
    use measure::ErrorClass::*;
    let class = |code| ServerError { code, state: String::new(), message: String::new() }.class();
    let told = [1213, 1205, 1020, 8002, 8005, 8022, 9007, 1062, 1045, 1064].map(class);
    let conflict = WriteConflict;
    let wanted = [
        Deadlock,
        LockTimeout,
        conflict,
        conflict,
        conflict,
        conflict,
        conflict,
        DuplicateKey,
        Login,
        Server,
    ];
    assert_eq!(told, wanted);
    assert_eq!([1412, 1615, 3101, 8027, 8028].map(class), [conflict; 5]);
    assert_eq!([9001, 9002, 9003, 9004, 9005].map(class), [Busy; 5]);
    assert_eq!([1317, 1969, 3024, 1290].map(class), [Server; 4]);
    let unknown = |message: &str| {
        ServerError { code: 1105, state: "HY000".to_owned(), message: message.to_owned() }.class()
    };
    assert_eq!(unknown("pessimistic lock retry limit reached"), conflict);
    assert_eq!(unknown("Information schema is changed. [try again later]"), conflict);
    assert_eq!(unknown("something else"), Server);
}

#[test]
fn a_result_has_as_many_columns_as_a_table_at_most() {
    for (count, is_refused) in
        [(&[0][..], true), (&[0xfc, 0xff, 0xff], false), (&[0xfd, 0, 0, 1], true)]
    {
        let mut packet = Vec::new();
        append_packet(&mut packet, count, 1);
        let skipped = Reply::new(true, 0).feed(&packet);
        // No column is an answer without rows, which is too short here.
        assert_eq!(skipped.is_err(), is_refused, "{count:?}: {skipped:?}");
        let kept = RowSet::new(true).message(count);
        assert_eq!(kept.is_err(), is_refused, "{count:?}: {kept:?}");
    }
}

#[test]
fn rows_are_decoded_by_their_columns_types() {
    for has_deprecated_eof in [false, true] {
        let mut packet_reader = PacketReader::default();
        packet_reader.push(&result_set(has_deprecated_eof));
        let mut set = RowSet::new(has_deprecated_eof);
        let mut last = RowProgress::More;
        while let Some((payload, _)) = packet_reader.next().unwrap() {
            last = set.message(&payload).unwrap();
        }
        assert_eq!(last, RowProgress::Done);
        assert!(packet_reader.is_empty());
        let text = |text: &str| Datum::Text(text.into());
        let wanted = vec![
            vec![Datum::Int(42), text("abc")],
            vec![Datum::Null, text("")],
            vec![Datum::Int(7), Datum::Null],
        ];
        assert_eq!(set.into_rows(), wanted);
    }
}

#[test]
fn parameter_types_are_sent_once_and_when_they_change() {
    let mut bound = BoundTypes::new(2);
    let mut out = Vec::new();
    let mut encode = |values: &[Value<'_>]| {
        encode_execute(&mut out, 9, &mut bound, values);
        out.clone()
    };
    let head = |length: u8| vec![length, 0, 0, 0, 0x17, 9, 0, 0, 0, 0, 1, 0, 0, 0];
    let first = encode(&[Value::Int(5), Value::Text("ab")]);
    let body = [0, 1, 8, 0, 253, 0, 5, 0, 0, 0, 0, 0, 0, 0, 2, b'a', b'b'];
    assert_eq!(first, [head(27), body.to_vec()].concat());
    let second = encode(&[Value::Int(6), Value::Null]);
    assert_eq!(second, [head(20), vec![0b10, 0, 6, 0, 0, 0, 0, 0, 0, 0]].concat());
    let third = encode(&[Value::Float(1.0), Value::Text("")]);
    assert_eq!(third[14..20], [0, 1, 5, 0, 253, 0]);
}

#[test]
fn types_of_very_many_parameters_are_always_sent() {
    let mut bound = BoundTypes::new(40);
    let mut out = Vec::new();
    let mut values = [Value::Int(1); 40];
    values[39] = Value::Text("z");
    for _ in 0..2 {
        encode_execute(&mut out, 9, &mut bound, &values);
        // After the head of 14 bytes and 5 bytes of NULL bits.
        assert_eq!(out[19], 1);
        assert_eq!(out[20..22], [8, 0]);
        assert_eq!(out[20 + 78..20 + 80], [253, 0]);
        assert!(out.ends_with(b"\x01z"));
    }
}

#[test]
fn a_prepare_response_announces_its_packets() {
    let prepared = Prepared::parse(&[0, 7, 0, 0, 0, 2, 0, 3, 0, 0, 0, 0]).unwrap();
    assert_eq!(prepared, Prepared { id: 7, columns: 2, parameters: 3 });
    assert_eq!(prepared.packets_to_come(true), 5);
    assert_eq!(prepared.packets_to_come(false), 7);
}

#[test]
fn a_greeting_is_read_and_answered() {
    let mut payload = b"\x0a8.0.11-TiDB-v8.5.0\0".to_vec();
    payload.extend_from_slice(&[1, 2, 0, 0]);
    payload.extend_from_slice(b"abcdefgh\0\x09\xa2\x2d\x02\x00\x09\x00\x15");
    payload.extend_from_slice(&[0; 10]);
    payload.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    let greeting = Greeting::parse(&payload).unwrap();
    assert_eq!(greeting.version, "8.0.11-TiDB-v8.5.0");
    assert_eq!((greeting.connection_id, greeting.capabilities), (513, 0x0009_a209));
    assert_eq!(greeting.nonce, b"abcdefghijklmnopqrst");
    assert_eq!(greeting.method, "mysql_native_password");
    let login = LoginRequest {
        capabilities: capability::PLUGIN_AUTH,
        user: "me",
        proof: b"12345678901234567890",
        database: Some("test"),
        method: "mysql_native_password",
    };
    let mut out = Vec::new();
    login.encode(&mut out, 1);
    assert_eq!(out[..4], [out.len() as u8 - 4, 0, 0, 1]);
    assert!(out[36..].starts_with(b"me\0\x1412345678901234567890test\0mysql_native_password\0"));
}

#[test]
fn mariadb_has_capabilities_of_its_own() {
    let greeting = |lower: &[u8; 2]| {
        let mut payload = b"\x0a5.5.5-10.11.6-MariaDB\0\x01\x02\0\0abcdefgh\0".to_vec();
        payload.extend_from_slice(lower);
        payload.extend_from_slice(b"\x2d\x02\x00\x09\x00\x15\0\0\0\0\0\0\x1d\0\0\0ijklmnopqrst\0");
        Greeting::parse(&payload).unwrap().capabilities
    };
    assert_eq!(greeting(b"\xfe\xf7"), 0x001d_0009_f7fe);
    // A server that sets the first bit is not a MariaDB.
    assert_eq!(greeting(b"\xff\xf7"), 0x0009_f7ff);
    let login = LoginRequest {
        capabilities: capability::BULK_EXECUTE,
        user: "",
        proof: b"",
        database: None,
        method: "",
    };
    let mut out = Vec::new();
    login.encode(&mut out, 1);
    assert_eq!((&out[4..8], &out[32..36]), (&[0; 4][..], &[4, 0, 0, 0][..]));
}

#[test]
fn a_long_row_that_comes_in_many_pieces_is_not_copied_for_each_of_them() {
    let cell = vec![b'x'; 1 << 20];
    let row = [&[0xfd, 0, 0, 0x10], &cell[..]].concat();
    let text = column(253);
    let bytes = packets(&[&[1], &text, &row, &[1, b'y'], END_OK]);
    let mut reply = Reply::new(true, 0);
    reply.reset();
    reply.row_buffer(RowFormat::Text);
    let (mut capacities, mut last) = (vec![0], ReplyProgress::More);
    for piece in bytes.chunks(64) {
        last = reply.feed(piece).unwrap();
        let capacity = reply.kept_capacity();
        if capacities.last() != Some(&capacity) {
            capacities.push(capacity);
        }
    }
    assert_eq!(last, ReplyProgress::Done);
    let rows = reply.buffered().unwrap();
    assert_eq!(
        (rows.len(), rows.text(0, 0).map(str::len), rows.text(1, 0)),
        (2, Some(1 << 20), Some("y"))
    );
    assert!(capacities.len() < 50, "a buffer that doubles: {capacities:?}");
}

#[test]
fn variables_may_have_a_mebibyte() {
    let mut set = RowSet::new(true).with_limit(AnswerLimit::Facts);
    let column = column(253);
    for message in [&[1][..], &column] {
        assert_eq!(set.message(message), Ok(RowProgress::More));
    }
    // A row counts with its 200 bytes and the 24 of its cell: 4,681 rows have 1,048,544 bytes.
    let row = [&[199][..], &[b'x'; 199]].concat();
    for _ in 0..4_681 {
        assert_eq!(set.message(&row), Ok(RowProgress::More));
    }
    let excess = Malformed("more than 1 MiB of variables");
    assert_eq!(set.message(&row), Err(excess));
}

#[test]
fn short_messages_may_have_a_mebibyte() {
    for (limit, word) in [(MessageLimit::Short, "a short one"), (MessageLimit::First, "greeting")] {
        let mut reader = PacketReader::default();
        reader.set_limit(limit);
        reader.push(&packets(&[&[7; 1 << 20][..]]));
        assert_eq!(reader.next().unwrap().map(|(message, _)| message.len()), Some(1 << 20));
        reader.push(&[1, 0, 0x10, 1]);
        let refused = reader.next().unwrap_err().to_string();
        assert!(refused.contains(word) && refused.contains("more than 1 MiB"), "{refused}");
    }
}

#[test]
fn a_message_of_two_packets_is_whole_however_it_comes() {
    let payload: Vec<u8> = (0..PACKET_BYTES_MAX + 70_000).map(|place| place as u8).collect();
    let bytes = packets(&[&payload, b"next"]);
    let mut reader = PacketReader::default();
    let mut messages = Vec::new();
    for piece in bytes.chunks(1_000) {
        reader.push(piece);
        while let Some((message, _)) = reader.next().unwrap() {
            messages.push(message);
        }
    }
    assert!(reader.is_empty());
    assert!(messages == [payload, b"next".to_vec()]);
}

#[test]
fn a_server_may_ask_for_another_login_method() {
    let switch = AuthReply::parse(b"\xfecaching_sha2_password\x0012345678901234567890\0").unwrap();
    let AuthReply::Switch { method, nonce } = switch else { panic!("a switch was due") };
    assert_eq!(method, "caching_sha2_password");
    assert_eq!(nonce, b"12345678901234567890\0");
}

#[test]
fn any_login_method_name_can_be_shown() {
    let name = [b"\x1b[31m".as_slice(), &[b'x'; 10_000]].concat();
    let switch = AuthReply::parse(&[b"\xfe".as_slice(), &name, &[0; 200]].concat()).unwrap();
    let AuthReply::Switch { method, nonce } = switch else { panic!("a switch was due") };
    assert!(method.starts_with(" [31mxxx") && method.len() == 64, "{method}");
    assert_eq!(nonce, [0; 64]);
}

fn filled(sql: &str, values: &[Value<'_>], escapes: Escapes) -> String {
    let mut out = Vec::new();
    TextTemplate::new(sql).fill(&mut out, values, escapes).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn question_marks_in_strings_names_and_comments_are_not_placeholders() {
    let sql = "SELECT '?', \"?\\\"?\", `?`, 'it''s?' -- ?\n, ? /* ? */ # ?\n FROM t WHERE a-- ?";
    assert_eq!(TextTemplate::new(sql).parameters(), 1);
    assert_eq!(TextTemplate::new("a--? ?").parameters(), 2);
    assert_eq!(TextTemplate::new("'unclosed ?").parameters(), 0);
    assert_eq!(TextTemplate::new("/* unclosed ?").parameters(), 0);
}

#[test]
fn values_are_filled_in_escaped() {
    let values = [Value::Int(-3), Value::Null, Value::Float(0.5), Value::Text("it's \\ ?\0")];
    let sql = "SELECT ?, ?, ?, ?";
    let usual = filled(sql, &values, Escapes::Backslash);
    assert_eq!(usual, "SELECT -3, NULL, 5e-1, 'it''s \\\\ ?\\0'");
    let plain = filled(sql, &values, Escapes::QuotesOnly);
    assert_eq!(plain, "SELECT -3, NULL, 5e-1, 'it''s \\ ?\0'");
    let mut out = Vec::new();
    let infinite = Value::Float(f64::INFINITY);
    assert_eq!(append_literal(&mut out, infinite, Escapes::Backslash), Err(NotFinite));
}

/// A NULL, a number, a text and another number in each row.
const ROWS: [[Value<'_>; 4]; 2] = [
    [Value::Null, Value::Int(-2), Value::Text("ab"), Value::Float(0.5)],
    [Value::Text("c"), Value::Null, Value::Text(""), Value::Float(1.0)],
];

#[test]
fn rows_are_the_parameters_of_one_insert() {
    let mut rows = ManyRows::default();
    let (mut many, mut one) = (Vec::new(), Vec::new());
    // Twice, because no part of the first request may be in the second.
    for _ in 0..2 {
        ROWS.iter().for_each(|row| rows.push(row));
        rows.encode(&mut many, 9);
        let values = ROWS.concat();
        encode_execute(&mut one, 9, &mut BoundTypes::new(8), &values);
        // The same as one statement with that many parameters; here a NULL is sent with its own type.
        assert_eq!(many, one);
    }
}

#[test]
fn rows_are_an_array_for_one_insert() {
    let mut rows = RowArray::default();
    for _ in 0..2 {
        for row in &ROWS {
            assert!(rows.fits(row));
            rows.push(row);
        }
        assert!(!rows.fits(&[Value::Int(1), Value::Int(1), Value::Null, Value::Null]));
        let mut out = Vec::new();
        rows.encode(&mut out, 9);
        let mut wanted = vec![56, 0, 0, 0, 0xfa, 9, 0, 0, 0, 128, 0, 253, 0, 8, 0, 253, 0, 5, 0];
        wanted.extend([1, 0]);
        wanted.extend((-2_i64).to_le_bytes());
        wanted.extend(b"\0\x02ab\0");
        wanted.extend(0.5_f64.to_le_bytes());
        wanted.extend(b"\0\x01c\x01\0\0\0");
        wanted.extend(1.0_f64.to_le_bytes());
        wanted[0] = (wanted.len() - 4) as u8;
        assert_eq!(out, wanted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn garbage_never_panics(bytes in garbage(), cuts in proptest::collection::vec(0..400_usize, 0..6)) {
        for has_deprecated_eof in [false, true] {
            let mut cuts = cuts.clone();
            cuts.sort_unstable();
            let _ = feed_in_chunks(&mut Reply::new(has_deprecated_eof, 0), &bytes, &cuts);
            let mut set = RowSet::new(has_deprecated_eof);
            let mut packet_reader = PacketReader::default();
            packet_reader.push(&bytes);
            while let Ok(Some((payload, _))) = packet_reader.next() {
                if set.message(&payload).is_err() {
                    break;
                }
            }
        }
        let _ = Greeting::parse(&bytes);
        let _ = AuthReply::parse(&bytes);
        let _ = Prepared::parse(&bytes);
        let _ = ServerError::parse(&bytes);
    }

    #[test]
    fn packet_boundaries_do_not_change_the_result(bytes in garbage(), cuts in proptest::collection::vec(0..400_usize, 0..6)) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        let (mut whole, mut cut) = (Reply::new(true, 0), Reply::new(true, 0));
        let (at_once, in_chunks) =
            (whole.feed(&bytes), feed_in_chunks(&mut cut, &bytes, &cuts));
        // A chunk may end where an answer does; what follows is then read as the next answer.
        if at_once == Ok(ReplyProgress::More) {
            prop_assert_eq!(in_chunks, at_once);
            prop_assert_eq!(cut.answer(), whole.answer());
        }
    }

    #[test]
    fn lengths_round_trip(length in any::<u64>(), shift in 0..64_u32) {
        let length = length >> shift;
        let mut out = Vec::new();
        super::execute::append_length(&mut out, length as usize);
        let mut cursor = Cursor(&out);
        prop_assert_eq!(cursor.length(), Ok(length));
        prop_assert!(cursor.0.is_empty());
    }

    #[test]
    fn text_cannot_escape_its_quotes(text in ".*") {
        for escapes in [Escapes::Backslash, Escapes::QuotesOnly] {
            let mut out = Vec::new();
            append_literal(&mut out, Value::Text(&text), escapes).unwrap();
            prop_assert_eq!(unquoted(&out, escapes), Some(text.clone().into_bytes()));
        }
    }

    #[test]
    fn templates_never_panic(sql in "[?'\"`\\\\/*#a \n-]*") {
        let template = TextTemplate::new(&sql);
        let values = vec![Value::Int(1); template.parameters()];
        let mut out = Vec::new();
        prop_assert!(template.fill(&mut out, &values, Escapes::Backslash).is_ok());
        prop_assert_eq!(out.len(), sql.len());
    }
}

/// Bytes that often look like packets.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let payload = proptest::collection::vec(any::<u8>(), 0..60);
    let lead = prop_oneof![Just(0u8), Just(0xfe), Just(0xff), Just(0xfb), Just(1), any::<u8>()];
    let packet = (lead, payload).prop_map(|(lead, mut payload)| {
        payload.insert(0, lead);
        packets(&[&payload])
    });
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..400),
        proptest::collection::vec(packet, 0..12).prop_map(|packets| packets.concat()),
        (0..3_usize, any::<u8>(), 0..200_usize).prop_map(|(kind, byte, place)| {
            let mut bytes = result_set(kind == 0);
            let place = place % bytes.len();
            bytes[place] = byte;
            bytes
        }),
    ]
}

/// The value that a server reads from a string literal; `None` when the literal ends before the text does.
fn unquoted(literal: &[u8], escapes: Escapes) -> Option<Vec<u8>> {
    let inner = literal.strip_prefix(b"'")?.strip_suffix(b"'")?;
    let mut text = Vec::new();
    let mut rest = inner.iter().copied();
    while let Some(byte) = rest.next() {
        match byte {
            b'\'' => text.push(rest.next().filter(|&next| next == b'\'')?),
            b'\\' if escapes == Escapes::Backslash => match rest.next()? {
                b'0' => text.push(0),
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
    Some(text)
}
