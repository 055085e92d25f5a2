//! What the descriptors of a server take in memory, before they are decoded: two bytes of an answer can mean a
//! message type of a thousand.

use prost::encoding::{WireType, decode_key, decode_varint};
use prost_reflect::prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto};

/// The most memory of all descriptors of a service, bytes.
const MEMORY_MAX: usize = 48 << 20;
/// A type, a field, a value, a method: its decoded forms (the answer's, prost-reflect's two), its place in lists and
/// maps, and the room that lists and maps keep for more.
const ENTRY_BYTES: usize = 1_536;
/// Options, ranges, and other messages that no name refers to.
const PART_BYTES: usize = 384;
/// A text or bytes, with the copies of an allocator's least piece.
const TEXT_BYTES: usize = 96;
const NUMBER_BYTES: usize = 8;
/// Copies of the bytes of an answer: as it came, its files, and the texts of the decoded forms.
const COPIES: usize = 6;
/// Copies of a full name, which begins with those of all types around it.
const NAME_COPIES: usize = 4;
/// prost decodes no message that is nested deeper than 100.
const DEPTH_MAX: usize = 110;

/// The memory that is left for the descriptors of a service.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(MEMORY_MAX)
    }
}

impl Budget {
    /// Takes what an answer would take, with the files in it.
    ///
    /// # Errors
    /// When it is more than what is left.
    pub(super) fn take_answer(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.take(COPIES * bytes.len() + weight(bytes, Kind::Answer, DEPTH_MAX))
    }

    /// Takes what the full names of a file would take.
    ///
    /// # Errors
    /// When it is more than what is left.
    pub(super) fn take_names(&mut self, file: &FileDescriptorProto) -> Result<(), String> {
        self.take(NAME_COPIES * names(file))
    }

    fn take(&mut self, bytes: usize) -> Result<(), String> {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(format!(
                "its descriptors would take more than {} MiB of memory",
                MEMORY_MAX >> 20
            )),
        }
    }
}

/// A message of an answer. Source: grpc/reflection/v1/reflection.proto and google/protobuf/descriptor.proto.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Answer,
    Files,
    Services,
    File,
    Message,
    Field,
    Oneof,
    Enum,
    EnumValue,
    Service,
    Method,
    ExtensionRange,
    SourceInfo,
    Options,
    UninterpretedOption,
    /// One without messages in it.
    Leaf,
}

impl Kind {
    /// The message in a field; `None` for a text, bytes or numbers.
    fn nested(self, tag: u32) -> Option<Self> {
        Some(match (self, tag) {
            (Self::Answer, 4) => Self::Files,
            (Self::Answer, 6) => Self::Services,
            (Self::Files, 1) => Self::File,
            (Self::Answer, 7)
            | (Self::Services, 1)
            | (Self::Message, 9)
            | (Self::Enum, 4)
            | (Self::SourceInfo, 1)
            | (Self::UninterpretedOption, 2) => Self::Leaf,
            (Self::File, 4) | (Self::Message, 3) => Self::Message,
            (Self::File, 5) | (Self::Message, 4) => Self::Enum,
            (Self::File, 6) => Self::Service,
            (Self::File, 7) | (Self::Message, 2 | 6) => Self::Field,
            (Self::File, 9) => Self::SourceInfo,
            (Self::Message, 5) => Self::ExtensionRange,
            (Self::Message, 8) => Self::Oneof,
            (Self::Enum, 2) => Self::EnumValue,
            (Self::Service, 2) => Self::Method,
            (Self::File | Self::Field, 8)
            | (Self::Message, 7)
            | (Self::Oneof, 2)
            | (Self::Enum | Self::EnumValue | Self::Service | Self::ExtensionRange, 3)
            | (Self::Method, 4) => Self::Options,
            (Self::Options, 999) => Self::UninterpretedOption,
            _ => return None,
        })
    }

    /// What one takes without the messages in it.
    fn bytes(self) -> usize {
        match self {
            Self::File
            | Self::Message
            | Self::Field
            | Self::Oneof
            | Self::Enum
            | Self::EnumValue
            | Self::Service
            | Self::Method => ENTRY_BYTES,
            _ => PART_BYTES,
        }
    }
}

/// What the fields of a message take. It ends where the bytes are malformed, as decoding does.
fn weight(mut bytes: &[u8], kind: Kind, depth: usize) -> usize {
    let mut sum = 0;
    while !bytes.is_empty() {
        let Ok((tag, wire)) = decode_key(&mut bytes) else { break };
        let Some(field) = field(&mut bytes, wire) else { break };
        sum += match (field, kind.nested(tag)) {
            (None, _) => NUMBER_BYTES,
            (Some(nested), Some(kind)) if depth > 0 => {
                kind.bytes() + weight(nested, kind, depth - 1)
            }
            (Some(_), _) => TEXT_BYTES,
        };
    }
    sum
}

/// The bytes of a field that has a length; `Some(None)` for a number, `None` when it is malformed.
fn field<'a>(bytes: &mut &'a [u8], wire: WireType) -> Option<Option<&'a [u8]>> {
    let length = match wire {
        WireType::Varint => return decode_varint(bytes).ok().map(|_| None),
        // What is in a group counts as if it were not.
        WireType::StartGroup | WireType::EndGroup => return Some(None),
        WireType::SixtyFourBit => 8,
        WireType::ThirtyTwoBit => 4,
        WireType::LengthDelimited => usize::try_from(decode_varint(bytes).ok()?).ok()?,
    };
    let (field, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some((wire == WireType::LengthDelimited).then_some(field))
}

