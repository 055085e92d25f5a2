//! What is wrong with a message in JSON though it can be encoded: protobuf's own readers refuse a key that is given twice, and
//! its writers a message without a required field of proto2.

use std::collections::HashSet;
use std::fmt;

use prost_reflect::{DynamicMessage, ReflectMessage as _, Value};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// JSON without keys that are given twice.
pub(super) struct DistinctKeys;

impl<'de> Deserialize<'de> for DistinctKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DistinctKeysVisitor)
    }
}

struct DistinctKeysVisitor;

impl<'de> Visitor<'de> for DistinctKeysVisitor {
    type Value = DistinctKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DistinctKeys, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format!("the key '{key}' is given twice")));
            }
            keys.insert(key);
            map.next_value::<DistinctKeys>()?;
        }
        Ok(DistinctKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<DistinctKeys, A::Error> {
        while list.next_element::<DistinctKeys>()?.is_some() {}
        Ok(DistinctKeys)
    }

    fn visit_bool<E>(self, _: bool) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_i64<E>(self, _: i64) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_u64<E>(self, _: u64) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_f64<E>(self, _: f64) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_str<E>(self, _: &str) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_unit<E>(self) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }
}

/// The first required field that a message, or one within it, does not have.
pub(super) fn missing_field(message: &DynamicMessage) -> Option<String> {
    let descriptor = message.descriptor();
    let mut required = descriptor.fields().filter(|field| field.is_required());
    if let Some(missing) = required.find(|field| !message.has_field(field)) {
        return Some(missing.full_name().to_owned());
    }
    message.fields().map(|(_, value)| value).find_map(missing_within)
}

fn missing_within(value: &Value) -> Option<String> {
    match value {
        Value::Message(message) => missing_field(message),
        Value::List(values) => values.iter().find_map(missing_within),
        Value::Map(values) => values.values().find_map(missing_within),
        _ => None,
    }
}
