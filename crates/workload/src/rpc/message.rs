//! Bodies that are messages in JSON: their types are those of a `.proto` file, or of the server's reflection.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use driver::rpc::{ContentType, Protocol, Schema, SchemaFault, UnaryMethod};
use measure::Failure;
use plan::declared::{Text, Texts, text, texts};
use plan::{Files, OptionReader};

use super::message_file::{MESSAGES, MessageFile};
use super::payload::Payload;
use super::template::{DrawnText, Template};
use crate::parallel::unsuitable;

pub(super) const MESSAGE: Text = text(
    "message",
    "",
    "body of requests: a protobuf message in JSON, with ${expression} parts as in `template`; its type is that of \
     `proto`, or gRPC's server reflection tells it",
);
pub(super) const PROTO: Text =
    text("proto", "", "`.proto` file of the service; gRPC: server reflection if absent");
pub(super) const PROTO_PATH: Texts =
    texts("proto_path", "", "folders of the imports of `proto`, besides its own");

pub(super) const UNKNOWN_TYPE: &str =
    "the type of `message` is not known: name the service's `.proto` file with `proto`";
/// The most characters of a message that is shown.
const SHOWN_CHARACTERS_MAX: usize = 200;

#[derive(Clone, Debug)]
enum Json {
    One(Arc<Template>),
    File(Arc<MessageFile>),
}

#[derive(Clone, Debug)]
pub(super) struct JsonMessage {
    json: Json,
    /// The types of a `.proto` file; `None` for those that the server tells.
    pub(super) schema: Option<Schema>,
}

impl JsonMessage {
    pub(super) fn read(reader: &mut OptionReader<'_>, files: &Files) -> Option<Self> {
        let proto = reader.text(PROTO.name);
        let includes = PROTO_PATH.read_list(reader);
        let file = MessageFile::read(reader, files);
        let text = reader.text(MESSAGE.name);
        let json = match (text, file) {
            (Some(text), _) => Json::One(Template::read(reader, MESSAGE.name, &text).into()),
            (None, Some(file)) => Json::File(file.into()),
            (None, None) => {
                if proto.is_some() {
                    let help = "write the body of requests in JSON, such as message = \"{}\"";
                    reader.reject(PROTO.name, "`proto` is given, but no `message`", help);
                }
                return None;
            }
        };
        let schema = proto.map(|file| read_schema(files, &file, &includes)).transpose();
        let schema = schema.unwrap_or_else(|fault| {
            let help = "correct it, or name the folders of its imports with `proto_path`";
            reader.reject(PROTO.name, format!("`proto` cannot be used: {fault}"), help);
            None
        });
        Some(Self { json, schema })
    }

    /// The option that gives it.
    pub(super) fn option(&self) -> &'static str {
        match self.json {
            Json::One(_) => MESSAGE.name,
            Json::File(_) => MESSAGES.name,
        }
    }

    /// The bodies of requests that are messages of a file as they stand there: in JSON, for a service that takes them so and
    /// no type is known.
    pub(super) fn plain(&self, protocol: Protocol, content_type: ContentType) -> Option<Payload> {
        let is_plain = protocol == Protocol::Trpc && content_type == ContentType::Json;
        match &self.json {
            Json::File(file) if is_plain && self.schema.is_none() => {
                Some(Payload::Listed(file.texts()))
            }
            _ => None,
        }
    }

    /// The bodies of requests to a method: encoded here if they are known, and otherwise checked by a sample.
    ///
    /// # Errors
    /// When the message is not of the method's input type.
    pub(super) fn payload(&self, method: UnaryMethod) -> Result<Payload, Failure> {
        let template = match &self.json {
            Json::One(template) => template,
            Json::File(file) => return file.encoded(&method).map(Payload::Listed),
        };
        if let Some(json) = template.fixed() {
            let body = method.request(json).map_err(|fault| unsuitable(fault.to_string()))?;
            return Ok(Payload::Fixed(body.into(), "of a message in JSON"));
        }
        let mut sample = DrawnText::new(template, 0, 0);
        sample.draw();
        let sample = sample.text().map_err(unsuitable)?;
        method.request(sample).map_err(|fault| unsuitable(with_message(&fault, sample)))?;
        Ok(Payload::Message(Arc::clone(template), method))
    }
}

