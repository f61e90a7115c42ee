//! What the two JSON formats share: objects whose keys occur once, and what an error of serde_json means.
//!
//! serde_json refuses more than 128 levels of nesting, so that hostile brackets cost nothing.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;

use crate::error::Error;

/// The members of an object, in the order of the file. A key that occurs twice is an error.
pub(crate) struct Members(pub(crate) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members: Vec<(String, Value)> = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(A::Error::custom(format!("the key {:?} is there twice", pair[0]))),
            None => Ok(Members(members)),
        }
    }
}

/// The text of a scalar.
pub(crate) fn scalar(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// What an error of serde_json means.
pub(crate) fn json_error(error: serde_json::Error, file: &str, expected: &str) -> Error {
    if error.is_io() {
        return Error::read(error.into(), file);
    }
    if error.is_eof() {
        return Error::Truncated { place: format!("in the middle of JSON ({error})") };
    }
    let mut found = error.to_string();
    // Python writes NaN and Infinity, which JSON does not know.
    if found.starts_with("expected value") || found.starts_with("expected ident") {
        found.push_str(" (NaN and Infinity, which Python writes, are no JSON)");
    }
    Error::expected(expected, found)
}
