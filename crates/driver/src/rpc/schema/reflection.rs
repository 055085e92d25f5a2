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
use protox::file::{FileResolver as _, GoogleFileResolver};

use super::super::answer::{LinkFault, Malformed, ServiceError};
use super::super::grpc::{CallResult, GrpcCodec, Settings};
use super::super::{Call, Compression, Method, Service};
use super::edition;
use super::fault::{SchemaFault, help_for};
use super::pool::Schema;
use super::weight::Budget;
use crate::ssl_options::SSL_WORDS;
use crate::{Address, Timeouts};

/// The versions of reflection, the newest first. They differ in nothing else.
const SERVICES: [&str; 2] =
    ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];
const METHOD: &str = "ServerReflectionInfo";
/// The longest answer, bytes: the limit of gRPC's own clients.
const ANSWER_BYTES_MAX: usize = 4 << 20;
/// The most bytes of all files of a service, which mostly come in one answer.
const FILES_BYTES_MAX: usize = 4 << 20;
/// The most files that a service may have been made of.
const FILES_MAX: usize = 1000;
/// The id of the only call in flight.
const ID: u32 = 1;

/// The longest name or reason of a server that messages repeat, characters.
const TEXT_CHARACTERS_MAX: usize = 300;

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

struct Asker<'a> {
    stream: Stream,
    codec: GrpcCodec,
    address: &'a Address,
    budget: Budget,
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
        let compression = Compression::None;
        let call = Call { method: Some(method), compression, ..call.with_samples() };
        let head = service.request_head(address, &call, timeouts);
        let head =
            head.map_err(|fault| Failure::new(ErrorClass::Protocol, "", fault.to_string()))?;
        let answer_bytes_max = ANSWER_BYTES_MAX;
        let settings = Settings { head, answer_bytes_max, compression, keeps_answers: true };
        let codec = GrpcCodec::new(&Arc::new(settings)).map_err(|fault| fault.explain(address))?;
        let stream = service.connect(address, handle, timeouts).await?;
        Ok(Self { stream, codec, address, budget: Budget::default() })
    }

    async fn schema(&mut self, service: &str) -> Result<Result<Schema, Unsupported>, Failure> {
        let symbol = service.to_owned();
        let first = Question { file_containing_symbol: symbol, ..Question::default() };
        let answer = match self.ask(&first).await? {
            Err(error) if error.code == "UNIMPLEMENTED" => return Ok(Err(Unsupported)),
            Err(error) => return Err(self.refused(&format!("{service}: {}", error.message))),
            Ok(answer) => answer,
        };
        let mut files = Descriptors::default();
        match files.add(&answer, &mut self.budget) {
            Err(_) if answer.error.is_some() => return Err(self.unknown_service(service).await?),
            other => other.map_err(|why| self.refused(&why))?,
        }
        while let Some(missing) = files.next_missing() {
            let next = Question { file_by_filename: missing.clone(), ..Question::default() };
            // Servers may lack a file that only options need, such as `google/api/annotations.proto`.
            if let Ok(answer) = self.ask(&next).await?
                && answer.error.is_none()
            {
                let added = files.add(&answer, &mut self.budget);
                added.map_err(|why| self.refused(&format!("{missing}: {why}")))?;
            }
            if !files.by_name.contains_key(&missing) {
                files.lack(missing);
            }
        }
        let absent = files.absent.join(", ");
        let schema = Schema::of_descriptors(files.into_files());
        schema.map(Ok).map_err(|fault| match absent.is_empty() {
            true => self.refused(&fault.to_string()),
            false => {
                self.refused(&format!("the server does not know its imports {absent}: {fault}"))
            }
        })
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
        let why: String = why.chars().take(TEXT_CHARACTERS_MAX).collect();
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
        let Self { stream, codec, address, .. } = self;
        let mut answer: Option<CallResult> = None;
        codec.encode(ID, (&question.encode_to_vec(), &[]));
        let mut out = Vec::new();
        let mut keep = |_, result| {
            answer = Some(result);
            Ok(())
        };
        codec.flush(&mut out, &mut keep).map_err(|fault| fault.explain(address))?;
        while answer.is_none() {
            stream.write_all(&out).await.map_err(|error| address.lost(&error, &SSL_WORDS))?;
            out.clear();
            let read = stream.read_with(|bytes| match bytes {
                [] => Err(LinkFault::Ended("the server closed the connection".to_owned())),
                bytes => codec.decode(bytes, &mut out, &mut |_, result| {
                    answer = Some(result);
                    Ok(())
                }),
            });
            let decoded = read.await.map_err(|error| address.lost(&error, &SSL_WORDS))?;
            decoded.map_err(|fault| fault.explain(address))?;
        }
        // What HTTP/2 still answers need not be sent before the next question.
        stream.write_all(&out).await.map_err(|error| address.lost(&error, &SSL_WORDS))?;
        let bytes = match answer.unwrap_or_else(|| Ok(Vec::new())) {
            Err(error) => return Ok(Err(error)),
            Ok(bytes) => bytes,
        };
        self.budget.take_answer(&bytes).map_err(|why| self.refused(&why))?;
        let reflected = Reflected::decode(&*bytes).map_err(|error| {
            let why = Malformed(format!("server reflection: {error}"));
            LinkFault::from(why).explain(self.address)
        });
        reflected.map(Ok)
    }
}

