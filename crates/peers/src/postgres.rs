//! Messages of the PostgreSQL protocol, as a server sends them, and the phases of a connection.
//!
//! Source: PostgreSQL's documentation, "Frontend/Backend Protocol".

use crate::{Act, Framing, LengthField, LengthForm, Phase};

/// The end of an answer, outside of a transaction.
pub const READY: &[u8] = b"Z\0\0\0\x05I";
/// The same within a transaction.
pub const READY_OPEN: &[u8] = b"Z\0\0\0\x05T";
const BOUND: &[u8] = b"2\0\0\0\x04";
const PARSED: &[u8] = b"1\0\0\0\x04";
const NO_DATA: &[u8] = b"n\0\0\0\x04";

/// One message.
pub fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 4).to_be_bytes();
    [&[kind], &length[..], body].concat()
}

/// The end of a command.
pub fn done(tag: &str) -> Vec<u8> {
    message(b'C', format!("{tag}\0").as_bytes())
}

/// An error or a notice with this state and text.
pub fn error(kind: u8, severity: &str, state: &str, text: &str) -> Vec<u8> {
    let body = format!("S{severity}\0V{severity}\0C{state}\0M{text}\0\0");
    message(kind, body.as_bytes())
}

/// A request of the server for a proof of the password.
pub fn authentication(code: u32, rest: &[u8]) -> Vec<u8> {
    message(b'R', &[&code.to_be_bytes(), rest].concat())
}

/// The description of rows of one text.
pub fn row_head() -> Vec<u8> {
    message(b'T', b"\0\x01c\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0")
}

/// A row of one text of this length.
pub fn row(length: u32) -> Vec<u8> {
    let text = vec![b'x'; length as usize];
    message(b'D', &[&[0, 1][..], &length.to_be_bytes(), &text].concat())
}

/// What follows an accepted login.
fn session_begins() -> Vec<u8> {
    let setting = message(b'S', b"standard_conforming_strings\0on\0");
    [&setting[..], &message(b'K', &[0, 0, 0, 7, 0, 0, 0, 9]), READY].concat()
}

/// A successful login without a password.
pub fn login() -> Vec<Act> {
    let accepted = authentication(0, &[]);
    vec![BEGUN, Act::Send([&accepted[..], &session_begins()].concat())]
}

/// A successful login, a text, and these acts.
pub fn after_login(acts: Vec<Act>) -> Vec<Act> {
    [login(), vec![ASKED], acts].concat()
}

/// A successful login, a statement that was prepared, and what comes before the answer to its execution.
fn after_prepare() -> Vec<Act> {
    let described = message(b't', &[0, 0]);
    let prepared = [PARSED, &described, NO_DATA, READY].concat();
    // Parse, Describe and Sync; then Bind and Execute, before a last Sync.
    let asked = [login(), vec![ASKED, ASKED, ASKED, Act::Send(prepared)]].concat();
    [asked, vec![ASKED, ASKED]].concat()
}

const ASKED: Act = Act::Receive(Framing::PostgresMessage);
const BEGUN: Act = Act::Receive(Framing::PostgresStart);

fn phase(name: &'static str, before: Vec<Act>, due: Vec<u8>, next: &[u8]) -> Phase {
    Phase {
        name,
        before,
        asked: Some(Framing::PostgresMessage),
        length: Some(LengthField { at: 1, bytes: 4, form: LengthForm::HighFirst }),
        repeated: due.clone(),
        due,
        next: next.to_vec(),
        first_of_many: Vec::new(),
    }
}

fn notice() -> Vec<u8> {
    error(b'N', "NOTICE", "00000", "look at this")
}

/// The phases of a login: what follows the first message, the answer to a password, what the server tells of the session.
pub fn at_login() -> [Phase; 3] {
    let accepted = authentication(0, &[]);
    let first = phase("authentication", Vec::new(), accepted.clone(), READY);
    let wants_password = authentication(3, &[]);
    let asked = vec![BEGUN, Act::Send(wants_password.clone())];
    let password = phase("password", asked, accepted.clone(), READY);
    let begun = vec![BEGUN, Act::Send(accepted)];
    let session = phase("session", begun, session_begins(), READY);
    [
        Phase { asked: Some(Framing::PostgresStart), repeated: notice(), ..first },
        Phase { repeated: wants_password, ..password },
        Phase { asked: None, repeated: notice(), ..session },
    ]
}

/// The answer to the preparation of a statement.
pub fn at_prepare() -> Phase {
    let before = [login(), vec![ASKED, ASKED]].concat();
    Phase { repeated: notice(), ..phase("prepare", before, PARSED.to_vec(), NO_DATA) }
}

/// The answer to a text without rows.
pub fn at_query() -> Phase {
    Phase { repeated: done("SET"), ..phase("query", login(), done("SET"), READY) }
}

/// The rows of a text.
pub fn at_rows() -> Phase {
    let before = after_login(vec![Act::Send(row_head())]);
    Phase { asked: None, ..phase("rows", before, row(200), READY) }
}

/// The answer to the execution of a statement, which returns rows that are skipped, or kept.
pub fn at_execute(name: &'static str) -> Phase {
    let due = [BOUND, &row(200)].concat();
    let repeated = row(200);
    let first_of_many = BOUND.to_vec();
    Phase { first_of_many, repeated, ..phase(name, after_prepare(), due, READY) }
}

/// The phases of a COPY: the request for rows, and the answer to all of them, which come in so many messages.
pub fn at_copy(messages: usize) -> [Phase; 2] {
    let request = message(b'G', &[0, 0, 1, 0, 0]);
    let received = [after_login(vec![Act::Send(request.clone())]), vec![ASKED; messages]].concat();
    let answer = phase("answer to rows", received, done("COPY 4"), READY);
    [phase("request for rows", login(), request, READY), Phase { repeated: notice(), ..answer }]
}

/// The logout, which has no answer.
pub fn at_close() -> Phase {
    phase("close", login(), done("SET"), READY)
}