/// The types of a `.proto` file, whose imports are in its own folder and in `includes`.
fn read_schema(files: &Files, file: &str, includes: &[String]) -> Result<Schema, SchemaFault> {
    let compiled = files.made_of(file, |folder| {
        let includes: Vec<PathBuf> = includes.iter().map(|path| folder.join(path)).collect();
        Schema::read(&found(folder, file, &includes), &includes).map(|schema| schema.to_bytes())
    })?;
    Schema::from_bytes(&compiled)
}

/// The path of a file that is named as from the plan's folder or, as for protoc, from one of the folders of imports.
fn found(folder: &Path, file: &str, includes: &[PathBuf]) -> PathBuf {
    let here = folder.join(file);
    let elsewhere = includes.iter().map(|folder| folder.join(file)).find(|path| path.is_file());
    if here.is_file() { here } else { elsewhere.unwrap_or(here) }
}

impl fmt::Display for JsonMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.json {
            Json::File(file) => write!(f, "{} messages of a file", file.len()),
            Json::One(template) if template.draws() == 0 => write!(f, "a message in JSON"),
            Json::One(template) => {
                write!(f, "a message in JSON with {}", template.draws_in_words())
            }
        }
    }
}

/// The message of one client's current request.
pub(super) struct DrawnMessage {
    json: DrawnText,
    method: UnaryMethod,
    /// The encoded message, or why there is none.
    body: Result<Vec<u8>, String>,
}

impl DrawnMessage {
    pub(super) fn new(json: DrawnText, method: UnaryMethod) -> Self {
        Self { json, method, body: Ok(Vec::new()) }
    }

    pub(super) fn draw(&mut self) {
        self.json.draw();
        self.body = self.json.text().and_then(|json| {
            self.method.drawn_request(json).map_err(|fault| with_message(&fault, json))
        });
    }

    /// The encoded message.
    ///
    /// # Errors
    /// The expression that has no value, or why the message is none of its type.
    pub(super) fn bytes(&self) -> Result<&[u8], String> {
        self.body.as_deref().map_err(Clone::clone)
    }
}

