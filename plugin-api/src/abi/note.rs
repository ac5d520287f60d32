//! The marker and the note: a plugin's description of itself, read before any of its code runs.

use crate::{ABI_VERSION, ABI_VERSION_JSON};

/// The first bytes of a marker.
pub(crate) const MAGIC: [u8; 8] = *b"REPTPLUG";
/// The name of the note's section in ELF, Mach-O and PE files.
#[cfg(feature = "host")]
pub(crate) const SECTIONS: [&str; 3] = [".note.repertoire_plugin", "__rep_plugin", ".repplug"];
/// The owner's name inside the note, padded with NULs to a multiple of four.
pub(crate) const NOTE_NAME: [u8; 12] = *b"Repertoire\0\0";
const NOTE_NAME_LEN: u32 = 11;
const NOTE_KIND: u32 = 1;

/// A plain C structure whose first three fields are the same in every version of the ABI.
#[repr(C)]
pub struct Marker {
    pub(crate) magic: [u8; 8],
    pub(crate) abi_major: u32,
    pub(crate) abi_minor: u32,
    /// 1 if panics unwind and can therefore be caught.
    pub(crate) panic_unwind: u32,
    pub(crate) json_len: u32,
    pub(crate) json: *const u8,
}

// SAFETY: the pointer is to a static that is never changed.
unsafe impl Sync for Marker {}

impl Marker {
    /// Builds the marker of a plugin with this note.
    pub const fn new<const N: usize>(note: &'static Note<N>, panic_unwind: bool) -> Self {
        Self {
            magic: MAGIC,
            abi_major: ABI_VERSION.0,
            abi_minor: ABI_VERSION.1,
            panic_unwind: panic_unwind as u32,
            json_len: N as u32,
            json: note.json.as_ptr(),
        }
    }
}

/// An ELF note, which is put into a section of its own on all platforms.
#[repr(C, align(4))]
pub struct Note<const N: usize> {
    name_len: u32,
    json_len: u32,
    kind: u32,
    name: [u8; 12],
    json: [u8; N],
}

impl<const N: usize> Note<N> {
    /// Builds the note whose JSON is the concatenation of `parts`.
    pub const fn new(parts: &[&str]) -> Self {
        let mut json = [b' '; N];
        let mut at = 0;
        let mut idx = 0;
        while idx < parts.len() {
            let part = parts[idx].as_bytes();
            let mut offset = 0;
            while offset < part.len() {
                json[at] = part[offset];
                at += 1;
                offset += 1;
            }
            idx += 1;
        }
        Self { name_len: NOTE_NAME_LEN, json_len: N as u32, kind: NOTE_KIND, name: NOTE_NAME, json }
    }
}

/// Returns the total length of `parts` in bytes.
pub const fn length(parts: &[&str]) -> usize {
    let mut length = 0;
    let mut idx = 0;
    while idx < parts.len() {
        length += parts[idx].len();
        idx += 1;
    }
    length
}

/// The end of the note's JSON: facts about the build, which this crate knows.
pub const BUILD: &[&str] = &[
    "\"abi\":",
    ABI_VERSION_JSON,
    ",\"target\":\"",
    env!("REPERTOIRE_PLUGIN_TARGET"),
    "\",\"rustc\":\"",
    env!("REPERTOIRE_PLUGIN_RUSTC"),
    "\",\"plugin_api\":\"",
    env!("CARGO_PKG_VERSION"),
    "\"}",
];

/// Returns the JSON in the bytes of a note's section.
#[cfg(feature = "host")]
pub(crate) fn json_of(section: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| {
        let bytes = section.get(at..at + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    if number(0)? != NOTE_NAME_LEN || section.get(12..24)? != NOTE_NAME {
        return None;
    }
    let length = usize::try_from(number(4)?).ok()?;
    section.get(24..24usize.checked_add(length)?)
}