/// The bytes of all full names of a file, each once.
fn names(file: &FileDescriptorProto) -> usize {
    let package = file.package();
    // Each part of a package is a name too.
    let mut sum = package.len() * (1 + package.matches('.').count());
    let scope = package.len();
    sum += file.message_type.iter().map(|it| names_of_message(it, scope)).sum::<usize>();
    sum += file.enum_type.iter().map(|it| names_of_enum(it, scope)).sum::<usize>();
    sum += file.extension.iter().map(|it| full(scope, it.name())).sum::<usize>();
    for service in &file.service {
        let scope = full(scope, service.name());
        sum += scope + service.method.iter().map(|it| full(scope, it.name())).sum::<usize>();
    }
    sum
}

fn names_of_message(message: &DescriptorProto, scope: usize) -> usize {
    let scope = full(scope, message.name());
    let fields = message.field.iter().chain(&message.extension);
    let within = fields.map(|it| full(scope, it.name())).sum::<usize>()
        + message.oneof_decl.iter().map(|it| full(scope, it.name())).sum::<usize>()
        + message.enum_type.iter().map(|it| names_of_enum(it, scope)).sum::<usize>()
        + message.nested_type.iter().map(|it| names_of_message(it, scope)).sum::<usize>();
    scope + within
}

fn names_of_enum(of: &EnumDescriptorProto, scope: usize) -> usize {
    let scope = full(scope, of.name());
    scope + of.value.iter().map(|it| full(scope, it.name())).sum::<usize>()
}

/// The length of a name within another, with the dot between.
fn full(scope: usize, name: &str) -> usize {
    scope + 1 + name.len()
}

#[cfg(test)]
mod tests {
    use prost::Message as _;
    use prost_reflect::prost_types::{
        EnumValueDescriptorProto, FieldDescriptorProto, MessageOptions, UninterpretedOption,
    };

    use super::*;

    /// A field with a length, whose tag is below 16.
    fn field_of(tag: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).unwrap();
        assert!(length < 128);
        [&[tag << 3 | 2, length][..], payload].concat()
    }

    fn file() -> FileDescriptorProto {
        let option = UninterpretedOption { string_value: Some(vec![7; 3]), ..Default::default() };
        let message = DescriptorProto {
            name: Some("Message".to_owned()),
            field: vec![FieldDescriptorProto {
                name: Some("field".to_owned()),
                number: Some(1),
                ..Default::default()
            }],
            options: Some(MessageOptions {
                uninterpreted_option: vec![option],
                ..Default::default()
            }),
            ..Default::default()
        };
        let value = |name: &str| EnumValueDescriptorProto {
            name: Some(name.to_owned()),
            ..Default::default()
        };
        FileDescriptorProto {
            name: Some("a.proto".to_owned()),
            package: Some("a.b".to_owned()),
            dependency: vec![String::new(); 5],
            message_type: vec![message],
            enum_type: vec![EnumDescriptorProto {
                name: Some("E".to_owned()),
                value: vec![value("X"), value("YZ")],
                ..Default::default()
            }],
            ..Default::default()
        }
    }

    #[test]
    fn each_message_text_and_number_of_an_answer_counts() {
        let answer = field_of(4, &field_of(1, &file().encode_to_vec()));
        // The list of files, the options and the option in them.
        let parts = 3 * PART_BYTES;
        // The file, its message with a field, and its enum with two values.
        let entries = 6 * ENTRY_BYTES;
        // The names of these six, the package, five imports and the value of an option.
        let texts = 13 * TEXT_BYTES;
        assert_eq!(
            weight(&answer, Kind::Answer, DEPTH_MAX),
            parts + entries + texts + NUMBER_BYTES
        );
    }

    #[test]
    fn full_names_begin_with_those_around_them() {
        // `a.b` and, at most as long, `a`; `a.b.Message`, `a.b.Message.field`; `a.b.E`, `a.b.E.X`, `a.b.E.YZ`.
        assert_eq!(names(&file()), 2 * 3 + 11 + 17 + 5 + 7 + 8);
    }

    #[test]
    fn what_is_malformed_or_too_deep_ends_the_count() {
        let two = [field_of(3, b""), vec![3 << 3 | 2, 9]].concat();
        assert_eq!(weight(&two, Kind::Message, DEPTH_MAX), ENTRY_BYTES);
        let nested = field_of(3, &field_of(3, &field_of(3, b"")));
        assert_eq!(weight(&nested, Kind::Message, DEPTH_MAX), 3 * ENTRY_BYTES);
        assert_eq!(weight(&nested, Kind::Message, 2), 2 * ENTRY_BYTES + TEXT_BYTES);
    }

    #[test]
    fn a_budget_is_of_all_answers_together() {
        let answer = field_of(4, &field_of(1, &file().encode_to_vec()));
        let one = COPIES * answer.len() + weight(&answer, Kind::Answer, DEPTH_MAX);
        let mut budget = Budget(2 * one);
        assert_eq!(budget.take_answer(&answer), Ok(()));
        assert_eq!(budget.take_answer(&answer), Ok(()));
        let refused = "its descriptors would take more than 48 MiB of memory";
        assert_eq!(budget.take_answer(&answer), Err(refused.to_owned()));
        assert_eq!(budget.take_names(&file()), Err(refused.to_owned()));
    }
}
