//! Requests and answers of fixed sizes over TCP. Answers come in the order of the requests; their bytes mean nothing.

use std::collections::VecDeque;

use net::FixedSizes;

use super::answer::{Answer, Malformed};

pub(super) struct TcpCodec {
    /// Whether the sizes must still be told to the server.
    announces: bool,
    answer_bytes: usize,
    /// Calls whose answers have not come, in the order of their requests.
    waiting: VecDeque<u32>,
    /// The bytes of the first of these answers that have arrived.
    arrived: usize,
}

impl TcpCodec {
    pub(super) fn new(announces: bool, answer_bytes: usize) -> Self {
        Self { announces, answer_bytes, waiting: VecDeque::new(), arrived: 0 }
    }

    #[inline]
    pub(super) fn encode(&mut self, id: u32, body: &[u8], out: &mut Vec<u8>) {
        if std::mem::take(&mut self.announces) {
            let (request, answer) = (body.len() as u32, self.answer_bytes as u32);
            out.extend_from_slice(&FixedSizes { request, answer }.encode());
        }
        out.extend_from_slice(body);
        self.waiting.push_back(id);
    }

    #[inline]
    pub(super) fn decode(
        &mut self,
        bytes: &[u8],
        answered: &mut impl FnMut(Answer) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.arrived += bytes.len();
        while self.arrived >= self.answer_bytes {
            let Some(id) = self.waiting.pop_front() else { break };
            self.arrived -= self.answer_bytes;
            answered(Answer { id, result: Ok(()) })?;
        }
        match self.waiting.is_empty() && self.arrived > 0 {
            true => Err(Malformed(format!(
                "the server sent {} bytes more than the answers to all requests",
                self.arrived
            ))),
            false => Ok(()),
        }
    }

    pub(super) fn is_within_answer(&self) -> bool {
        self.arrived > 0
    }
}
