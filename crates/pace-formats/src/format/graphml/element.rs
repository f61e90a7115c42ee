//! What quick-xml gives, made plain: wanted attributes, references, lines and errors.

use std::io::{self, BufRead, Read};

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart};

use crate::error::Error;

/// More attributes than any element has. They are searched one by one.
const MAX_ATTRIBUTES: usize = 256;

/// The values of some attributes of an element, in the order of their names.
pub(super) fn attributes<const N: usize>(
    element: &BytesStart<'_>,
    names: [&str; N],
) -> Result<[Option<String>; N], Error> {
    let mut values = [const { None }; N];
    let mut all = element.attributes();
    // The crate's own search for double attributes is quadratic.
    for (index, attribute) in all.with_checks(false).enumerate() {
        if index == MAX_ATTRIBUTES {
            let remedy = "an element of GraphML has a handful";
            return Err(Error::TooMuch { what: "attributes of an element", max: MAX_ATTRIBUTES as u64, remedy });
        }
        let attribute = attribute.map_err(|error| Error::expected("an attribute name=\"value\"", error.to_string()))?;
        let Some(wanted) = names.iter().position(|name| *name == attribute.key.into_inner()) else { continue };
        let value = attribute.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|error| Error::expected("the value of an attribute", error.to_string()))?;
        if values[wanted].replace(value.into_owned()).is_some() {
            return Err(Error::expected("an attribute once", format!("'{}' twice", names[wanted])));
        }
    }
    Ok(values)
}

/// The letters that a reference stands for. Entities that a document declares are not known: they may be bombs.
pub(super) fn referenced(reference: &BytesRef<'_>) -> Result<String, Error> {
    let unknown = || Error::syntax("an entity of XML (amp, lt, gt, quot, apos) or a number", reference);
    match reference.resolve_char_ref() {
        Ok(Some(letter)) => Ok(letter.to_string()),
        Ok(None) => resolve_predefined_entity(reference).map(str::to_owned).ok_or_else(unknown),
        Err(_) => Err(unknown()),
    }
}

/// What an error of quick-xml means.
pub(super) fn xml_error(error: quick_xml::Error, file: &str) -> Error {
    match error {
        quick_xml::Error::Io(source) => {
            let number = source.raw_os_error().map(io::Error::from_raw_os_error);
            Error::read(number.unwrap_or_else(|| io::Error::new(source.kind(), source.to_string())), file)
        }
        quick_xml::Error::Encoding(_) => Error::NotUtf8,
        // All of these are about something that has no end.
        quick_xml::Error::Syntax(error) => Error::Truncated { place: format!("in the middle of a tag ({error})") },
        error => Error::expected("well-formed XML", error.to_string()),
    }
}

/// A reader that counts lines.
pub(super) struct Lines<'a> {
    reader: &'a mut dyn BufRead,
    /// The line of the next byte, counted from 1.
    pub(super) line: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(reader: &'a mut dyn BufRead) -> Lines<'a> {
        Lines { reader, line: 1 }
    }
}

impl Read for Lines<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.fill_buf()?.read(bytes)?;
        self.consume(n_bytes);
        Ok(n_bytes)
    }
}

impl BufRead for Lines<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, n_bytes: usize) {
        // What was filled before is given again; nothing is read here.
        if let Ok(bytes) = self.reader.fill_buf() {
            self.line += bytes.iter().take(n_bytes).filter(|&&byte| byte == b'\n').count() as u64;
        }
        self.reader.consume(n_bytes);
    }
}
