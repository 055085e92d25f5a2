//! The options of calls.

use driver::rpc::{Compression, ContentType, GRPC_ANSWER_BYTES_MAX, Method};
use net::FixedSizes;
use plan::declared::{
    Choice, Number, OptionList, Size, Text, Texts, choice, number, number_without_default, text,
    texts,
};
use plan::{Files, Options, Problem};

use super::message::{self, JsonMessage};
use super::message_file;
use super::metadata::Metadata;
use super::payload::{self, Payload};

/// The sender's name in tRPC requests. With a name of this length and without a time-out, a `SayHello` of "hello" is 122
/// bytes long, as the benchmarks of trpc-go have it.
const CALLER_DEFAULT: &str = "trpc.client.dyno.caller";

const CONNECTIONS: Number<u64> = number_without_default(
    "connections",
    1..=1_000_000,
    "connections that the clients share, each client with one request in flight; one for each client if absent",
);
pub(super) const METHOD: Text =
    text("method", "", "method to call, as package.Service/Method; the system's if absent");
pub(super) const METADATA: Texts = texts(
    "metadata",
    "",
    "keys and values that go with each request, each \"key=value\" or \"key: value\"; with ${expression} parts as in \
     `template`",
);
const CONTENT_TYPE: Choice<ContentType> = choice(
    "content_type",
    ("protobuf", ContentType::Protobuf),
    &[
        ("protobuf", ContentType::Protobuf),
        ("json", ContentType::Json),
        ("bytes", ContentType::Bytes),
    ],
    "tRPC: encoding of the body that the header names: protobuf, json, bytes",
);
const CALLER: Text = text("caller", CALLER_DEFAULT, "tRPC: name of the sender in the header");
const ANSWER_SIZE: Number<u64> =
    number("answer_size", 27, 1..=1 << 30, "tcp: length of answers, bytes");

const ANSWER_LIMIT: Size = Size {
    name: "answer_limit",
    default: ("4MiB", GRPC_ANSWER_BYTES_MAX as u64),
    allowed: ("1KiB to 1GiB", 1 << 10..=1 << 30),
    meaning: "gRPC: the longest answer that is accepted",
};
const COMPRESSION: Choice<Compression> = choice(
    "compression",
    ("none", Compression::None),
    &[("none", Compression::None), ("gzip", Compression::Gzip)],
    "gRPC: how requests are compressed and answers are asked to be: none, gzip",
);

pub(crate) const OPTIONS: OptionList = &[
    &CONNECTIONS,
    &METHOD,
    &payload::TEXT,
    &payload::HEX,
    &payload::FILE,
    &payload::TEMPLATE,
    &payload::SIZE,
    &message::MESSAGE,
    message_file::OPTIONS[0],
    message_file::OPTIONS[1],
    &message::PROTO,
    &message::PROTO_PATH,
    &METADATA,
    &CONTENT_TYPE,
    &CALLER,
    &ANSWER_SIZE,
    &ANSWER_LIMIT,
    &COMPRESSION,
];

pub(super) const ONE_SIZE: &str = "requests of this protocol are of one size, and those of `template` may \
     differ: give `text`, `file`, `hex` or `size`";
pub(super) const NO_METHOD: &str = "no method is named: give the workload `method = \
     \"package.Service/Method\"`, or end the system's URL with it";

#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// How many connections the clients share; `None` for one each.
    pub(super) connections: Option<usize>,
    pub(super) method: Option<Method>,
    pub(super) payload: Payload,
    /// In place of `payload`.
    pub(super) message: Option<JsonMessage>,
    pub(super) metadata: Metadata,
    pub(super) content_type: ContentType,
    pub(super) caller: String,
    pub(super) answer_bytes: usize,
    pub(super) answer_bytes_max: usize,
    pub(super) compression: Compression,
}

impl Settings {
    /// Requests of zeros and answers of these sizes.
    pub(super) fn of_sizes(sizes: FixedSizes, connections: usize) -> Self {
        Self {
            connections: Some(connections),
            method: None,
            payload: Payload::Fixed(vec![0; sizes.request as usize].into(), "of zeros"),
            message: None,
            metadata: Metadata::default(),
            content_type: ContentType::Bytes,
            caller: String::new(),
            answer_bytes: sizes.answer as usize,
            answer_bytes_max: GRPC_ANSWER_BYTES_MAX,
            compression: Compression::None,
        }
    }

    /// Reads the options, some of which name files.
    ///
    /// # Errors
    /// Every wrong option, with its place.
    pub(super) fn read(options: &Options, files: &Files) -> Result<Self, Vec<Problem>> {
        let mut reader = options.reader();
        let connections = CONNECTIONS.read_given(&mut reader).map(|count| count as usize);
        let method = METHOD.read(&mut reader);
        let parsed = Method::parse(&method);
        if !method.is_empty() && parsed.is_none() {
            let message = format!("`method` is {method:?}, not a service and a method");
            let help = "write it such as \"trpc.test.helloworld.Greeter/SayHello\"";
            reader.reject(METHOD.name, message, help);
        }
        let payload = payload::read(&mut reader, files);
        let message = JsonMessage::read(&mut reader, files);
        let metadata = Metadata::read(&mut reader);
        let settings = Self {
            connections,
            method: parsed,
            payload,
            message,
            metadata,
            content_type: CONTENT_TYPE.read(&mut reader),
            caller: CALLER.read(&mut reader),
            answer_bytes: ANSWER_SIZE.read(&mut reader) as usize,
            answer_bytes_max: ANSWER_LIMIT.read(&mut reader) as usize,
            compression: COMPRESSION.read(&mut reader),
        };
        reader.finish().map(|()| settings)
    }
}
