//! What is wrong with calls of a service, as far as options and files tell it before anything starts.

use driver::Timeouts;
use driver::rpc::{Call, Protocol, Service};

use super::message::{JsonMessage, PROTO, UNKNOWN_TYPE};
use super::payload::{Payload, TEMPLATE};
use super::settings::{METADATA, METHOD, NO_METHOD, ONE_SIZE};
use super::types::unary_method;
use super::workload::Rpc;

/// A mistake in an option of the workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The option, which may be absent.
    pub option: &'static str,
    pub message: String,
    pub help: &'static str,
}

impl Rpc {
    /// Everything that is wrong with these calls of a service that need not run.
    pub fn mistakes(&self, service: &Service) -> Vec<Mistake> {
        let settings = self.settings();
        let mut found = Vec::new();
        let mut tell = |option, message: String, help| {
            found.push(Mistake { option, message, help });
        };
        let has_one_size = !service.protocol.has_methods();
        if has_one_size && matches!(settings.payload, Payload::Template(_)) {
            tell(TEMPLATE.name, ONE_SIZE.to_owned(), "leave `template` out");
        }
        let method = self.method(service);
        if method.is_none() && service.protocol.has_methods() {
            let help = "write it such as \"helloworld.Greeter/SayHello\"";
            tell(METHOD.name, NO_METHOD.to_owned(), help);
        }
        let call = Call { method, ..self.call_of_settings() };
        if let Err(failure) = service.check_call(&call, Timeouts::default()) {
            let has_metadata = !call.metadata.is_empty() || !call.drawn_metadata.is_empty();
            let option = if has_metadata { METADATA.name } else { METHOD.name };
            tell(option, failure.message.to_string(), "correct it");
        }
        if let Some(message) = &settings.message
            && (call.method.is_some() || has_one_size)
            && let Err((option, message)) = check_message(message, service, &call)
        {
            tell(option, message, "correct it, or name another `.proto` file with `proto`");
        }
        found
    }
}

/// Whether a message is of its method's type, if that is known by a file; with the option at fault.
fn check_message(
    message: &JsonMessage,
    service: &Service,
    call: &Call,
) -> Result<(), (&'static str, String)> {
    if message.plain(service.protocol, call.content_type).is_some() {
        return Ok(());
    }
    let Some(schema) = &message.schema else {
        // A server of gRPC can tell the types later.
        return match service.protocol {
            Protocol::Grpc => Ok(()),
            _ => Err((message.option(), UNKNOWN_TYPE.to_owned())),
        };
    };
    let method = unary_method(schema, call).map_err(|fault| (PROTO.name, fault.to_string()))?;
    let payload = message.payload(method);
    payload.map(drop).map_err(|failure| (message.option(), failure.message.to_string()))
}
