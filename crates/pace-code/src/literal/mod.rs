//! Literals as Python's `str` prints them.

mod bytes;
mod float;
mod integer;

pub(crate) use bytes::push_bytes;
pub(crate) use float::{push_float, push_imaginary};
pub(crate) use integer::{MAX_DIGITS, TooManyDigits, push_integer};
