//! Packets of the MySQL protocol, as a server sends them, and the phases of a connection.
//!
//! Source: MySQL Internals, "Client/Server Protocol".

use crate::{Act, Framing, LengthField, LengthForm, Phase, tls};

/// The rest of an OK packet: nothing was changed, autocommit.
pub const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
/// The rest of an OK packet behind which another result follows.
pub const OK_MORE: &[u8] = &[0, 0, 0, 0x0a, 0, 0, 0];
/// The end of rows.
pub const END: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];
/// The header of a packet of 16 MiB minus one byte.
pub const SIXTEEN_MEBIBYTES: &[u8] = &[0xff, 0xff, 0xff, 0];
/// A request to prove the password with another method.
pub const SWITCH: &[u8] = b"\xfemysql_native_password\0abcdefghijklmnopqrst\0";
/// The same with a method that may ask for the password itself.
const SWITCH_SHA2: &[u8] = b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0";
/// That method asks for the password.
const FULL_LOGIN: &[u8] = &[1, 4];
/// That method knows a hash of the password.
const FAST_LOGIN: &[u8] = &[1, 3];

/// One packet.
pub fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [&length[..3], &[sequence], payload].concat()
}

/// The greeting of a server that asks for a native password.
pub fn greeting() -> Vec<u8> {
    let mut payload =
        b"\x0a8.0.11-hostile\0\x01\0\0\0abcdefgh\0\xff\xf7\x2d\x02\0\xff\x81\x15".to_vec();
    payload.extend_from_slice(&[0; 10]);
    payload.extend_from_slice(b"ijklmnopqrst\0mysql_native_password\0");
    packet(0, &payload)
}

/// The greeting of a server that offers TLS.
pub fn tls_greeting() -> Vec<u8> {
    let mut greeting = greeting();
    // The bit 0x800 of the capabilities, in the second byte of four.
    if let Some(at) = greeting.windows(2).position(|pair| pair == [0xff, 0xf7]) {
        greeting[at + 1] |= 0x08;
    }
    greeting
}

/// The start of a result of one text column.
pub fn result_head() -> Vec<u8> {
    [packet(1, &[1]), column()].concat()
}

/// The definition of a text column.
fn column() -> Vec<u8> {
    let mut column = b"\x03def\x04test\x01t\x01t\x01c\x01c\x0c".to_vec();
    column.extend_from_slice(&[45, 0, 120, 0, 0, 0, 253, 0, 0, 0, 0, 0]);
    packet(2, &column)
}

/// A row of one text of this length, below 64 KiB.
pub fn row(length: u16) -> Vec<u8> {
    let [low, high] = length.to_le_bytes();
    packet(3, &[&[0xfc, low, high][..], &vec![b'x'; usize::from(length)]].concat())
}

/// The answer to a PREPARE without parameters.
fn prepared(columns: u16) -> Vec<u8> {
    let [low, high] = columns.to_le_bytes();
    packet(1, &[0, 1, 0, 0, 0, low, high, 0, 0, 0, 0, 0])
}

/// A successful login.
pub fn login() -> Vec<Act> {
    vec![Act::Send(greeting()), ASKED, Act::Send(packet(2, OK))]
}

/// A successful login, the packet behind it, and these acts.
pub fn after_login(acts: Vec<Act>) -> Vec<Act> {
    [login(), vec![ASKED], acts].concat()
}

/// A server that offers TLS, and these acts after the client has requested it.
pub fn after_tls_request(acts: Vec<Act>) -> Vec<Act> {
    [vec![Act::Send(tls_greeting()), ASKED], acts].concat()
}

const FRAMING: Framing = Framing::MySqlPacket;
const ASKED: Act = Act::Receive(FRAMING);

fn phase(name: &'static str, before: Vec<Act>, due: Vec<u8>, next: Vec<u8>) -> Phase {
    let length = Some(LengthField { at: 0, bytes: 3, form: LengthForm::LowFirst });
    let repeated = due.clone();
    let first_of_many = Vec::new();
    Phase { name, before, asked: Some(FRAMING), due, length, next, first_of_many, repeated }
}

/// The first message of a server.
pub fn at_greeting() -> Phase {
    let next = packet(2, OK);
    Phase { asked: None, ..phase("greeting", Vec::new(), greeting(), next) }
}

/// The handshake of TLS.
pub fn at_tls() -> Phase {
    tls::handshake(after_tls_request(Vec::new()))
}

