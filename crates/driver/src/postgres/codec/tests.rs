//! Answers without sockets.

use super::*;
use crate::Answer;

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    append_message(&mut out, kind, body);
    out
}

fn row(cells: &[Option<&str>]) -> Vec<u8> {
    let mut body = (cells.len() as u16).to_be_bytes().to_vec();
    for cell in cells {
        body.extend_from_slice(&cell.map_or(-1, |text| text.len() as i32).to_be_bytes());
        body.extend_from_slice(cell.unwrap_or_default().as_bytes());
    }
    message(kind::DATA_ROW, &body)
}

fn tag(text: &str) -> Vec<u8> {
    message(kind::COMMAND_COMPLETE, format!("{text}\0").as_bytes())
}

fn ready(state: u8) -> Vec<u8> {
    message(kind::READY, &[state])
}

fn bound() -> Vec<u8> {
    message(kind::BIND_COMPLETE, &[])
}

/// Feeds an answer in pieces of this length.
fn fed(
    request: Request,
    bytes: &[u8],
    piece: usize,
    keeps: bool,
) -> Result<(ReplyProgress, Reply), Malformed> {
    let mut reply = Reply::default();
    reply.begin(request);
    if keeps {
        reply.row_buffer();
    }
    let mut step = ReplyProgress::More;
    for part in bytes.chunks(piece) {
        step = reply.feed(part)?;
        if !matches!(step, ReplyProgress::More) {
            break;
        }
    }
    Ok((step, reply))
}

#[test]
fn an_answer_is_counted_in_however_many_pieces_it_comes() {
    let parts = [bound(), row(&[Some("a")]), row(&[None]), tag("SELECT 2"), ready(b'T')];
    let bytes = parts.concat();
    for piece in 1..=bytes.len() {
        let (step, reply) = fed(Request::Execute, &bytes, piece, false).unwrap();
        assert_eq!(step, ReplyProgress::Done, "{piece}");
        assert_eq!(reply.answer(), Answer { rows: 2, affected: 0 });
        assert_eq!(reply.state(), TransactionState::Open);
        let (_, kept) = fed(Request::Execute, &bytes, piece, true).unwrap();
        let rows = kept.buffered().unwrap();
        assert_eq!((rows.len(), rows.text(0, 0)), (2, Some("a")));
        assert!(rows.is_null(1, 0));
    }
}

#[test]
fn tags_tell_how_many_rows_were_changed() {
    for (text, affected) in [
        ("INSERT 0 3", 3),
        ("UPDATE 7", 7),
        ("DELETE 0", 0),
        ("COPY 25000", 25_000),
        ("BEGIN", 0),
        ("SELECT 9", 0),
        ("MERGE 2", 2),
        ("INSERT 0 99999999999999999999999", 0),
    ] {
        let bytes = [tag(text), ready(b'I')].concat();
        let (_, reply) = fed(Request::Text, &bytes, 7, false).unwrap();
        assert_eq!(reply.answer().affected, affected, "{text}");
    }
}

#[test]
fn a_refused_statement_ends_with_the_state_of_its_session() {
    let body = b"SFEHLER\0VERROR\0C40001\0Mcould not serialize\0Dbecause\0Hretry\0\0";
    let bytes = [bound(), message(kind::ERROR, body), ready(b'E')].concat();
    let (step, reply) = fed(Request::Execute, &bytes, 3, false).unwrap();
    let ReplyProgress::Refused(error) = step else { panic!("{step:?}") };
    assert_eq!(error.class(), measure::ErrorClass::WriteConflict);
    assert_eq!(error.text(), "could not serialize (detail: because) (hint: retry) (40001)");
    assert_eq!(reply.state(), TransactionState::Failed);
}

