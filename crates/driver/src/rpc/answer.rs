//! What codecs tell about received bytes.

use std::fmt;

use measure::{ErrorClass, Failure};

use crate::Address;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) id: u32,
    pub(super) result: Result<(), Box<ServiceError>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServiceError {
    /// Whether the framework or the method failed.
    pub(super) class: ErrorClass,
    pub(super) code: String,
    pub(super) message: String,
    pub(super) origin: Origin,
}

/// Where the error of a call comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The service answered with it.
    Service,
    /// The service has certainly not begun the call, so that it can be sent again.
    NotBegun,
    /// dyno does not accept the answer.
    Dyno,
}

/// The peer broke the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed(pub(super) String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a connection is of no use any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LinkFault {
    /// The peer broke the protocol.
    Malformed(Malformed),
    /// The peer has ended the connection in the way of its protocol.
    Ended(String),
}

impl LinkFault {
    #[cold]
    pub(super) fn explain(&self, address: &Address) -> Failure {
        let (class, why) = match self {
            Self::Malformed(Malformed(why)) => (ErrorClass::Protocol, why),
            Self::Ended(why) => (ErrorClass::Connection, why),
        };
        Failure::new(class, "", format!("{}: {why}", address.name))
    }
}

impl From<Malformed> for LinkFault {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}
