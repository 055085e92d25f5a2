//! The types of one service.

use std::path::{Path, PathBuf};

use prost::Message as _;
use prost_reflect::prost_types::FileDescriptorProto;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor, ServiceDescriptor};

use super::super::Method;
use super::edition;
use super::fault::{SchemaFault, help_for};
use super::imports;
use super::json::{self, DistinctKeys};
use super::source::{self, Folders};

/// The most characters of a server's name in a message.
const NAME_CHARACTERS_MAX: usize = 100;

/// Services and the types of their messages.
#[derive(Clone, Debug)]
pub struct Schema {
    pool: DescriptorPool,
}

/// A method with one request and one answer, and the types of these messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnaryMethod(MethodDescriptor);

impl Schema {
    /// Reads a `.proto` file, or a set of compiled ones, as `protoc -o` writes it. Imports are searched in `includes` and then
    /// in the file's own folder; those of `google/protobuf` are always there.
    ///
    /// # Errors
    /// When a file cannot be read or has an error, with its place.
    pub fn read(file: &Path, includes: &[PathBuf]) -> Result<Self, SchemaFault> {
        let bytes = source::bytes_of(file).map_err(|error| {
            SchemaFault::Proto(format!("cannot read {}: {error}", file.display()))
        })?;
        if !source::is_source(file)
            && let Ok(files) = edition::decode_set(&bytes)
            && !files.is_empty()
        {
            return Self::of_descriptors(files).map_err(|fault| incomplete(file, &fault));
        }
        let folders = Folders::of(file, includes)?;
        let (name, shown) = (folders.name_of(file)?, folders.shown());
        let mut compiler = protox::Compiler::with_file_resolver(folders);
        let compiled = compiler.include_imports(true).open_file(&name).map(drop);
        compiled.map_err(|error| wrong(&error, &shown))?;
        Ok(Self { pool: compiler.descriptor_pool() })
    }

    /// The files that it was made of, in one message ([`Schema::from_bytes`]).
    pub fn to_bytes(&self) -> Vec<u8> {
        self.pool.encode_to_vec()
    }

    /// The schema of files that [`Schema::to_bytes`] wrote.
    ///
    /// # Errors
    /// When they are not such files.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SchemaFault> {
        let files = edition::decode_set(bytes);
        Self::of_descriptors(files.map_err(|error| SchemaFault::Proto(error.to_string()))?)
    }

    /// The schema of files that were compiled already, which must be complete.
    pub(super) fn of_descriptors(files: Vec<FileDescriptorProto>) -> Result<Self, SchemaFault> {
        files.iter().try_for_each(check_syntax)?;
        imports::check(&files).map_err(SchemaFault::Descriptors)?;
        let mut pool = DescriptorPool::new();
        let added = pool.add_file_descriptor_protos(files);
        added.map_err(|error| SchemaFault::Descriptors(error.to_string()))?;
        Ok(Self { pool })
    }

    #[cfg(test)]
    pub(super) fn files(&self) -> impl Iterator<Item = &FileDescriptorProto> {
        self.pool.file_descriptor_protos()
    }

    /// A method by its name.
    ///
    /// # Errors
    /// When there is no such method, with the nearest one; when it is a streaming one.
    pub fn unary_method(&self, method: &Method) -> Result<UnaryMethod, SchemaFault> {
        let service = self.service(&method.service)?;
        let Some(found) = service.methods().find(|found| found.name() == method.name) else {
            let methods: Vec<_> = service.methods().collect();
            let known: Vec<&str> = methods.iter().map(MethodDescriptor::name).collect();
            let help = help_for(&method.name, &known);
            let (service, name) = (method.service.clone(), method.name.clone());
            return Err(SchemaFault::NoMethod { service, name, help });
        };
        match found.is_client_streaming() || found.is_server_streaming() {
            true => Err(SchemaFault::Streaming(method.to_string())),
            false => Ok(UnaryMethod(found)),
        }
    }

    fn service(&self, name: &str) -> Result<ServiceDescriptor, SchemaFault> {
        self.pool.get_service_by_name(name).ok_or_else(|| {
            let services: Vec<_> = self.pool.services().collect();
            let known: Vec<&str> = services.iter().map(ServiceDescriptor::full_name).collect();
            SchemaFault::NoService { name: name.to_owned(), help: help_for(name, &known) }
        })
    }
}

/// What the compiler says, and where it has searched when something is not there.
fn wrong(error: &protox::Error, folders: &str) -> SchemaFault {
    // With its place, where it has one.
    let told = format!("{error:?}");
    let told = if told.starts_with('"') { error.to_string() } else { told };
    SchemaFault::Proto(match told.ends_with("not found") {
        true => format!("{told} in {folders}"),
        false => told,
    })
}

fn incomplete(file: &Path, fault: &SchemaFault) -> SchemaFault {
    let why = match fault {
        SchemaFault::Descriptors(why) => why.clone(),
        other => other.to_string(),
    };
    let file = file.display();
    SchemaFault::Proto(format!(
        "{file}: {why}; `protoc --include_imports -o` writes a set with all"
    ))
}

/// Refuses a file of another edition, on which prost-reflect panics.
fn check_syntax(file: &FileDescriptorProto) -> Result<(), SchemaFault> {
    match file.syntax.as_deref() {
        None | Some("proto2" | "proto3") => Ok(()),
        Some(other) => {
            let name: String = file.name().chars().take(NAME_CHARACTERS_MAX).collect();
            let other: String = other.chars().take(NAME_CHARACTERS_MAX).collect();
            Err(SchemaFault::Descriptors(match other == edition::EDITIONS {
                true => format!("{name} is of another edition than 2023, which dyno cannot read"),
                false => format!("{name} has the syntax `{other}`, not proto2 or proto3"),
            }))
        }
    }
}

impl UnaryMethod {
    /// The bytes of a request from its JSON form.
    ///
    /// # Errors
    /// When the text is not JSON, or not a message of the method's input, with its place; when it gives a key twice, or
    /// lacks a required field.
    pub fn request(&self, json: &str) -> Result<Vec<u8>, SchemaFault> {
        let message = self.message(json)?;
        serde_json::from_str::<DistinctKeys>(json)
            .map_err(|error| self.fault(error.to_string()))?;
        match json::missing_field(&message) {
            None => Ok(message.encode_to_vec()),
            Some(field) => Err(self.fault(format!("the required field {field} is missing"))),
        }
    }

    /// The same for a text that is drawn from one that was checked: keys and fields are not looked at again.
    ///
    /// # Errors
    /// When the text is not JSON, or not a message of the method's input, with its place.
    pub fn drawn_request(&self, json: &str) -> Result<Vec<u8>, SchemaFault> {
        self.message(json).map(|message| message.encode_to_vec())
    }

    fn message(&self, json: &str) -> Result<DynamicMessage, SchemaFault> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let message = DynamicMessage::deserialize(self.0.input(), &mut reader);
        let whole = message.and_then(|message| reader.end().map(|()| message));
        whole.map_err(|error| self.fault(error.to_string()))
    }

    fn fault(&self, reason: String) -> SchemaFault {
        let Self(method) = self;
        SchemaFault::Message {
            input: method.input().full_name().to_owned(),
            method: format!("{}/{}", method.parent_service().full_name(), method.name()),
            reason,
        }
    }
}