#[test]
fn states_have_the_classes_that_a_workload_acts_on() {
    use measure::ErrorClass::*;
    let class = |state: &str, message: &str| {
        let (state, message) = (state.to_owned(), message.to_owned());
        ServerError { state, message, ..ServerError::default() }.class()
    };
    let plan = "cached plan must not change result type";
    for (state, message, wanted) in [
        ("40001", "", WriteConflict),
        ("40P01", "", Deadlock),
        ("55P03", "", LockTimeout),
        ("0A000", plan, WriteConflict),
        ("0A000", "something else", Server),
        ("23505", "", DuplicateKey),
        ("23503", "", Server),
        ("28P01", "", Login),
        ("3D000", "", Login),
        ("53300", "", Connection),
        ("57P01", "", Connection),
        ("08006", "", Connection),
        ("57014", "", Server),
        ("42601", "", Server),
    ] {
        assert_eq!(class(state, message), wanted, "{state}");
    }
    let ended = ServerError { state: "40001".into(), is_fatal: true, ..ServerError::default() };
    assert_eq!(ended.class(), Connection, "a standby ends a session");
}

#[test]
fn statements_that_end_are_counted_and_not_those_that_fail_or_only_prepare() {
    let failed = message(kind::ERROR, b"VERROR\0C22012\0Mdivision by zero\0\0");
    let all = [tag("SET"), tag("PREPARE"), tag("PREPARE TRANSACTION"), tag("UPDATE 3"), failed];
    let bytes = [all.concat(), ready(b'I')].concat();
    let (_, reply) = fed(Request::Text, &bytes, 7, false).unwrap();
    assert_eq!((reply.statements(), reply.transactions()), (3, 1));
}

#[test]
fn messages_that_are_not_due_are_refused() {
    let head = message(kind::ROW_DESCRIPTION, &[0, 0]);
    let done = [bound(), tag("SELECT 0"), ready(b'I')].concat();
    let cases: Vec<(&str, Request, Vec<u8>)> = vec![
        ("rows before Bind", Request::Execute, row(&[])),
        ("a description in place of Bind", Request::Execute, head.clone()),
        ("a description behind Bind", Request::Execute, [bound(), head].concat()),
        ("an end without an answer", Request::Execute, ready(b'I')),
        ("two ends of a command", Request::Execute, [bound(), tag("SET"), tag("SET")].concat()),
        ("an unknown state", Request::Text, [tag("SET"), ready(b'X')].concat()),
        ("two ends", Request::Execute, [done.clone(), ready(b'I')].concat()),
        ("bytes behind the end", Request::Execute, [done, vec![0]].concat()),
        (
            "a request for rows of Execute",
            Request::Execute,
            [bound(), message(kind::COPY_IN, &[])].concat(),
        ),
        ("an unknown kind", Request::Text, message(b'?', &[])),
        ("a length below 4", Request::Text, b"C\0\0\0\x03".to_vec()),
        ("a length below 0", Request::Text, b"D\xff\xff\xff\xff".to_vec()),
        ("a long tag", Request::Text, b"C\0\x01\0\0".to_vec()),
        ("a long error", Request::Text, b"E\x0c\0\0\0".to_vec()),
        ("a tag without its end", Request::Text, message(kind::COMMAND_COMPLETE, b"SET")),
        ("an error without its end", Request::Text, message(kind::ERROR, b"SERROR\0")),
    ];
    for (name, request, bytes) in cases {
        assert!(fed(request, &bytes, bytes.len(), false).is_err(), "{name}");
    }
}

#[test]
fn rows_that_are_kept_are_read_within_their_message() {
    let short = message(kind::DATA_ROW, &[0, 1, 0, 0, 0, 9, b'x']);
    let negative = message(kind::DATA_ROW, &[0xff, 0xff]);
    let minus_two = message(kind::DATA_ROW, &[0, 1, 0xff, 0xff, 0xff, 0xfe]);
    let long = b"D\x7f\xff\xff\xff".to_vec();
    for wrong in [short, negative, minus_two, long] {
        let bytes = [bound(), wrong].concat();
        assert!(fed(Request::Execute, &bytes, bytes.len(), true).is_err(), "{bytes:?}");
    }
    let unequal = [bound(), row(&[None]), row(&[None, None])].concat();
    assert!(fed(Request::Execute, &unequal, 5, true).is_err());
}

