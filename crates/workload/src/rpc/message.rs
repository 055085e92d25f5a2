//! Bodies that are messages in JSON: their types are those of a `.proto` file, or of the server's reflection.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use driver::Timeouts;
use driver::rpc::{Call, Protocol, Schema, SchemaFault, Service, UnaryMethod};
use engine::{Stop, worker_pool};
use measure::Failure;
use plan::OptionReader;

use crate::options::{Text, text};
use crate::parallel::{interrupted, unsuitable};

pub(super) const MESSAGE: Text = text(
    "message",
    "",
    "body of requests: a protobuf message in JSON; its type is that of `proto`, or gRPC's server reflection tells it",
);
pub(super) const PROTO: Text =
    text("proto", "", "`.proto` file of the service; gRPC: server reflection if absent");
pub(super) const PROTO_PATH: Text =
    text("proto_path", "", "folders of the imports of `proto`, besides its own");

/// A message, and where its type is from.
#[derive(Clone, Debug)]
pub(super) struct JsonMessage {
    json: String,
    /// The types of a `.proto` file; `None` for those that the server tells.
    schema: Option<Schema>,
}

impl JsonMessage {
    /// Reads the options, if there is a message; files are relative to `folder`.
    pub(super) fn read(reader: &mut OptionReader<'_>, folder: &Path) -> Option<Self> {
        let proto = reader.text(PROTO.name).map(|file| folder.join(file));
        let includes: Vec<_> =
            PROTO_PATH.read_list(reader).iter().map(|path| folder.join(path)).collect();
        let Some(json) = reader.text(MESSAGE.name) else {
            if proto.is_some() {
                let help = "write the body of requests in JSON, such as message = \"{}\"";
                reader.reject(PROTO.name, "`proto` is given, but no `message`", help);
            }
            return None;
        };
        let schema = proto.map(|file| Schema::read(&file, &includes)).transpose();
        let schema = schema.unwrap_or_else(|fault| {
            let help = "correct it, or name the folders of its imports with `proto_path`";
            reader.reject(PROTO.name, format!("`proto` cannot be used: {fault}"), help);
            None
        });
        Some(Self { json, schema })
    }

    /// The body of requests of these calls.
    ///
    /// # Errors
    /// When the method is not known or is a streaming one, when the message is not of its type, or when the server does
    /// not tell the types.
    pub(super) fn body(
        &self,
        service: &Service,
        call: &Call,
        timeouts: Timeouts,
    ) -> Result<Vec<u8>, Failure> {
        let method = match (&self.schema, service.protocol) {
            (Some(schema), _) => unary_method(schema, call),
            (None, Protocol::Grpc) => unary_method(&reflected(service, call, timeouts)?, call),
            (None, Protocol::Trpc | Protocol::Tcp { .. }) => {
                return Err(unsuitable(
                    "the type of `message` is not known: name the service's `.proto` file with `proto`",
                ));
            }
        };
        let body = method.and_then(|method| method.request(&self.json));
        body.map_err(|fault| unsuitable(fault.to_string()))
    }
}

/// Refuses a method that a server tells to be a streaming one. What it does not tell may be right.
///
/// # Errors
/// For a streaming method.
pub(super) fn check_unary(
    service: &Service,
    call: &Call,
    timeouts: Timeouts,
) -> Result<(), Failure> {
    if service.protocol != Protocol::Grpc {
        return Ok(());
    }
    match reflected(service, call, timeouts).map(|schema| unary_method(&schema, call)) {
        Ok(Err(fault @ SchemaFault::Streaming(_))) => Err(unsuitable(fault.to_string())),
        _ => Ok(()),
    }
}

fn unary_method(schema: &Schema, call: &Call) -> Result<UnaryMethod, SchemaFault> {
    match &call.method {
        Some(method) => schema.unary_method(method),
        None => Err(SchemaFault::Proto("no method is named".to_owned())),
    }
}

/// The types that the server tells.
fn reflected(service: &Service, call: &Call, timeouts: Timeouts) -> Result<Schema, Failure> {
    let told = Rc::new(Cell::new(None));
    let kept = Rc::clone(&told);
    let (service, call) = (service.clone(), call.clone());
    worker_pool::run_one(&Stop::new(), move |handle| {
        Box::pin(async move {
            kept.set(Some(service.reflect(&handle, &call, timeouts).await?));
            Ok(())
        })
    })?;
    told.take().ok_or_else(interrupted)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use driver::rpc::{ContentType, Method};
    use plan::Options;

    use super::*;

    const PROTO_TEXT: &str = "syntax = \"proto3\";\npackage a;\n\
        service Greeter { rpc Say(Hello) returns (Hello); rpc Chat(stream Hello) returns (stream Hello); }\n\
        message Hello { string text = 1; }\n";

    fn body(options: &str, protocol: Protocol, method: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.proto"), PROTO_TEXT).unwrap();
        let options = Options::parse(options).unwrap();
        let mut reader = options.reader();
        let message = JsonMessage::read(&mut reader, folder.path());
        if let Err(problems) = reader.finish() {
            return problems[0].message.clone();
        }
        let service = Service { protocol, addresses: Vec::new(), method: None, tls: None };
        let call = Call {
            method: Method::parse(method),
            metadata: Vec::new(),
            content_type: ContentType::Protobuf,
            caller: String::new(),
            answer_bytes: 1,
        };
        match message.unwrap().body(&service, &call, Timeouts::default()) {
            Ok(body) => format!("{:?}", body.escape_ascii().to_string()),
            Err(failure) => failure.message.clone(),
        }
    }

    #[test]
    fn a_message_of_a_proto_file_is_the_body() {
        let options = "message = '{\"text\": \"hello\"}'\nproto = \"a.proto\"";
        for protocol in [Protocol::Grpc, Protocol::Trpc] {
            assert_eq!(body(options, protocol, "a.Greeter/Say"), "\"\\\\n\\\\x05hello\"");
        }
    }

    #[test]
    fn what_is_wrong_with_a_message_is_told() {
        let grpc = |options, method| body(options, Protocol::Grpc, method);
        let texts = [
            grpc("message = '{\"test\": 1}'\nproto = \"a.proto\"", "a.Greeter/Say"),
            grpc("message = '{}'\nproto = \"a.proto\"", "a.Greeter/Chat"),
            grpc("message = '{}'\nproto = \"a.proto\"", "a.Greeter/Sya"),
            grpc("proto = \"a.proto\"", "a.Greeter/Say"),
            body("message = '{}'", Protocol::Trpc, "a.Greeter/Say"),
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
