//! The schema of a running service, by server reflection.
//!
//! A request of reflection is a stream of messages. A stream of one message has the form of a unary call, so the same
//! codec sends it.

use std::collections::BTreeMap;
use std::sync::Arc;

use measure::{ErrorClass, Failure};
use net::{Handle, Stream};
use prost::Message;
use prost_reflect::prost_types::FileDescriptorProto;

use super::super::answer::{LinkFault, Malformed, ServiceError};
use super::super::grpc::{CallResult, GrpcCodec, Settings};
use super::super::{Call, Method, Service};
use super::fault::{SchemaFault, help_for};
use super::pool::Schema;
use crate::{Address, Timeouts};

/// The versions of reflection, the newest first. They differ in nothing else.
const SERVICES: [&str; 2] =
    ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];
const METHOD: &str = "ServerReflectionInfo";
/// The longest answer, bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// The most files that a service may have been made of.
const FILES_MAX: usize = 1000;
/// The id of the only call in flight.
const ID: u32 = 1;

/// The longest name or reason of a server that messages repeat, characters.
const TEXT_CHARACTERS_MAX: usize = 300;

/// A question; one of its fields is set.
#[derive(Clone, PartialEq, Message)]
struct Question {
    #[prost(string, tag = "3")]
    file_by_filename: String,
    #[prost(string, tag = "4")]
    file_containing_symbol: String,
    /// Its value means nothing.
    #[prost(string, tag = "7")]
    list_services: String,
}

/// The answer to it.
#[derive(Clone, PartialEq, Message)]
struct Reflected {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<ReflectionError>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    descriptors: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    services: Vec<ListedService>,
}

#[derive(Clone, PartialEq, Message)]
struct ListedService {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct ReflectionError {
    #[prost(string, tag = "2")]
    message: String,
}

impl Service {
    /// Asks the server for the types of the service that `call` is for, by server reflection.
    ///
    /// # Errors
    /// When the server cannot be reached, has no reflection or does not know the service, with what to do about it.
    pub async fn reflect(
        &self,
        handle: &Handle,
        call: &Call,
        timeouts: Timeouts,
    ) -> Result<Schema, Failure> {
        let asking = async {
            for version in SERVICES {
                let mut asker = Asker::connect(self, handle, (call, version), timeouts).await?;
                let service = call.method.as_ref().map_or("", |method| &method.service);
                if let Ok(schema) = asker.schema(service).await? {
                    return Ok(schema);
                }
            }
            Err(Failure::new(ErrorClass::Framework, "UNIMPLEMENTED", NO_REFLECTION))
        };
        let slow = || Failure::new(ErrorClass::Timeout, "", SLOW_REFLECTION);
        net::within(handle, timeouts.connect, asking).await.unwrap_or_else(|| Err(slow()))
    }
}

const NO_REFLECTION: &str = "the server has no server reflection, which tells the types of its messages: name the \
                             `.proto` file with `proto`";
const SLOW_REFLECTION: &str = "the server did not answer the questions of server reflection within the connect \
                               time-out: name the `.proto` file with `proto`";

/// The server does not know this version of reflection.
struct Unsupported;

/// A connection for questions.
struct Asker<'a> {
    stream: Stream,
    codec: GrpcCodec,
    address: &'a Address,
}

impl<'a> Asker<'a> {
    async fn connect(
        service: &'a Service,
        handle: &Handle,
        (call, version): (&Call, &str),
        timeouts: Timeouts,
    ) -> Result<Self, Failure> {
        let Some(address) = service.addresses.first() else {
            let message = "no address to connect to: give one in the URL";
            return Err(Failure::new(ErrorClass::Connection, "", message));
        };
        let method = Method { service: version.to_owned(), name: METHOD.to_owned() };
        let call = Call { method: Some(method), ..call.clone() };
        let head = service.request_head(address, &call, timeouts);
        let head =
            head.map_err(|fault| Failure::new(ErrorClass::Protocol, "", fault.to_string()))?;
        let settings = Settings { head, answer_bytes_max: ANSWER_BYTES_MAX, keeps_answers: true };
        let codec = GrpcCodec::new(&Arc::new(settings)).map_err(|fault| fault.explain(address))?;
        let stream = service.connect(address, handle, timeouts).await?;
        Ok(Self { stream, codec, address })
    }