#[test]
fn a_skipped_row_of_2_gib_takes_no_memory() {
    let mut reply = Reply::default();
    reply.begin(Request::Execute);
    reply.feed(&[bound(), b"D\x7f\xff\xff\xff".to_vec()].concat()).unwrap();
    for _ in 0..100 {
        assert_eq!(reply.feed(&[0; 64 << 10]), Ok(ReplyProgress::More));
    }
    assert_eq!(reply.kept_capacity(), 0);
}

#[test]
fn an_execution_has_parameters_in_the_form_that_the_server_names() {
    use crate::Value::{Float, Int, Null, Text};
    let kinds = ParameterKind::all(
        &[
            &[0, 4][..],
            &20_i32.to_be_bytes(),
            &23_i32.to_be_bytes(),
            &21_i32.to_be_bytes(),
            &1700_i32.to_be_bytes(),
        ]
        .concat(),
    )
    .unwrap();
    assert_eq!(
        kinds,
        [ParameterKind::Int8, ParameterKind::Int4, ParameterKind::Int2, ParameterKind::Text]
    );
    let prepared = Prepared { parse: Vec::new(), names: b"\0s1\0".to_vec(), kinds };
    let mut out = Vec::new();
    append_execute(&mut out, &prepared, &[Int(-1), Int(2), Int(70_000), Float(12.5)]);
    let mut wanted = b"\0s1\0\0\x04\0\x01\0\x01\0\0\0\0\0\x04".to_vec();
    wanted.extend_from_slice(b"\0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\x04\0\0\0\x02");
    wanted.extend_from_slice(b"\0\0\0\x0570000\0\0\0\x0412.5\0\0");
    let end = b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
    assert_eq!(out, [message(b'B', &wanted), end.to_vec()].concat());
    out.clear();
    append_execute(&mut out, &prepared, &[Null, Text("x"), Null, Null]);
    assert_eq!(
        out[5..],
        [
            &b"\0s1\0\0\0\0\x04\xff\xff\xff\xff\0\0\0\x01x\xff\xff\xff\xff\xff\xff\xff\xff\0\0"[..],
            end
        ]
        .concat()
    );
}

#[test]
fn rows_of_a_text_have_the_types_of_their_description() {
    let column = |name: &str, number: i32| {
        [name.as_bytes(), &[0; 7], &number.to_be_bytes(), &[0; 8]].concat()
    };
    let head = [&[0, 3][..], &column("a", 20), &column("b", 701), &column("c", 1043)].concat();
    let mut set = RowSet::new(AnswerLimit::Facts);
    set.message(kind::ROW_DESCRIPTION, &head).unwrap();
    set.message(kind::DATA_ROW, &row(&[Some("7"), Some("0.5"), Some("7")])[5..]).unwrap();
    assert!(set.message(kind::READY, b"I").is_err(), "before the end");
    set.message(kind::COMMAND_COMPLETE, b"SELECT 1\0").unwrap();
    assert_eq!(set.message(kind::READY, b"I"), Ok(RowProgress::Done));
    use crate::Datum::{Float, Int, Text};
    assert_eq!(set.into_rows(), [vec![Int(7), Float(0.5), Text("7".to_owned())]]);
}

proptest::proptest! {
    /// Whatever a server sends, nothing panics, and where it is cut makes no difference.
    #[test]
    fn cuts_change_nothing(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), piece in 1..20_usize) {
        let bytes = [bound(), row(&[Some("a")]), bytes].concat();
        for keeps in [false, true] {
            let whole = fed(Request::Execute, &bytes, bytes.len(), keeps).map(|(step, reply)| (step, reply.answer()));
            let cut = fed(Request::Execute, &bytes, piece, keeps).map(|(step, reply)| (step, reply.answer()));
            if let (Ok(whole), Ok(cut)) = (whole, cut) {
                assert_eq!(whole, cut);
            }
        }
    }
}
