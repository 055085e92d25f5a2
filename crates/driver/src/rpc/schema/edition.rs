//! Files of edition 2023, as files of proto2 whose messages have the same encoding.
//!
//! By default fields of this edition have presence, as those of proto2, and repeated numbers are packed, as those of proto3.
//! Features of files, messages and fields change that; those that change no encoding are left out.
//!
//! Source: "Feature Settings for Editions" of protobuf.dev; google/protobuf/descriptor.proto.

use std::ops::Range;

use prost::{DecodeError, Message};
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FieldOptions, FileDescriptorProto,
    UninterpretedOption,
};

/// `EDITION_2023`.
const EDITION: i32 = 1000;
/// Its name in a source.
const NAME: &str = "2023";
/// The syntax of descriptors of all editions.
pub(super) const EDITIONS: &str = "editions";
const FEATURES: &str = "features";

/// `FeatureSet`: 0 is what is not given.
#[derive(Clone, Copy, PartialEq, Message)]
struct Features {
    #[prost(int32, tag = "1")]
    presence: i32,
    #[prost(int32, tag = "3")]
    repeated: i32,
    #[prost(int32, tag = "5")]
    encoding: i32,
}

const LEGACY_REQUIRED: i32 = 3;
const EXPANDED: i32 = 2;
const DELIMITED: i32 = 2;
/// The values in a source, which are of different features.
const WORDS: [(&str, Features); 6] = [
    ("LEGACY_REQUIRED", Features { presence: LEGACY_REQUIRED, repeated: 0, encoding: 0 }),
    ("EXPLICIT", Features { presence: 1, repeated: 0, encoding: 0 }),
    ("EXPANDED", Features { presence: 0, repeated: EXPANDED, encoding: 0 }),
    ("PACKED", Features { presence: 0, repeated: 1, encoding: 0 }),
    ("DELIMITED", Features { presence: 0, repeated: 0, encoding: DELIMITED }),
    ("LENGTH_PREFIXED", Features { presence: 0, repeated: 0, encoding: 1 }),
];

impl Features {
    /// These, and for those that are not given the ones of the element around.
    fn within(self, outer: Self) -> Self {
        let or = |own, outer| if own == 0 { outer } else { own };
        Self {
            presence: or(self.presence, outer.presence),
            repeated: or(self.repeated, outer.repeated),
            encoding: or(self.encoding, outer.encoding),
        }
    }

    /// Takes the features out of the options of a source.
    fn take(options: &mut Vec<UninterpretedOption>) -> Self {
        let mut all = Self::default();
        options.retain(|option| {
            let first = option.name.first();
            let is_one = first.is_some_and(|part| !part.is_extension && part.name_part == FEATURES);
            let value = option.identifier_value.as_ref().or(option.aggregate_value.as_ref());
            if is_one && let Some(value) = value {
                let words = value.split(|letter: char| letter != '_' && !letter.is_alphanumeric());
                let named = words.filter_map(|word| WORDS.iter().find(|(name, _)| *name == word));
                all = named.fold(all, |all, (_, feature)| feature.within(all));
            }
            !is_one
        });
        all
    }
}

// The parts of descriptors that have features, which `prost_types` does not know.

#[derive(Clone, PartialEq, Message)]
struct FileForm {
    #[prost(message, repeated, tag = "4")]
    messages: Vec<MessageForm>,
    #[prost(message, optional, tag = "8")]
    options: Option<FileFeatures>,
    #[prost(int32, tag = "14")]
    edition: i32,
}

#[derive(Clone, PartialEq, Message)]
struct FileFeatures {
    #[prost(message, optional, tag = "50")]
    features: Option<Features>,
}

#[derive(Clone, PartialEq, Message)]
struct MessageForm {
    #[prost(message, repeated, tag = "2")]
    fields: Vec<FieldForm>,
    #[prost(message, repeated, tag = "3")]
    nested: Vec<MessageForm>,
    #[prost(message, optional, tag = "7")]
    options: Option<MessageFeatures>,
}

#[derive(Clone, PartialEq, Message)]
struct MessageFeatures {
    #[prost(message, optional, tag = "12")]
    features: Option<Features>,
}

#[derive(Clone, PartialEq, Message)]
struct FieldForm {
    #[prost(message, optional, tag = "8")]
    options: Option<FieldFeatures>,
}

#[derive(Clone, PartialEq, Message)]
struct FieldFeatures {
    #[prost(message, optional, tag = "21")]
    features: Option<Features>,
}

/// Reads a descriptor; one of edition 2023 becomes one of proto2.
pub(super) fn decode(bytes: &[u8]) -> Result<FileDescriptorProto, DecodeError> {
    let mut file = FileDescriptorProto::decode(bytes)?;
    if file.syntax() == EDITIONS {
        let form = FileForm::decode(bytes)?;
        if form.edition == EDITION {
            form.apply(&mut file);
        }
    }
    Ok(file)
}

/// Reads a set of descriptors, as [`decode`] does.
pub(super) fn decode_set(bytes: &[u8]) -> Result<Vec<FileDescriptorProto>, DecodeError> {
    #[derive(Clone, PartialEq, Message)]
    struct Set {
        #[prost(bytes = "vec", repeated, tag = "1")]
        files: Vec<Vec<u8>>,
    }
    Set::decode(bytes)?.files.iter().map(|bytes| decode(bytes)).collect()
}

