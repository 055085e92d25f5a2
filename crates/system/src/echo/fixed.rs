//! Requests and answers of fixed sizes: only their bytes are counted.

use net::FixedSizes;

/// Answers are slices of this. Its pages are never written, so that they take no memory of their own.
static ZEROS: [u8; 256 * 1024] = [0; 256 * 1024];

/// A connection with fixed sizes. It needs no memory for requests and answers, however large they are.
#[derive(Debug)]
pub(super) struct Fixed {
    request_bytes: u64,
    answer_bytes: u64,
    /// Received bytes of the request that is not whole yet.
    received: u64,
    /// Bytes of answers that must still be sent.
    owed: u64,
}

impl Fixed {
    pub(super) fn new(sizes: FixedSizes) -> Self {
        Self {
            request_bytes: u64::from(sizes.request.max(1)),
            answer_bytes: u64::from(sizes.answer),
            received: 0,
            owed: 0,
        }
    }

    /// Counts received bytes.
    pub(super) fn receive(&mut self, length: usize) {
        self.received += length as u64;
        self.owed += self.received / self.request_bytes * self.answer_bytes;
        self.received %= self.request_bytes;
    }

    /// The next bytes to send, as many as fit one piece.
    pub(super) fn next_piece(&mut self) -> Option<&'static [u8]> {
        let length = self.owed.min(ZEROS.len() as u64);
        self.owed -= length;
        ZEROS.get(..usize::try_from(length).ok()?).filter(|piece| !piece.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_whole_request_has_an_answer_of_its_size() {
        let mut fixed = Fixed::new(FixedSizes { request: 122, answer: 27 });
        let mut sent = Vec::new();
        for received in [121, 1, 244, 100, 21, 1, 0] {
            fixed.receive(received);
            sent.push(fixed.next_piece().map_or(0, <[u8]>::len));
            assert_eq!(fixed.next_piece(), None);
        }
        assert_eq!(sent, [0, 27, 54, 0, 0, 27, 0]);
    }

    #[test]
    fn large_answers_leave_in_pieces_and_take_no_memory() {
        let mut fixed = Fixed::new(FixedSizes { request: 1, answer: 1_000_000 });
        fixed.receive(3);
        let mut total = 0;
        while let Some(piece) = fixed.next_piece() {
            assert!(piece.len() <= ZEROS.len());
            total += piece.len();
        }
        assert_eq!(total, 3_000_000);
    }
}
