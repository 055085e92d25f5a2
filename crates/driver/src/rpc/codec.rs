//! The codec of a connection: one of a closed set.

use std::sync::Arc;

use super::answer::{Answer, LinkFault, Malformed};
use super::grpc::{self, GrpcCodec};
use super::service::deadline;
use super::tcp::TcpCodec;
use super::trpc::TrpcCodec;
use super::{Call, Protocol, Service};
use crate::{Address, Timeouts};

/// A codec: requests to bytes, and bytes to answers.
pub(super) enum Codec {
    Tcp(TcpCodec),
    Trpc(TrpcCodec),
    Grpc(Box<GrpcCodec>),
}

impl Codec {
    /// The codec of a new connection to one address of a service.
    ///
    /// # Errors
    /// When the protocol cannot carry the call.
    pub(super) fn new(
        service: &Service,
        address: &Address,
        call: &Call,
        timeouts: Timeouts,
    ) -> Result<Self, LinkFault> {
        Ok(match service.protocol {
            Protocol::Tcp { announces } => Self::Tcp(TcpCodec::new(announces, call.answer_bytes)),
            Protocol::Trpc => Self::Trpc(TrpcCodec::new(call, timeouts.query.map(deadline))),
            Protocol::Grpc => {
                let head = service.request_head(address, call, timeouts);
                let head = head.map_err(|fault| LinkFault::Ended(fault.to_string()))?;
                let Call { answer_bytes_max, compression, .. } = *call;
                let settings =
                    grpc::Settings { head, answer_bytes_max, compression, keeps_answers: false };
                Self::Grpc(Box::new(GrpcCodec::new(&Arc::new(settings))?))
            }
        })
    }

    /// Checks values of drawn metadata.
    ///
    /// # Errors
    /// When the protocol cannot carry them.
    pub(super) fn check(&self, metadata: &[String]) -> Result<(), String> {
        match self {
            Self::Tcp(_) => Ok(()),
            Self::Trpc(codec) => codec.check(metadata),
            Self::Grpc(codec) => codec.check(metadata).map_err(|fault| fault.to_string()),
        }
    }

    /// Takes the request of call `id` with this body and these values of drawn metadata, which were checked. It is in `out`
    /// after the next [`Codec::flush`] at the latest.
    #[inline]
    pub(super) fn encode(
        &mut self,
        id: u32,
        (body, metadata): (&[u8], &[String]),
        out: &mut Vec<u8>,
    ) {
        match self {
            Self::Tcp(codec) => codec.encode(id, body, out),
            Self::Trpc(codec) => codec.encode(id, (body, metadata), out),
            Self::Grpc(codec) => codec.encode(id, (body, metadata)),
        }
    }

    /// Appends to `out` what is to be sent by now, and passes calls that fail for it to `answered`.
    ///
    /// # Errors
    /// As [`Codec::decode`].
    #[inline]
    pub(super) fn flush(
        &mut self,
        out: &mut Vec<u8>,
        answered: &mut impl FnMut(Answer) -> Result<(), Malformed>,
    ) -> Result<(), LinkFault> {
        match self {
            Self::Tcp(_) | Self::Trpc(_) => Ok(()),
            Self::Grpc(codec) => codec.flush(out, &mut |id, result| answered(answer(id, result))),
        }
    }

    /// Reads received bytes, and passes each answer that has arrived whole to `answered`. What the protocol answers by
    /// itself is in `out` after the next [`Codec::flush`] at the latest.
    ///
    /// # Errors
    /// When the peer breaks the protocol, or `answered` finds that it did, or when the peer ends the connection. It is
    /// of no use then.
    #[inline]
    pub(super) fn decode(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        answered: &mut impl FnMut(Answer) -> Result<(), Malformed>,
    ) -> Result<(), LinkFault> {
        match self {
            Self::Tcp(codec) => Ok(codec.decode(bytes, answered)?),
            Self::Trpc(codec) => Ok(codec.decode(bytes, answered)?),
            Self::Grpc(codec) => {
                codec.decode(bytes, out, &mut |id, result| answered(answer(id, result)))
            }
        }
    }

    /// Gives a call up; returns whether its answer may still come.
    pub(super) fn forget(&mut self, id: u32) -> bool {
        match self {
            Self::Tcp(_) | Self::Trpc(_) => true,
            Self::Grpc(codec) => {
                codec.forget(id);
                false
            }
        }
    }

    /// Whether the peer has announced the end of the connection, finishes what it has begun, and takes no more calls.
    pub(super) fn is_ending(&self) -> bool {
        match self {
            Self::Tcp(_) | Self::Trpc(_) => false,
            Self::Grpc(codec) => codec.is_ending(),
        }
    }

    #[cfg(test)]
    pub(super) fn kept_bytes(&self) -> usize {
        match self {
            Self::Tcp(_) => 0,
            Self::Trpc(codec) => codec.kept_bytes(),
            Self::Grpc(codec) => codec.kept_bytes(),
        }
    }

    pub(super) fn is_within_answer(&self) -> bool {
        match self {
            Self::Tcp(codec) => codec.is_within_answer(),
            Self::Trpc(codec) => codec.is_within_answer(),
            Self::Grpc(codec) => codec.is_within_answer(),
        }
    }
}

fn answer(id: u32, result: grpc::CallResult) -> Answer {
    Answer { id, result: result.map(drop) }
}
