//! The options of calls.

use driver::rpc::{ContentType, Method};
use net::FixedSizes;
use plan::declared::{
    Choice, Number, OptionList, Text, choice, number, number_without_default, text,
};
use plan::{Files, Options, Problem};

use super::message::{self, JsonMessage};
use super::payload::{self, Payload};

/// The sender's name in tRPC requests. With a name of this length, a `SayHello` of "hello" is 122 bytes long, as the
/// benchmarks of trpc-go have it.
const CALLER_DEFAULT: &str = "trpc.client.dyno.caller";

const CONNECTIONS: Number<u64> = number_without_default(
    "connections",
    1..=1_000_000,
    "connections that the clients share, each client with one request in flight; one for each client if absent",
);
const METHOD: Text =
    text("method", "", "method to call, as package.Service/Method; the system's if absent");
const METADATA: Text =
    text("metadata", "", "keys and values that go with each request, such as \"key=value\"");
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

pub(crate) const OPTIONS: OptionList = &[
    &CONNECTIONS,
    &METHOD,
    &payload::TEXT,
    &payload::HEX,
    &payload::FILE,
    &payload::TEMPLATE,
    &payload::SIZE,
    &message::MESSAGE,
    &message::PROTO,
    &message::PROTO_PATH,
    &METADATA,
    &CONTENT_TYPE,
    &CALLER,
    &ANSWER_SIZE,
];

#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// How many connections the clients share; `None` for one each.
    pub(super) connections: Option<usize>,
    pub(super) method: Option<Method>,
    pub(super) payload: Payload,
    /// In place of `payload`.
    pub(super) message: Option<JsonMessage>,
    pub(super) metadata: Vec<(String, String)>,
    pub(super) content_type: ContentType,
    pub(super) caller: String,
    pub(super) answer_bytes: usize,
}

impl Settings {
    /// Requests of zeros and answers of these sizes.
    pub(super) fn of_sizes(sizes: FixedSizes, connections: usize) -> Self {
        Self {
            connections: Some(connections),
            method: None,
            payload: Payload::Fixed(vec![0; sizes.request as usize].into(), "of zeros"),
            message: None,
            metadata: Vec::new(),
            content_type: ContentType::Bytes,
            caller: String::new(),
            answer_bytes: sizes.answer as usize,
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
        let metadata = METADATA.read_list(&mut reader);
        let metadata = metadata
            .iter()
            .filter_map(|pair| {
                let pair =
                    pair.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
                if pair.is_none() {
                    let message = "`metadata` has a text without `=`";
                    reader.reject(METADATA.name, message, "write each as \"key=value\"");
                }
                pair
            })
            .inspect(|(key, value)| {
                // Such as a token, which the record of the run must not have.
                if plan::names_secret(key) {
                    plan::hide(value);
                }
            })
            .collect();
        let settings = Self {
            connections,
            method: parsed,
            payload,
            message,
            metadata,
            content_type: CONTENT_TYPE.read(&mut reader),
            caller: CALLER.read(&mut reader),
            answer_bytes: ANSWER_SIZE.read(&mut reader) as usize,
        };
        reader.finish().map(|()| settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_the_metadata_is_blanked_in_all_that_is_written() {
        let text = "metadata = [\"authorization=Bearer hors3-carr1age\", \"trace=visible-value\"]";
        let settings = Settings::read(&Options::parse(text).unwrap(), &Files::of("")).unwrap();
        assert_eq!(settings.metadata[0].1, "Bearer hors3-carr1age");
        let clean = plan::scrub(&format!("{text}; the server refused Bearer hors3-carr1age"));
        assert!(!clean.contains("carr1age") && clean.contains("visible-value"), "{clean}");
    }
}
