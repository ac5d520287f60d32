//! Libraries that cannot be loaded, in this process and in a child.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use repertoire::ErrorCode;
use repertoire::toolset::Isolation;

use super::{HELLO, Place, assert_error, assert_good, failing, failure, hello, in_child};

/// Returns `library` with every `from` replaced by `to`, which has the same length.
fn patched(library: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = library.to_vec();
    let mut at = 0;
    let mut n_found = 0;
    while let Some(found) = bytes[at..].windows(from.len()).position(|window| window == from) {
        at += found;
        bytes[at..at + to.len()].copy_from_slice(to);
        n_found += 1;
    }
    assert!(n_found > 0, "{} is not there", String::from_utf8_lossy(from));
    bytes
}

/// A fault: its name, the skill's entry, the function that creates it, and the expected error.
struct Load {
    what: &'static str,
    entry: &'static str,
    spoil: fn(&Path),
    code: ErrorCode,
    message: &'static [&'static str],
    help: &'static str,
}

const LOADS: &[Load] = &[
    Load {
        what: "no file",
        entry: HELLO,
        spoil: |_| {},
        code: ErrorCode::NotFound,
        message: &["libbad.so", "toolsets/bad"],
        help: "build the library from its code",
    },
    Load {
        what: "an empty file",
        entry: HELLO,
        spoil: |file| fs::write(file, "").unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "is empty"],
        help: "build or copy it again",
    },
    Load {
        what: "garbage",
        entry: HELLO,
        spoil: |file| fs::write(file, vec![0xA5; 100_000]).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "not a usable shared library"],
        help: "build or copy it again",
    },
    Load {
        what: "a directory",
        entry: HELLO,
        spoil: |file| fs::create_dir(file).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so"],
        help: "check the",
    },
    Load {
        what: "the first kilobyte",
        entry: HELLO,
        spoil: |file| fs::write(file, &hello()[..1024]).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "not a usable shared library"],
        help: "build or copy it again",
    },
    Load {
        what: "half of a library",
        entry: HELLO,
        spoil: |file| fs::write(file, &hello()[..hello().len() / 2]).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "not a usable shared library"],
        help: "build or copy it again",
    },
    Load {
        what: "all but the last byte",
        entry: HELLO,
        spoil: |file| fs::write(file, &hello()[..hello().len() - 1]).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "not a usable shared library"],
        help: "build or copy it again",
    },
    Load {
        what: "a library of somebody else",
        entry: HELLO,
        spoil: |file| {
            let maps = fs::read_to_string("/proc/self/maps").unwrap();
            let libc = maps.split_whitespace().find(|word| word.contains("/libc.so")).unwrap();
            fs::copy(libc, file).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "not a plugin"],
        help: "export_toolsets!",
    },
    #[cfg(target_arch = "x86_64")]
    Load {
        what: "a library of another architecture",
        entry: HELLO,
        spoil: |file| {
            let mut bytes = hello().to_vec();
            bytes[18..20].copy_from_slice(&183_u16.to_le_bytes()); // e_machine
            fs::write(file, bytes).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "Aarch64"],
        help: "build it for this platform",
    },
    Load {
        what: "another ABI, by the note",
        entry: HELLO,
        spoil: |file| {
            let other = patched(hello(), b"\"abi\":[1,0]", b"\"abi\":[2,0]");
            fs::write(file, other).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "ABI 2.0", "1.0"],
        help: "rebuild it against repertoire-plugin 1.x",
    },
    Load {
        what: "another ABI, by the marker",
        entry: HELLO,
        spoil: |file| {
            let other = patched(hello(), b"REPTPLUG\x01\0\0\0", b"REPTPLUG\x02\0\0\0");
            fs::write(file, other).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "ABI 2.0", "1.0"],
        help: "rebuild it against repertoire-plugin 1.x",
    },
    Load {
        what: "other types at the border",
        entry: HELLO,
        spoil: |file| {
            let other = patched(hello(), b"title;metadata;output;", b"title;metadatb;output;");
            fs::write(file, other).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "ROutput: the field `metadata` here, `metadatb` there"],
        help: "rebuild it against repertoire-plugin 1.x",
    },
    Load {
        what: "no marker",
        entry: HELLO,
        spoil: |file| {
            let other =
                patched(hello(), b"\0repertoire_plugin_marker\0", b"\0repertoire_plugin_market\0");
            fs::write(file, other).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "not a plugin", "repertoire_plugin_marker"],
        help: "export_toolsets!",
    },
    Load {
        what: "a symbol that nobody has",
        entry: HELLO,
        spoil: |file| {
            let other = patched(hello(), b"\0pthread_key_create\0", b"\0pthread_key_cr3ate\0");
            fs::write(file, other).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "pthread_key_cr3ate"],
        help: "install the library or symbol",
    },
    Load {
        what: "a damaged note",
        entry: HELLO,
        spoil: |file| {
            let other = patched(hello(), b"\"classes\":[", b"\"klasses\":[");
            fs::write(file, other).unwrap();
        },
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "missing field `classes`"],
        help: "rebuild it",
    },
    Load {
        what: "a class that is not there",
        entry: "toolsets/bad:Nobody",
        spoil: |file| fs::write(file, hello()).unwrap(),
        code: ErrorCode::NotFound,
        message: &["libbad.so", "`Nobody`"],
        help: "it has HelloToolset, MoodToolset",
    },
    Load {
        what: "a panic when a toolset is made",
        entry: "toolsets/bad:PanicInCreate",
        spoil: |file| fs::write(file, failing()).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "`PanicInCreate`", "panicked at", "no such toolset today"],
        help: "fix the toolset",
    },
    Load {
        what: "a configuration that does not fit",
        entry: "toolsets/bad:PickyToolset",
        spoil: |file| fs::write(file, failing()).unwrap(),
        code: ErrorCode::InvalidParam,
        message: &["libbad.so", "`PickyToolset`", "missing field `level`"],
        help: "fix the configuration",
    },
    Load {
        what: "two tools of one name",
        entry: "toolsets/bad:TwiceToolset",
        spoil: |file| fs::write(file, failing()).unwrap(),
        code: ErrorCode::ExecutionError,
        message: &["libbad.so", "two tools are named `twice`"],
        help: "fix the toolset",
    },
    Load {
        what: "a directory that everybody can write",
        entry: HELLO,
        spoil: |file| {
            fs::write(file, hello()).unwrap();
            let mode = fs::Permissions::from_mode(0o777);
            fs::set_permissions(file.parent().unwrap(), mode).unwrap();
        },
        code: ErrorCode::PermissionDenied,
        message: &["libbad.so", "can be written by everybody"],
        help: "the user has to decide",
    },
    Load {
        what: "a file that everybody can write",
        entry: HELLO,
        spoil: |file| {
            fs::write(file, hello()).unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o666)).unwrap();
        },
        code: ErrorCode::PermissionDenied,
        message: &["libbad.so", "can be written by everybody"],
        help: "the user has to decide",
    },
    Load {
        what: "a path that climbs out",
        entry: "../good/toolsets/good:HelloToolset",
        spoil: |_| {},
        code: ErrorCode::InvalidParam,
        message: &["../good/toolsets/good", "without `.` and `..`"],
        help: "relative to the skill's directory",
    },
    Load {
        what: "an absolute path",
        entry: "/usr/lib/bad:HelloToolset",
        spoil: |_| {},
        code: ErrorCode::InvalidParam,
        message: &["/usr/lib/bad", "relative"],
        help: "relative to the skill's directory",
    },
    Load {
        what: "a link that leads out",
        entry: HELLO,
        spoil: |file| {
            let good = file.parent().unwrap().join("../../good/toolsets/libgood.so");
            symlink(good.canonicalize().unwrap(), file).unwrap();
        },
        code: ErrorCode::PermissionDenied,
        message: &["libbad.so"],
        help: "without links that leave it",
    },
    Load {
        what: "a link to nothing",
        entry: HELLO,
        spoil: |file| symlink("libnobody.so", file).unwrap(),
        code: ErrorCode::NotFound,
        message: &["libbad.so"],
        help: "fix the link",
    },
];

