//! Counts the statements that a client of the MySQL protocol sends, from its bytes alone.
//!
//! Source: MySQL's internals manual, "MySQL Packets" and "Command Phase": a packet has three bytes of length, a
//! sequence number and a payload of that length; a command begins a sequence (number 0) with its code.

/// COM_QUERY and COM_STMT_EXECUTE.
const QUERY: u8 = 0x03;
const EXECUTE: u8 = 0x17;
/// The start of the statements with which dyno reads the server's counters: they are not part of a load.
const READING: &[u8] = b"SHOW GLOBAL";
const HEADER_BYTES: usize = 4;

/// The bytes that one client has sent to the server so far.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The header, then the payload's first bytes.
    head: Vec<u8>,
    /// Bytes of the payload that have not arrived yet, once the header is complete.
    left: usize,
    is_counted: bool,
}

impl Requests {
    /// Reads the next bytes; returns how many statements began in them.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> u64 {
        bytes.iter().map(|&byte| u64::from(self.byte(byte))).sum()
    }

    /// Whether this byte completes the start of a statement.
    fn byte(&mut self, byte: u8) -> bool {
        if self.head.len() < HEADER_BYTES {
            self.head.push(byte);
            if self.head.len() == HEADER_BYTES {
                self.left = usize::from(self.head[0])
                    | usize::from(self.head[1]) << 8
                    | usize::from(self.head[2]) << 16;
                self.begin_anew_when_whole();
            }
            return false;
        }
        if self.head.len() < HEADER_BYTES + 1 + READING.len() {
            self.head.push(byte);
        }
        self.left -= 1;
        let is_recognized = self.head.len() == HEADER_BYTES + 1 + READING.len() || self.left == 0;
        let is_new = is_recognized && !self.is_counted && self.is_statement();
        self.is_counted |= is_new;
        self.begin_anew_when_whole();
        is_new
    }

    fn is_statement(&self) -> bool {
        let is_command = self.head[HEADER_BYTES - 1] == 0;
        let (code, text) = (self.head[HEADER_BYTES], &self.head[HEADER_BYTES + 1..]);
        is_command && (code == EXECUTE || (code == QUERY && text != READING))
    }

    fn begin_anew_when_whole(&mut self) {
        if self.left == 0 {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_le_bytes();
        [&length[..3], &[sequence], payload].concat()
    }

    #[test]
    fn statements_are_counted_for_any_packet_boundaries() {
        let execution = [&[EXECUTE][..], &[7; 40]].concat();
        let stream = [
            packet(1, b"\x03a login, whatever it begins with"),
            packet(0, b"\x16SELECT a FROM t WHERE id = ?"),
            packet(0, &execution),
            packet(0, b"\x03BEGIN"),
            packet(0, b"\x03SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Com\\_%'"),
            packet(0, b"\x03SHOW GLOB"),
            packet(0, b""),
            packet(0, b"\x03"),
            packet(0, b"\x01"),
        ]
        .concat();
        for chunk in [1, 2, 3, 7, stream.len()] {
            let mut requests = Requests::default();
            let count: u64 = stream.chunks(chunk).map(|bytes| requests.feed(bytes)).sum();
            // The execution, BEGIN, and the two unusual ones.
            assert_eq!(count, 4, "in pieces of {chunk}");
        }
    }
}
