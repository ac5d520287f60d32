//! The note of a plugin, read without running any of its code.

use std::path::Path;

use object::{Architecture, BinaryFormat, Object, ObjectSection, ObjectSegment};
use serde::{Deserialize, Serialize};

use super::{OpenError, foreign};
use crate::ABI_VERSION;
use crate::abi::note::{SECTIONS, json_of};

/// The size above which a library is not read.
const MAX_LIBRARY_BYTES: u64 = 1 << 30;

/// The note of a plugin: its name, version, classes, and build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PluginNote {
    /// The name of the plugin's crate.
    pub name: String,
    /// The version of the plugin's crate.
    pub version: String,
    /// The version of the border it was built for, `(major, minor)`.
    pub abi: (u32, u32),
    /// The classes it exports.
    pub classes: Vec<String>,
    /// `unwind` or `abort`.
    #[serde(default)]
    pub panic: String,
    /// The target triple it was built for.
    #[serde(default)]
    pub target: String,
    /// The compiler, as in `1.95.0 (59807616e 2026-04-14)`.
    #[serde(default)]
    pub rustc: String,
    /// The version of `repertoire-plugin`, for information only.
    #[serde(default)]
    pub plugin_api: String,
    #[serde(skip)]
    platform: Platform,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Platform {
    format: BinaryFormat,
    architecture: Architecture,
}

impl Default for Platform {
    fn default() -> Self {
        Self { format: native_format(), architecture: native_architecture() }
    }
}

impl PluginNote {
    /// Reads the note of the library at `path`.
    pub fn read(path: &Path) -> Result<Self, OpenError> {
        Self::read_as(path, path)
    }

    /// Reads the note of the library at `path`; error messages name `shown` instead.
    pub(super) fn read_as(path: &Path, shown: &Path) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Read { path: shown.to_owned(), source };
        let metadata = std::fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() || metadata.len() > MAX_LIBRARY_BYTES {
            let (why, help) = match () {
                () if metadata.is_dir() => ("it is a directory", "name the library in it"),
                () if metadata.is_file() => {
                    ("it is over 1 GiB", "build it in release, and strip it")
                }
                () => ("it is not a file", "name the library"),
            };
            return Err(OpenError::NotALibrary {
                path: shown.to_owned(),
                why: why.to_owned(),
                help,
            });
        }
        Self::parse(&std::fs::read(path).map_err(failed)?, shown)
    }

    /// Parses the note in the bytes of a library for any platform and ABI version. `path` appears in
    /// error messages only.
    ///
    /// # Errors
    ///
    /// The bytes are not a shared library, are truncated, or are not a plugin. A truncated library must
    /// be detected here, because loading it would end the process.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, OpenError> {
        let broken = |(why, help): (&str, &'static str)| OpenError::NotALibrary {
            path: path.to_owned(),
            why: why.to_owned(),
            help,
        };
        let file = object::File::parse(bytes).map_err(|_| broken(foreign::of_bytes(bytes)))?;
        if let Some(foreign) = foreign::of_object(&file) {
            return Err(broken(foreign));
        }
        let truncated = || broken(("it is truncated", "build or copy it again"));
        for segment in file.segments() {
            let (start, length) = segment.file_range();
            if start.checked_add(length).is_none_or(|end| end > bytes.len() as u64) {
                return Err(truncated());
            }
        }
        let missing = || OpenError::NotAPlugin {
            path: path.to_owned(),
            missing: "note `.note.repertoire_plugin`",
        };
        let is_note = |section: &object::Section<'_, '_>| {
            section.name().is_ok_and(|name| SECTIONS.contains(&name))
        };
        let section = file.sections().find(is_note).ok_or_else(missing)?;
        let bad = |why: String| OpenError::BadNote { path: path.to_owned(), why };
        let data = section.data().map_err(|_| truncated())?;
        let json = json_of(data).ok_or_else(|| bad("the note is damaged".to_owned()))?;
        let mut note: Self = serde_json::from_slice(json)
            .map_err(|error| bad(format!("the note cannot be read: {error}")))?;
        note.platform = Platform { format: file.format(), architecture: file.architecture() };
        Ok(note)
    }

    /// Tells whether panics in the plugin can be caught.
    pub fn unwinds(&self) -> bool {
        self.panic != "abort"
    }

    /// Checks that this host, on this machine, can open the plugin.
    pub fn check(&self, path: &Path) -> Result<(), OpenError> {
        let ours = Platform::default();
        if self.platform != ours {
            return Err(OpenError::Platform {
                path: path.to_owned(),
                found: format!("{} ({:?})", self.target, self.platform.architecture),
                ours: env!("REPERTOIRE_PLUGIN_TARGET").to_owned(),
            });
        }
        if self.abi.0 != ABI_VERSION.0 {
            return Err(OpenError::AbiVersion { path: path.to_owned(), found: self.abi });
        }
        Ok(())
    }
}

fn native_format() -> BinaryFormat {
    if cfg!(windows) {
        BinaryFormat::Pe
    } else if cfg!(target_vendor = "apple") {
        BinaryFormat::MachO
    } else {
        BinaryFormat::Elf
    }
}

fn native_architecture() -> Architecture {
    match std::env::consts::ARCH {
        "x86_64" if cfg!(target_pointer_width = "32") => Architecture::X86_64_X32,
        "x86_64" => Architecture::X86_64,
        "x86" => Architecture::I386,
        "aarch64" => Architecture::Aarch64,
        "arm" => Architecture::Arm,
        "riscv64" => Architecture::Riscv64,
        "riscv32" => Architecture::Riscv32,
        "loongarch64" => Architecture::LoongArch64,
        "powerpc64" => Architecture::PowerPc64,
        "s390x" => Architecture::S390x,
        _ => Architecture::Unknown,
    }
}
