//! Files that are no shared libraries: what they are, and what to do about it.

use object::elf::{DF_1_PIE, DT_FLAGS_1};
use object::{FileKind, Object, ObjectKind, ObjectSection};

/// The beginning of a file, long enough to tell what it is.
const HEAD: usize = 512;

const AGAIN: &str = "build or copy it again";
const SOURCE: &str = "name the library that is built from it; a program that speaks MCP needs no \
                      library, and is named in its skill as `PATH:mcp`";
const PROGRAM: &str = "build a library: `crate-type = [\"cdylib\"]`, in C `-shared -fPIC`; a program \
                       that speaks MCP needs no library, and is named in its skill as `PATH:mcp`";
const LINK: &str =
    "link it into a shared library: `crate-type = [\"cdylib\"]`, in C `-shared -fPIC`";

/// Beginnings of files that people take for libraries, what they are, and the remedy.
const BEGINNINGS: [(&[u8], &str, &str); 11] = [
    (
        b"version https://git-lfs.github.com/spec/",
        "it is a pointer of Git LFS",
        "run `git lfs pull`",
    ),
    (b"!<arch>\n", "it is a static library", LINK),
    (b"!<thin>\n", "it is a static library", LINK),
    (b"\0asm", "it is a module of WebAssembly", "build it for this system"),
    (b"BC\xc0\xde", "it is bitcode of LLVM", "build it for this system"),
    (
        b"\xca\xfe\xba\xbe",
        "it holds libraries for several processors, or Java",
        "take out the one of this system: `lipo -thin ARCHITECTURE FILE -output LIBRARY`",
    ),
    (b"PK\x03\x04", "it is an archive", "unpack it, and name the library in it"),
    (b"\x1f\x8b", "it is compressed", "unpack it, and name the library in it"),
    (b"\x28\xb5\x2f\xfd", "it is compressed", "unpack it, and name the library in it"),
    (b"\xfd7zXZ\0", "it is compressed", "unpack it, and name the library in it"),
    (b"#!", "it is a script", SOURCE),
];

/// Returns what `bytes` are, which cannot be read as a library, and the remedy.
pub(super) fn of_bytes(bytes: &[u8]) -> (&'static str, &'static str) {
    if bytes.is_empty() {
        return ("the file is empty", AGAIN);
    }
    if let Some((_, why, help)) = BEGINNINGS.iter().find(|(start, ..)| bytes.starts_with(start)) {
        return (why, help);
    }
    if FileKind::parse(bytes).is_ok() || bytes.starts_with(b"\x7fELF") {
        return ("it is truncated or damaged", AGAIN);
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    let text = match std::str::from_utf8(head) {
        Ok(text) => Some(text),
        // The end may be half a character.
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()])
            .ok()
            .filter(|text| head.len() == HEAD && HEAD - text.len() < 4),
    };
    let is_text = |text: &&str| !text.contains(|c: char| c.is_control() && !c.is_whitespace());
    match text.filter(is_text).map(|text| text.trim_start_matches('\u{feff}').trim_start()) {
        Some(text) if is_html(text) => ("it is a page of HTML", "download the file itself"),
        Some(_) => ("it is a text", SOURCE),
        None => ("it is not, or not a whole, ELF, Mach-O or PE file", AGAIN),
    }
}

fn is_html(text: &str) -> bool {
    let starts =
        |start: &str| text.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start));
    starts("<!doctype html") || starts("<html")
}

/// Returns what a file is that the system can read, but not open as a library, and the remedy; `None` for a
/// shared library.
pub(super) fn of_object(file: &object::File<'_>) -> Option<(&'static str, &'static str)> {
    match file.kind() {
        ObjectKind::Dynamic if is_pie(file) => Some(("it is a program", PROGRAM)),
        ObjectKind::Dynamic => None,
        ObjectKind::Executable => Some(("it is a program", PROGRAM)),
        ObjectKind::Relocatable => Some(("it is an object file", LINK)),
        ObjectKind::Core => Some(("it is the memory of a program that crashed", AGAIN)),
        _ => Some(("it is a file of a linker", AGAIN)),
    }
}

/// Tells whether a file of ELF is a program that can lie anywhere in memory, which has the form of a library.
fn is_pie(file: &object::File<'_>) -> bool {
    if !file.is_64() || !file.is_little_endian() {
        return false;
    }
    let Some(section) = file.section_by_name(".dynamic") else { return false };
    let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or_default();
    section.data().unwrap_or_default().chunks_exact(16).any(|entry| {
        number(&entry[..8]) == u64::from(DT_FLAGS_1)
            && number(&entry[8..]) & u64::from(DF_1_PIE) != 0
    })
}
