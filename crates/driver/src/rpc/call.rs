//! What is called, and how.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    /// The service with its package, such as `trpc.test.helloworld.Greeter`.
    pub service: String,
    /// The method, such as `SayHello`.
    pub name: String,
}

impl Method {
    /// Reads `service/method`.
    pub fn parse(text: &str) -> Option<Self> {
        let (service, name) = text.trim_start_matches('/').split_once('/')?;
        let is_right = !service.is_empty() && !name.is_empty() && !name.contains('/');
        is_right.then(|| Self { service: service.to_owned(), name: name.to_owned() })
    }

    /// Its name on the wire: `/service/method`.
    pub fn path(&self) -> String {
        format!("/{}/{}", self.service, self.name)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.service, self.name)
    }
}

/// The encoding of a tRPC body (trpc.proto, `TrpcContentEncodeType`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentType {
    #[default]
    Protobuf = 0,
    Json = 2,
    /// Bytes without a meaning to the framework.
    Bytes = 4,
}

/// How messages of gRPC are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Requests are not. Compressed answers are read, but not asked for.
    #[default]
    None,
    /// Requests are, with gzip, and answers are asked to be.
    Gzip,
}

/// The longest answer of gRPC that is accepted by default: the limit of its own clients.
pub const GRPC_ANSWER_BYTES_MAX: usize = 4 << 20;

/// The parts of a request that are the same for all calls of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The method; `None` where the protocol has none.
    pub method: Option<Method>,
    /// Keys and values that go with each request.
    pub metadata: Vec<(String, String)>,
    /// Keys whose values are given with each call, each with one of its values, which stands for them where the call is
    /// checked.
    pub drawn_metadata: Vec<(String, String)>,
    /// The encoding of tRPC bodies.
    pub content_type: ContentType,
    /// The name by which tRPC requests call their sender.
    pub caller: String,
    /// The length of answers of the fixed-size protocol, bytes.
    pub answer_bytes: usize,
    /// The compression of gRPC messages.
    pub compression: Compression,
    /// The longest answer of gRPC that is accepted, bytes on the wire.
    pub answer_bytes_max: usize,
}

impl Call {
    /// The same call with a value for every key, as one request has it.
    pub(super) fn with_samples(&self) -> Self {
        let metadata = [&self.metadata[..], &self.drawn_metadata].concat();
        Self { metadata, drawn_metadata: Vec::new(), ..self.clone() }
    }
}

impl Default for Call {
    fn default() -> Self {
        Self {
            method: None,
            metadata: Vec::new(),
            drawn_metadata: Vec::new(),
            content_type: ContentType::default(),
            caller: String::new(),
            answer_bytes: 1,
            compression: Compression::default(),
            answer_bytes_max: GRPC_ANSWER_BYTES_MAX,
        }
    }
}
