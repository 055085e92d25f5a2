//! Bytes from a server that are taken a message at a time, and how long a message and an answer may be; used off the
//! load path.

/// The peer's bytes do not follow the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Malformed(pub(crate) &'static str);

/// Bytes of which the first messages may have been taken.
#[derive(Debug, Default)]
pub(crate) struct Received {
    bytes: Vec<u8>,
    at: usize,
}

impl Received {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.is_empty() {
            self.bytes.clear();
            self.at = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Goes on behind so many bytes. The memory is freed once everything is read: a session holds none between
    /// conversations.
    pub(crate) fn pass(&mut self, length: usize) {
        self.at += length;
        if self.is_empty() {
            *self = Self::default();
        } else if self.at > 1 << 20 {
            self.bytes.drain(..self.at);
            self.at = 0;
        }
    }

    /// Takes the bytes behind the last message.
    pub(crate) fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.bytes.split_off(self.at);
        *self = Self::default();
        rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    #[cfg(test)]
    pub(crate) fn capacity_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}

/// How long a message may be, whatever its head announces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MessageLimit {
    /// 64 MiB: rows have no limit of their own.
    #[default]
    Row,
    /// 1 MiB: nothing else has more than some kB.
    Short,
    /// The same, for the first message of a server, which shows whether it speaks this protocol.
    First,
}

impl MessageLimit {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Row => 64 << 20,
            Self::Short | Self::First => 1 << 20,
        }
    }

    /// `first` says what a first message is not.
    pub(crate) fn excess(self, first: &'static str) -> Malformed {
        Malformed(match self {
            Self::Row => "a message of more than 64 MiB",
            Self::Short => "a message of more than 1 MiB where a short one was due",
            Self::First => first,
        })
    }
}

/// How much an answer may hold. Longer ones are refused: this is not for load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AnswerLimit {
    /// 256 MiB: rows of tables.
    #[default]
    Rows,
    /// 1 MiB: a server's settings and counters, which have some 10 kB.
    Facts,
}

impl AnswerLimit {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Rows => 256 << 20,
            Self::Facts => 1 << 20,
        }
    }

    /// `facts` says what there is too much of where facts were asked for.
    pub(crate) fn excess(self, facts: &'static str) -> Malformed {
        Malformed(match self {
            Self::Rows => "more than 256 MiB of rows",
            Self::Facts => facts,
        })
    }

    pub(crate) fn of_messages(self) -> MessageLimit {
        match self {
            Self::Rows => MessageLimit::Row,
            Self::Facts => MessageLimit::Short,
        }
    }
}