/// The answer to the login.
pub fn at_authentication() -> Phase {
    let before = vec![Act::Send(greeting())];
    let honest = phase("authentication", before, packet(2, OK), packet(1, END));
    Phase { repeated: packet(2, SWITCH), ..honest }
}

/// The phases of an answer to the login that asks for another proof: the answer to that proof, whether the server knows a
/// hash of the password, and the answer to the password itself.
pub fn at_further_authentication() -> [Phase; 3] {
    let switched = |to: &[u8]| vec![Act::Send(greeting()), ASKED, Act::Send(packet(2, to))];
    let honest = phase("second proof", switched(SWITCH), packet(4, OK), packet(1, END));
    let second_proof = Phase { repeated: packet(4, SWITCH), ..honest };
    let asked = phase("full login", switched(SWITCH_SHA2), packet(4, FULL_LOGIN), packet(6, OK));
    let full_login = Phase { repeated: packet(4, FAST_LOGIN), ..asked };
    let full = after_full_login(&[]);
    [second_proof, full_login, phase("password", full, packet(6, OK), packet(1, END))]
}

/// The phases of a login that needs the server's RSA key, which is in PEM: the key, and the answer to the password.
pub fn at_key(pem: &str) -> [Phase; 2] {
    let key = packet(6, &[b"\x01", pem.as_bytes()].concat());
    let sent = after_full_login(&[ASKED, Act::Send(key.clone())]);
    [
        phase("RSA key", after_full_login(&[]), key, packet(8, OK)),
        phase("encrypted password", sent, packet(8, OK), packet(1, END)),
    ]
}

/// A server that does not know a hash of the password, and these acts.
fn after_full_login(acts: &[Act]) -> Vec<Act> {
    let switch = [Act::Send(greeting()), ASKED, Act::Send(packet(2, SWITCH_SHA2)), ASKED];
    [&switch[..], &[Act::Send(packet(4, FULL_LOGIN))], acts].concat()
}

/// The same phase on a connection that is encrypted after the greeting.
pub fn within_tls(phase: Phase) -> Phase {
    // The first act sends the greeting.
    let behind = phase.before.into_iter().skip(1);
    Phase { before: after_tls_request([Act::Encrypt].into_iter().chain(behind).collect()), ..phase }
}

/// The answer to the preparation of a statement.
pub fn at_prepare() -> Phase {
    let honest = phase("prepare", login(), prepared(1), column());
    Phase { first_of_many: prepared(u16::MAX), repeated: column(), ..honest }
}

/// The answer to a statement that returns no rows.
pub fn at_query() -> Phase {
    let honest = phase("query", login(), packet(1, OK), packet(1, END));
    Phase { repeated: packet(1, OK_MORE), ..honest }
}

/// The rows of a text statement.
pub fn at_rows() -> Phase {
    let before = after_login(vec![Act::Send(result_head())]);
    Phase { asked: None, ..phase("rows", before, row(200), packet(4, END)) }
}

/// The rows of a prepared statement.
pub fn at_fetch() -> Phase {
    let prepared = Act::Send([prepared(1), column()].concat());
    let before = after_login(vec![prepared, ASKED, Act::Send(result_head())]);
    let binary = packet(3, b"\0\0\x04text");
    Phase { asked: None, ..phase("fetch", before, binary, packet(4, END)) }
}

/// The answer to the execution of a statement that was prepared, and returns no rows.
pub fn at_execute() -> Phase {
    let before = after_login(vec![Act::Send(prepared(0))]);
    Phase { before, name: "execute", ..at_query() }
}

/// The phases of rows that the client sends in so many packets: the request for them, what is sent behind an answer in
/// place of it, what is sent while they come, and the answer to all of them.
pub fn at_local_rows(packets: usize) -> [Phase; 4] {
    // Another file than that of the statement.
    let request = packet(1, b"\xfb/etc/passwd");
    let requested = after_login(vec![Act::Send(request.clone())]);
    let received = [requested.clone(), vec![ASKED; packets]].concat();
    let answer = |name, before| {
        let honest = phase(name, before, packet(2, OK), packet(1, END));
        Phase { repeated: packet(2, OK_MORE), ..honest }
    };
    [
        phase("request for rows", login(), request, packet(2, OK)),
        Phase { asked: None, ..answer("no request", after_login(vec![Act::Send(packet(1, OK))])) },
        Phase { asked: Some(Framing::Bytes(1)), ..answer("rows of a client", requested) },
        answer("answer to rows", received),
    ]
}

/// The logout, which has no answer.
pub fn at_close() -> Phase {
    phase("close", login(), packet(0, OK), packet(0, END))
}
