//! Laws that several targets check.

use std::fmt::{Debug, Display};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::FILE;

/// What was read; `None` after an error, whose message must name the file.
pub fn named<T, E: Display>(found: Result<T, E>) -> Option<T> {
    found.map_err(|error| assert!(error.to_string().contains(FILE), "a message without a place: {error}")).ok()
}

/// Parses JSON. What parses is written and read back equal, unless it holds a number that JSON cannot.
pub fn json<T: Serialize + DeserializeOwned + PartialEq + Debug>(text: &[u8]) -> Option<T> {
    let value: T = serde_json::from_slice(text).ok()?;
    let written = serde_json::to_vec(&value).expect("plain data");
    if let Ok(again) = serde_json::from_slice::<T>(&written) {
        assert_eq!(again, value);
    }
    Some(value)
}