/// The files of a service, as far as they have come.
#[derive(Default)]
struct Descriptors {
    by_name: BTreeMap<String, FileDescriptorProto>,
    /// Imports of these files, those that have come too.
    imports: Vec<String>,
    /// Imports that the server does not know.
    absent: Vec<String>,
    bytes: usize,
}

impl Descriptors {
    /// Adds the files of an answer, whose full names the budget has to have room for.
    fn add(&mut self, answer: &Reflected, budget: &mut Budget) -> Result<(), String> {
        if let Some(error) = &answer.error {
            return Err(error.message.clone());
        }
        for bytes in answer.files.iter().flat_map(|files| &files.descriptors) {
            self.bytes += bytes.len();
            if self.bytes > FILES_BYTES_MAX {
                return Err(format!("its files have more than {} MiB", FILES_BYTES_MAX >> 20));
            }
            let file = edition::decode(bytes).map_err(|error| error.to_string())?;
            budget.take_names(&file)?;
            self.imports.extend_from_slice(&file.dependency);
            self.by_name.insert(file.name().to_owned(), file);
            if self.by_name.len() > FILES_MAX {
                return Err(format!("it consists of more than {FILES_MAX} files"));
            }
        }
        Ok(())
    }

    /// A file that others import and that has not come. Each import is looked at once.
    fn next_missing(&mut self) -> Option<String> {
        while let Some(name) = self.imports.pop() {
            if !self.by_name.contains_key(&name) && !self.absent.contains(&name) {
                return Some(name);
            }
        }
        None
    }

    /// The server does not know a file, which is then one that is always there, or is done without.
    fn lack(&mut self, name: String) {
        match GoogleFileResolver::new().open_file(&name) {
            Ok(file) => {
                let file = file.file_descriptor_proto().clone();
                self.imports.extend_from_slice(&file.dependency);
                self.by_name.insert(name, file);
            }
            Err(_) => self.absent.push(name),
        }
    }

    /// All files, without imports of those that are absent.
    fn into_files(self) -> Vec<FileDescriptorProto> {
        let Self { by_name, absent, .. } = self;
        by_name.into_values().map(|file| without_imports(file, &absent)).collect()
    }
}

/// The same file without these imports.
pub(super) fn without_imports(
    mut file: FileDescriptorProto,
    absent: &[String],
) -> FileDescriptorProto {
    if !file.dependency.iter().any(|name| absent.contains(name)) {
        return file;
    }
    let all = std::mem::take(&mut file.dependency);
    let kept: Vec<usize> = (0..all.len()).filter(|place| !absent.contains(&all[*place])).collect();
    // Where the import at a place is now.
    let moved = |place: i32| {
        let place = usize::try_from(place).ok()?;
        kept.iter().position(|kept| *kept == place).and_then(|place| i32::try_from(place).ok())
    };
    file.public_dependency = file.public_dependency.into_iter().filter_map(moved).collect();
    file.weak_dependency = file.weak_dependency.into_iter().filter_map(moved).collect();
    file.dependency = kept.into_iter().map(|place| all[place].clone()).collect();
    file
}