/// The statement of the edition, without its semicolon, if it is the first one of a source, and the edition.
pub(super) fn statement(text: &str) -> Option<(Range<usize>, &str)> {
    let mut rest = text.trim_start();
    loop {
        rest = match (rest.strip_prefix("//"), rest.strip_prefix("/*")) {
            (Some(comment), _) => comment.split_once('\n').map_or("", |(_, rest)| rest),
            (_, Some(comment)) => comment.split_once("*/").map_or("", |(_, rest)| rest),
            (None, None) => break,
        }
        .trim_start();
    }
    let value = rest.strip_prefix("edition")?.trim_start().strip_prefix('=')?;
    let (value, _) = value.split_once(';')?;
    let begin = text.len() - rest.len();
    let end = begin + (value.as_ptr() as usize - rest.as_ptr() as usize) + value.len();
    Some((begin..end, value.trim().trim_matches(['"', '\''])))
}

/// The source of edition 2023 as one of proto3, which has fields without labels too; `None` for another edition.
pub(super) fn as_proto3(text: &str) -> Option<String> {
    let (place, edition) = statement(text)?;
    let lines = "\n".repeat(text[place.clone()].matches('\n').count());
    let syntax = format!("syntax = \"proto3\"{lines}");
    (edition == NAME).then(|| format!("{}{syntax}{}", &text[..place.start], &text[place.end..]))
}

/// Makes what was read of such a source a file of proto2, and takes its features out.
pub(super) fn apply_options(file: &mut FileDescriptorProto) {
    let features = file.options.as_mut().map(|it| Features::take(&mut it.uninterpreted_option));
    for enumeration in &mut file.enum_type {
        drop_features(enumeration);
    }
    let form = FileForm {
        messages: file.message_type.iter_mut().map(MessageForm::take).collect(),
        options: Some(FileFeatures { features }),
        edition: EDITION,
    };
    for field in &mut file.extension {
        FieldForm::take(field);
    }
    form.apply(file);
}

fn drop_features(enumeration: &mut EnumDescriptorProto) {
    if let Some(options) = &mut enumeration.options {
        Features::take(&mut options.uninterpreted_option);
    }
}

impl MessageForm {
    fn take(message: &mut DescriptorProto) -> Self {
        message.enum_type.iter_mut().for_each(drop_features);
        for field in &mut message.extension {
            FieldForm::take(field);
        }
        let options = message.options.as_mut();
        let features = options.map(|it| Features::take(&mut it.uninterpreted_option));
        Self {
            fields: message.field.iter_mut().map(FieldForm::take).collect(),
            nested: message.nested_type.iter_mut().map(Self::take).collect(),
            options: Some(MessageFeatures { features }),
        }
    }

    fn apply(&self, message: &mut DescriptorProto, outer: Features) {
        let own = self.options.as_ref().and_then(|options| options.features).unwrap_or_default();
        let features = own.within(outer);
        let nested = message.nested_type.iter();
        let entries = nested.filter(|it| it.options.as_ref().is_some_and(|it| it.map_entry()));
        let entries: Vec<String> = entries.map(|entry| entry.name().to_owned()).collect();
        for (field, form) in message.field.iter_mut().zip(&self.fields) {
            let is_map = entries.iter().any(|entry| {
                field.type_name().rsplit('.').next().is_some_and(|name| name == entry)
            });
            form.apply(field, if is_map { Features { encoding: 1, ..features } } else { features });
        }
        for (nested, form) in message.nested_type.iter_mut().zip(&self.nested) {
            let is_entry = entries.iter().any(|entry| entry == nested.name());
            form.apply(
                nested,
                if is_entry { Features { encoding: 1, ..features } } else { features },
            );
        }
    }
}

impl FieldForm {
    fn take(field: &mut FieldDescriptorProto) -> Self {
        let options = field.options.as_mut();
        let features = options.map(|it| Features::take(&mut it.uninterpreted_option));
        Self { options: Some(FieldFeatures { features }) }
    }

    fn apply(&self, field: &mut FieldDescriptorProto, outer: Features) {
        let own = self.options.as_ref().and_then(|options| options.features).unwrap_or_default();
        let features = own.within(outer);
        match field.label() {
            Label::Repeated => {
                let options = field.options.get_or_insert_with(FieldOptions::default);
                options.packed = Some(features.repeated != EXPANDED);
            }
            _ if own.presence == LEGACY_REQUIRED => field.set_label(Label::Required),
            _ => {}
        }
        // The type of a field of a source may be known later only; that of a message has a name, and so has an enum.
        let may_be_message =
            !field.type_name().is_empty() && field.r#type != Some(Type::Enum.into());
        if may_be_message && features.encoding == DELIMITED {
            field.set_type(Type::Group);
        }
    }
}

impl FileForm {
    fn apply(&self, file: &mut FileDescriptorProto) {
        file.syntax = None;
        let features = self.options.as_ref().and_then(|options| options.features);
        for (message, form) in file.message_type.iter_mut().zip(&self.messages) {
            form.apply(message, features.unwrap_or_default());
        }
    }
}
