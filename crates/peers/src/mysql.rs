//! Packets of the MySQL protocol, as a server sends them, and the phases of a connection.
//!
//! Source: MySQL Internals, "Client/Server Protocol".

use crate::{Act, Framing, LengthField, Phase, tls};

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
    let length = Some(LengthField { at: 0, bytes: 3, is_low_first: true });
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

/// The logout, which has no answer.
pub fn at_close() -> Phase {
    phase("close", login(), packet(0, OK), packet(0, END))
}
