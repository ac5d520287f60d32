//! Texts of users, which may have halves of surrogate pairs.

use std::borrow::Cow;
use std::ops::Deref;

use pyo3::prelude::*;
use pyo3::types::PyString;

/// A `str`, as Unicode text. Python keeps bytes that it could not decode, and characters that another program cut in
/// half, as lone surrogates; each is `U+FFFD` here, so that positions stay the same.
#[derive(Debug)]
pub(crate) struct Text<'a>(Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Text<'a> {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Text<'a>> {
        match value.extract::<&'a str>() {
            Ok(text) => Ok(Text(Cow::Borrowed(text))),
            Err(error) => match value.cast::<PyString>() {
                Ok(text) => whole(&text.to_owned()).map(|text| Text(Cow::Owned(text))),
                Err(_) => Err(error),
            },
        }
    }
}

/// Returns a `str` with `U+FFFD` in place of each lone surrogate.
pub(crate) fn whole(text: &Bound<'_, PyString>) -> PyResult<String> {
    if let Ok(text) = text.to_str() {
        return Ok(text.to_owned());
    }
    let bytes: Vec<u8> = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?.extract()?;
    let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    Ok(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}