    /// The files that a service is made of.
    async fn schema(&mut self, service: &str) -> Result<Result<Schema, Unsupported>, Failure> {
        let symbol = service.to_owned();
        let first = Question { file_containing_symbol: symbol, ..Question::default() };
        let answer = match self.ask(&first).await? {
            Err(error) if error.code == "UNIMPLEMENTED" => return Ok(Err(Unsupported)),
            Err(error) => return Err(self.refused(&error.message)),
            Ok(answer) => answer,
        };
        let mut files = BTreeMap::new();
        match add_files(&mut files, &answer) {
            Err(_) if answer.error.is_some() => return Err(self.unknown_service(service).await?),
            other => other.map_err(|why| self.refused(&why))?,
        }
        while let Some(missing) = missing_file(&files) {
            let next = Question { file_by_filename: missing.clone(), ..Question::default() };
            let answer = self.ask(&next).await?.map_err(|error| self.refused(&error.message))?;
            add_files(&mut files, &answer).map_err(|why| self.refused(&why))?;
            if !files.contains_key(&missing) {
                return Err(self.refused(&format!("it left out {missing}")));
            }
        }
        let schema = Schema::of_descriptors(files.into_values().collect());
        schema.map(Ok).map_err(|fault| self.refused(&fault.to_string()))
    }

    /// The failure of a service that the server does not have.
    async fn unknown_service(&mut self, name: &str) -> Result<Failure, Failure> {
        let question = Question { list_services: "*".to_owned(), ..Question::default() };
        let answer = self.ask(&question).await?.map_err(|error| self.refused(&error.message))?;
        let services = answer.services.unwrap_or_default().services;
        let known: Vec<&str> = services.iter().map(|service| &*service.name).collect();
        let fault = SchemaFault::NoService { name: name.to_owned(), help: help_for(name, &known) };
        Ok(Failure::new(ErrorClass::Framework, "", format!("{}: {fault}", self.address.name)))
    }

    #[cold]
    fn refused(&self, why: &str) -> Failure {
        let message = format!(
            "{}: server reflection failed: {why}; name the `.proto` file with `proto`",
            self.address.name
        );
        Failure::new(ErrorClass::Framework, "", message)
    }

    /// Sends a question and waits for its answer.
    async fn ask(
        &mut self,
        question: &Question,
    ) -> Result<Result<Reflected, Box<ServiceError>>, Failure> {
        let Self { stream, codec, address } = self;
        let mut answer: Option<CallResult> = None;
        codec.encode(ID, &question.encode_to_vec());
        let mut out = Vec::new();
        let mut keep = |_, result| {
            answer = Some(result);
            Ok(())
        };
        codec.flush(&mut out, &mut keep).map_err(|fault| fault.explain(address))?;
        while answer.is_none() {
            stream.write_all(&out).await.map_err(|error| address.lost(&error))?;
            out.clear();
            let read = stream.read_with(|bytes| match bytes {
                [] => Err(LinkFault::Ended("the server closed the connection".to_owned())),
                bytes => codec.decode(bytes, &mut out, &mut |_, result| {
                    answer = Some(result);
                    Ok(())
                }),
            });
            let decoded = read.await.map_err(|error| address.lost(&error))?;
            decoded.map_err(|fault| fault.explain(address))?;
        }
        // What HTTP/2 still answers need not be sent before the next question.
        stream.write_all(&out).await.map_err(|error| address.lost(&error))?;
        Ok(match answer.unwrap_or_else(|| Ok(Vec::new())) {
            Err(error) => Err(error),
            Ok(bytes) => Ok(Reflected::decode(&*bytes).map_err(|error| {
                let why = Malformed(format!("server reflection: {error}"));
                LinkFault::from(why).explain(address)
            })?),
        })
    }
}

/// The files of an answer by their names.
type Descriptors = BTreeMap<String, FileDescriptorProto>;

/// Adds the files of an answer.
fn add_files(files: &mut Descriptors, answer: &Reflected) -> Result<(), String> {
    if let Some(error) = &answer.error {
        return Err(error.message.chars().take(TEXT_CHARACTERS_MAX).collect());
    }
    for bytes in answer.files.iter().flat_map(|files| &files.descriptors) {
        let file = FileDescriptorProto::decode(&**bytes).map_err(|error| error.to_string())?;
        files.insert(file.name().to_owned(), file);
        if files.len() > FILES_MAX {
            return Err(format!("it consists of more than {FILES_MAX} files"));
        }
    }
    Ok(())
}

/// The schema of an answer that is complete by itself.
#[cfg(test)]
pub(super) fn schema_of(answer: &[u8]) -> Result<Schema, String> {
    let answer = Reflected::decode(answer).map_err(|error| error.to_string())?;
    let mut files = BTreeMap::new();
    add_files(&mut files, &answer)?;
    match missing_file(&files) {
        Some(name) => Err(name),
        None => {
            Schema::of_descriptors(files.into_values().collect()).map_err(|fault| fault.to_string())
        }
    }
}

/// The answer with the files of a schema.
#[cfg(test)]
pub(super) fn answer_of(schema: &Schema) -> Vec<u8> {
    let descriptors = schema.files().map(|file| file.encode_to_vec()).collect();
    Reflected { files: Some(Files { descriptors }), ..Reflected::default() }.encode_to_vec()
}

/// A file that others import and that has not come.
fn missing_file(files: &Descriptors) -> Option<String> {
    let mut imports = files.values().flat_map(|file| &file.dependency);
    imports.find(|name| !files.contains_key(*name)).cloned()
}