#[cfg(test)]
pub(super) fn schema_of(answer: &[u8]) -> Result<Schema, String> {
    let mut budget = Budget::default();
    budget.take_answer(answer)?;
    let answer = Reflected::decode(answer).map_err(|error| error.to_string())?;
    let mut files = Descriptors::default();
    files.add(&answer, &mut budget)?;
    if let Some(name) = files.next_missing() {
        return Err(name);
    }
    let files = files.by_name.into_values().collect();
    Schema::of_descriptors(files).map_err(|fault| fault.to_string())
}

#[cfg(test)]
pub(super) fn answer_of(schema: &Schema) -> Vec<u8> {
    let descriptors = schema.files().map(|file| file.encode_to_vec()).collect();
    Reflected { files: Some(Files { descriptors }), ..Reflected::default() }.encode_to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer with one file of this name, which imports another, and of at least so many bytes.
    fn answer(name: &str, imports: &str, bytes: usize) -> Reflected {
        let file = FileDescriptorProto {
            name: Some(name.to_owned()),
            package: Some("x".repeat(bytes)),
            dependency: vec![imports.to_owned()],
            ..FileDescriptorProto::default()
        };
        let files = Some(Files { descriptors: vec![file.encode_to_vec()] });
        Reflected { files, ..Reflected::default() }
    }

    #[test]
    fn imports_that_a_server_does_not_know_are_left_out() {
        let file = FileDescriptorProto {
            name: Some("a".to_owned()),
            dependency: ["x", "b", "y", "c"].map(str::to_owned).to_vec(),
            public_dependency: vec![0, 3],
            ..FileDescriptorProto::default()
        };
        let absent = ["x", "y"].map(str::to_owned);
        let left = without_imports(file.clone(), &absent);
        assert_eq!(
            (left.dependency, left.public_dependency),
            (vec!["b".into(), "c".into()], vec![1])
        );
        assert_eq!(without_imports(file.clone(), &[]), file);
        let mut files = Descriptors::default();
        files.lack("google/protobuf/timestamp.proto".to_owned());
        files.lack("google/api/http.proto".to_owned());
        assert_eq!(files.absent, ["google/api/http.proto"]);
        assert_eq!(files.into_files()[0].name(), "google/protobuf/timestamp.proto");
    }

    #[test]
    fn each_missing_file_is_asked_for_once() {
        let (mut files, mut budget) = (Descriptors::default(), Budget::default());
        files.add(&answer("a", "b", 0), &mut budget).unwrap();
        assert_eq!(files.next_missing().as_deref(), Some("b"));
        files.add(&answer("b", "a", 0), &mut budget).unwrap();
        assert_eq!(files.next_missing(), None);
    }

    #[test]
    fn a_server_that_always_imports_another_file_is_refused() {
        let (mut files, mut budget) = (Descriptors::default(), Budget::default());
        let mut refused = None;
        for number in 0..2_000 {
            let answer = answer(&number.to_string(), &(number + 1).to_string(), 0);
            let added = files.add(&answer, &mut budget);
            if let Err(why) = added {
                refused = Some((number, why));
                break;
            }
        }
        assert_eq!(refused, Some((1_000, "it consists of more than 1000 files".to_owned())));
    }

    #[test]
    fn files_may_have_four_mebibytes_in_all() {
        let (mut files, mut budget) = (Descriptors::default(), Budget::default());
        // Its other fields take less than 100 bytes.
        let of_a_mebibyte = |name: &str| answer(name, "z", (1 << 20) - 100);
        for name in ["a", "b", "c", "d"] {
            files.add(&of_a_mebibyte(name), &mut budget).unwrap();
        }
        let refused = files.add(&of_a_mebibyte("e"), &mut budget).unwrap_err();
        assert_eq!(refused, "its files have more than 4 MiB");
    }
}