fn assert_loads(isolation: fn() -> Isolation) {
    for Load { what, entry, spoil, code, message, help } in LOADS {
        println!("{what}");
        let place = Place::new(entry);
        spoil(&place.library("bad"));
        let engine = place.engine(isolation());
        assert_error(&failure(&engine), *code, message, help);
        assert_good(&engine);
    }
}

#[test]
fn what_cannot_be_loaded_harms_nobody_in_process() {
    assert_loads(|| Isolation::InProcess);
}

#[test]
fn what_cannot_be_loaded_harms_nobody_in_a_child() {
    assert_loads(in_child);
}

/// Checks libraries that end the process which opens them.
#[test]
fn what_ends_its_process_when_it_is_loaded_harms_nobody_in_a_child() {
    // The inspected parts are intact, but the rest is nonsense for the system's loader.
    let mut damaged = hello().to_vec();
    damaged[0x1000..0x1000 + 20_000].fill(0xA5);
    for (entry, library, how) in
        [("toolsets/bad:ExitInCreate", failing(), "exit code 5"), (HELLO, &damaged, "crashed")]
    {
        let place = Place::new(entry);
        fs::write(place.library("bad"), library).unwrap();
        let engine = place.engine(in_child());
        let message = ["libbad.so", "crashed", how];
        assert_error(&failure(&engine), ErrorCode::ExecutionError, &message, "fix the plugin");
        assert_good(&engine);
    }
}
