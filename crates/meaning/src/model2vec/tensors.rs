//! Tensors of a safetensors file, as numbers.

use serde_json::Value;

use crate::error::{Error, ErrorKind};

/// A file in memory, and its index.
pub(super) struct Tensors<'a> {
    index: Value,
    data: &'a [u8],
}

/// A tensor's shape and its numbers.
pub(super) struct Tensor<'a> {
    pub(super) shape: Vec<usize>,
    bytes: &'a [u8],
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    F64,
    F32,
    F16,
    Bf16,
    I64,
    I32,
    I8,
}

impl Kind {
    fn of(name: &str) -> Option<Kind> {
        Some(match name {
            "F64" => Kind::F64,
            "F32" => Kind::F32,
            "F16" => Kind::F16,
            "BF16" => Kind::Bf16,
            "I64" => Kind::I64,
            "I32" => Kind::I32,
            "I8" => Kind::I8,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Kind::F64 | Kind::I64 => 8,
            Kind::F32 | Kind::I32 => 4,
            Kind::F16 | Kind::Bf16 => 2,
            Kind::I8 => 1,
        }
    }
}

fn damaged(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Damaged, message)
}

impl<'a> Tensors<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let (size, rest) = bytes.split_first_chunk().ok_or_else(|| damaged("the file is empty"))?;
        let size = usize::try_from(u64::from_le_bytes(*size)).unwrap_or(usize::MAX);
        let (index, data) =
            rest.split_at_checked(size).ok_or_else(|| damaged("the file ends within its index"))?;
        let index = serde_json::from_slice(index)
            .map_err(|error| damaged(format!("the index is not JSON: {error}")))?;
        Ok(Tensors { index, data })
    }

    /// Returns the tensor with one of these names, if there is one.
    pub(super) fn get(&self, names: &[&str]) -> Result<Option<Tensor<'a>>, Error> {
        let Some((name, about)) = names.iter().find_map(|name| Some((name, self.index.get(name)?)))
        else {
            return Ok(None);
        };
        let numbers = |key: &str| -> Option<Vec<usize>> {
            let list = about.get(key)?.as_array()?.iter();
            list.map(|n| n.as_u64().and_then(|n| usize::try_from(n).ok())).collect()
        };
        let kind = about.get("dtype").and_then(Value::as_str).unwrap_or_default();
        let kind = Kind::of(kind).ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, format!("tensor `{name}` has the type `{kind}`"))
        })?;
        let fits = || {
            let (shape, offsets) = (numbers("shape")?, numbers("data_offsets")?);
            let n = shape.iter().try_fold(1_usize, |n, side| n.checked_mul(*side))?;
            let bytes = self.data.get(*offsets.first()?..*offsets.get(1)?)?;
            (bytes.len() == n.checked_mul(kind.size())?).then_some((shape, bytes))
        };
        let (shape, bytes) =
            fits().ok_or_else(|| damaged(format!("tensor `{name}` does not fit the file")))?;
        Ok(Some(Tensor { shape, bytes, kind }))
    }
}

impl Tensor<'_> {
    /// The number at an index; nothing beyond the end.
    pub(super) fn float(&self, index: usize) -> Option<f32> {
        let size = self.kind.size();
        let bytes = self.bytes.get(index.checked_mul(size)?..)?;
        Some(match self.kind {
            Kind::F64 => f64::from_le_bytes(*bytes.first_chunk()?) as f32,
            Kind::F32 => f32::from_le_bytes(*bytes.first_chunk()?),
            Kind::F16 => half(u16::from_le_bytes(*bytes.first_chunk()?)),
            Kind::Bf16 => {
                f32::from_bits(u32::from(u16::from_le_bytes(*bytes.first_chunk()?)) << 16)
            }
            Kind::I8 => f32::from(bytes.first()?.cast_signed()),
            Kind::I64 | Kind::I32 => return None,
        })
    }

    /// The number at an index as a row; nothing beyond the end or below zero.
    pub(super) fn row(&self, index: usize) -> Option<usize> {
        let bytes = self.bytes.get(index.checked_mul(self.kind.size())?..)?;
        match self.kind {
            Kind::I64 => usize::try_from(i64::from_le_bytes(*bytes.first_chunk()?)).ok(),
            Kind::I32 => usize::try_from(i32::from_le_bytes(*bytes.first_chunk()?)).ok(),
            _ => None,
        }
    }
}

/// A number of 16 bits, with 5 for the exponent.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f32::from(bits & 1023) / 1024.0;
    sign * match exponent {
        0 => fraction * 2_f32.powi(-14),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction) * 2_f32.powi(exponent - 15),
    }
}
