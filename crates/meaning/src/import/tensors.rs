//! Tensors of a safetensors file, as numbers.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::Value;

use crate::error::{Error, ErrorKind};
use crate::file::open;

/// The largest index of a file, in bytes. Those of published models have some 20 kB.
const MAX_INDEX: u64 = 16 << 20;
/// The largest tensor, in bytes: 250,000 rows of 1,024 numbers.
const MAX_TENSOR: u64 = 1 << 30;

/// A file and its index. Tensors are read when they are asked for, so that a large file needs no more memory than its
/// largest tensor.
pub(super) struct Tensors {
    index: Value,
    file: File,
    data_at: u64,
    data_len: u64,
}

/// A tensor's shape and its numbers.
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    bytes: Vec<u8>,
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

impl Tensors {
    /// Opens a file and reads its index. Errors do not name the file.
    pub(super) fn open(path: &Path) -> Result<Tensors, Error> {
        let (mut file, len) = open(path)?;
        let mut size = [0; 8];
        file.read_exact(&mut size).map_err(|_| damaged("the file is empty"))?;
        let size = u64::from_le_bytes(size);
        if size > len - 8 {
            return Err(damaged("the file ends within its index"));
        }
        if size > MAX_INDEX {
            return Err(damaged("the index is larger than 16 MiB"));
        }
        let mut index = Vec::new();
        let read = file.by_ref().take(size).read_to_end(&mut index);
        read.map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        let index = serde_json::from_slice(&index)
            .map_err(|error| damaged(format!("the index is not JSON: {error}")))?;
        Ok(Tensors { index, file, data_at: 8 + size, data_len: len - 8 - size })
    }

    /// Reads the tensor with one of these names, if there is one.
    pub(super) fn get(&mut self, names: &[&str]) -> Result<Option<Tensor>, Error> {
        let Some((name, about)) = names.iter().find_map(|name| Some((name, self.index.get(name)?)))
        else {
            return Ok(None);
        };
        let kind = about.get("dtype").and_then(Value::as_str).unwrap_or_default();
        let kind = Kind::of(kind).ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, format!("tensor `{name}` has the type `{kind}`"))
        })?;
        let (shape, start, len) = fit(about, kind, self.data_len)
            .ok_or_else(|| damaged(format!("tensor `{name}` does not fit the file")))?;
        if len > MAX_TENSOR {
            let message = format!("tensor `{name}` is larger than 1 GiB");
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let mut bytes = Vec::new();
        let read = self.file.seek(SeekFrom::Start(self.data_at + start));
        let read = read.and_then(|_| self.file.by_ref().take(len).read_to_end(&mut bytes));
        read.map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        Ok(Some(Tensor { shape, bytes, kind }))
    }
}

/// The shape of a tensor, and where its data begin and how long they are; `None` if they do not fit.
fn fit(about: &Value, kind: Kind, data_len: u64) -> Option<(Vec<usize>, u64, u64)> {
    let numbers = |key: &str| -> Option<Vec<u64>> {
        about.get(key)?.as_array()?.iter().map(Value::as_u64).collect()
    };
    let (shape, offsets) = (numbers("shape")?, numbers("data_offsets")?);
    let (start, end) = (*offsets.first()?, *offsets.get(1)?);
    let n = shape.iter().try_fold(1_u64, |n, side| n.checked_mul(*side))?;
    let len = end.checked_sub(start).filter(|_| end <= data_len)?;
    let shape = shape.into_iter().map(|side| usize::try_from(side).ok()).collect::<Option<_>>()?;
    (len == n.checked_mul(kind.size() as u64)?).then_some((shape, start, len))
}

impl Tensor {
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

    /// The finite numbers from an index on; `None` if one is not finite or does not exist.
    pub(super) fn finite(&self, start: usize, n: usize) -> Option<Vec<f32>> {
        let number = |at| self.float(at).filter(|value| value.is_finite());
        (start..start.checked_add(n)?).map(number).collect()
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
