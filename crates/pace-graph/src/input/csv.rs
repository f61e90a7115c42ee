//! CSV fields: commas, and quotes around fields that hold commas, quotes or line breaks.

use crate::error::Error;

/// Splits one record (without its final line break) into fields.
pub(crate) fn fields(record: &str) -> Result<Vec<String>, Error> {
    let mut fields = Vec::new();
    let mut rest = record;
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(body) => quoted(body)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        fields.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(fields),
            None => return Err(Error::syntax("a comma after a quoted field", after)),
        }
    }
}

/// The field that starts after an opening quote, and what follows its closing quote.
fn quoted(body: &str) -> Result<(String, &str), Error> {
    let mut field = String::new();
    let mut rest = body;
    loop {
        let (part, after) = rest.split_once('"').ok_or_else(|| Error::syntax("a closing quote", rest))?;
        field.push_str(part);
        match after.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None => return Ok((field, after)),
        }
    }
}

/// Whether a quote is still open, so that the record continues on the next line.
pub(crate) fn is_open(record: &[u8]) -> bool {
    record.iter().filter(|&&byte| byte == b'"').count() % 2 == 1
}

/// Splits a record of exactly `N` fields; `header` names them in the error.
pub(crate) fn exactly<const N: usize>(record: &str, header: &str) -> Result<[String; N], Error> {
    fields(record)?.try_into().map_err(|_| Error::syntax(format!("{N} fields ({header})"), record))
}