fn with_message(fault: &SchemaFault, json: &str) -> String {
    let shown: String = json.chars().take(SHOWN_CHARACTERS_MAX).collect();
    format!("{fault}; the message is {shown}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use driver::Timeouts;
    use driver::rpc::{Call, Method, Service};
    use engine::Stop;
    use plan::Options;

    use super::super::payload::Body;
    use super::super::types::ReflectedTypes;
    use super::*;

    const PROTO_TEXT: &str = "syntax = \"proto3\";\npackage a;\n\
        service Greeter { rpc Say(Hello) returns (Hello); rpc Chat(stream Hello) returns (stream Hello); }\n\
        message Hello { string text = 1; }\n";

    fn payload(options: &str, protocol: Protocol, method: &str) -> Result<Payload, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.proto"), PROTO_TEXT).unwrap();
        let options = Options::parse(options).unwrap();
        let mut reader = options.reader();
        let message = JsonMessage::read(&mut reader, &Files::of(folder.path()));
        if let Err(problems) = reader.finish() {
            return Err(problems[0].message.clone());
        }
        let service =
            Service { protocol, addresses: Vec::new(), method: None, tls: None, authority: None };
        let call = Call {
            method: Method::parse(method),
            metadata: Vec::new(),
            content_type: ContentType::Protobuf,
            caller: String::new(),
            answer_bytes: 1,
            ..Call::default()
        };
        let (message, types) = (message.unwrap(), ReflectedTypes::default());
        let method =
            types.method_of(&message, (&service, &call), Timeouts::default(), &Stop::new());
        let payload = method.and_then(|method| message.payload(method));
        payload.map_err(|failure| failure.message.clone())
    }

    fn next(body: &mut Body) -> Result<Vec<u8>, String> {
        body.draw();
        body.bytes().map(<[u8]>::to_vec)
    }

    #[test]
    fn a_message_of_a_proto_file_is_the_body() {
        let options = "message = '{\"text\": \"hello\"}'\nproto = \"a.proto\"";
        for protocol in [Protocol::Grpc, Protocol::Trpc] {
            let payload = payload(options, protocol, "a.Greeter/Say").unwrap();
            assert!(matches!(&payload, Payload::Fixed(..)), "it is encoded once: {payload}");
            assert_eq!(next(&mut payload.body(0, 1)).unwrap(), b"\n\x05hello");
        }
    }

    #[test]
    fn a_proto_file_is_found_in_the_folders_of_imports_too() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("protos")).unwrap();
        fs::write(folder.path().join("protos/a.proto"), PROTO_TEXT).unwrap();
        let read = |file: &str, includes: &[&str]| {
            let includes: Vec<String> = includes.iter().map(|it| (*it).to_owned()).collect();
            read_schema(&Files::of(folder.path()), file, &includes)
        };
        assert!(read("a.proto", &["protos"]).is_ok());
        assert!(read("protos/a.proto", &["protos"]).is_ok());
        assert!(read("a.proto", &[]).unwrap_err().to_string().contains("a.proto: No such file"));
    }

    #[test]
    fn a_message_with_parts_is_drawn_and_encoded_for_each_request() {
        let message = "{\"text\": \"${:client_id}-${template('@@')}$${\"}";
        let options = format!("message = '''{message}'''\nproto = \"a.proto\"");
        let payload = payload(&options, Protocol::Grpc, "a.Greeter/Say").unwrap();
        let of = |seed| {
            let mut body = payload.body(7, seed);
            [next(&mut body).unwrap(), next(&mut body).unwrap()]
        };
        let [first, second] = of(1);
        assert_eq!((first.len(), &first[..4], &first[6..]), (8, &b"\n\x067-"[..], &b"${"[..]));
        assert_ne!(first, second);
        assert_eq!(of(1), [first.clone(), second]);
        assert_ne!(of(2)[0], first);
    }

    #[test]
    fn a_drawn_message_that_is_not_of_its_type_is_shown() {
        let options = "message = '{\"text\": ${least(:client_id, 3)}}'\nproto = \"a.proto\"";
        let told = payload(options, Protocol::Grpc, "a.Greeter/Say").unwrap_err();
        assert!(told.ends_with("at line 1 column 10; the message is {\"text\": 0}"), "{told}");
    }

    #[test]
    fn what_is_wrong_with_a_message_is_told() {
        let told = |options, protocol, method| payload(options, protocol, method).unwrap_err();
        let grpc = |options, method| told(options, Protocol::Grpc, method);
        let texts = [
            grpc("message = '{\"test\": 1}'\nproto = \"a.proto\"", "a.Greeter/Say"),
            grpc("message = '{}'\nproto = \"a.proto\"", "a.Greeter/Chat"),
            grpc("message = '{}'\nproto = \"a.proto\"", "a.Greeter/Sya"),
            grpc("proto = \"a.proto\"", "a.Greeter/Say"),
            told("message = '{}'", Protocol::Trpc, "a.Greeter/Say"),
        ];
        insta::assert_snapshot!(texts.join("\n"), @"
        the message does not fit `a.Hello`, the input of a.Greeter/Say: unrecognized field name 'test' at line 1 column 7
        a.Greeter/Chat is a streaming method; dyno calls unary methods only
        the service `a.Greeter` has no method `Sya`; did you mean `Say`?
        `proto` is given, but no `message`
        the type of `message` is not known: name the service's `.proto` file with `proto`
        ");
    }
}
