//! `tool inspect` for everything that people take for a library: each answer says what the file is, and what to
//! do.

use std::fs;
use std::process::Command;

use crate::binary::{self, Place, Run};
use crate::plugin;

const SERVER: &str = include_str!("../../src/tool/server.py");

fn inspect(place: &Place, file: &str) -> Run {
    binary::finish(place.command(["tool", "inspect", file]), b"")
}

/// Lays out a skill with a server, one with code in C, and files of other kinds.
fn place() -> Place {
    let place = Place::new();
    let head = "---\nname: s\ndescription: d\ntoolsets: [\"tools/server.py:mcp\"]\n---\nBody\n";
    place.write("skills/s/SKILL.md", head);
    place.write("skills/s/tools/server.py", SERVER);
    place.write("code/toolset.c", "int x;\n");
    place.write("krate/Cargo.toml", "[package]\n");
    place.write("empty/x.txt", "x");
    place.write("alone.py", "print(1)\n");
    place.write("alone", "#!/usr/bin/env node\n");
    place.write("lib.rs", "fn x() {}\n");
    place.write(
        "liblfs.so",
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
    );
    place.write("libpage.so", "\n<!DOCTYPE html><html></html>");
    place.write("libempty.so", "");
    for (name, bytes) in [
        ("lib.a", &b"!<arch>\n/               0 "[..]),
        ("lib.wasm", b"\0asm\x01\0\0\0"),
        ("lib.zip", b"PK\x03\x04\x14\0\0\0"),
        ("lib.tgz", b"\x1f\x8b\x08\0\0\0\0\0"),
        ("libfat.dylib", b"\xca\xfe\xba\xbe\0\0\0\x02"),
        ("noise.so", &[0xA5; 1000]),
    ] {
        fs::write(place.path().join(name), bytes).unwrap();
    }
    let library = fs::read(plugin::of_workspace("calls-toolset")).unwrap();
    fs::write(place.path().join("libcut.so"), &library[..library.len() / 2]).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_repertoire"), place.path().join("program")).unwrap();
    let mut object = Command::new("cc");
    object.args(["-c", "code/toolset.c", "-o", "toolset.o"]).current_dir(place.path());
    assert!(object.status().unwrap().success());
    place
}

#[test]
fn what_is_no_library_is_told_by_its_kind() {
    let place = place();
    for (file, what, help) in [
        ("skills/s/tools/server.py", "is the MCP server of the skill", "tool list --source"),
        ("skills/s/SKILL.md", "is the text of a skill", "tool list --source"),
        ("skills/s", "is the directory of a skill", "tool list --source"),
        ("code", "is a directory of code", "`repertoire tool build SKILL`"),
        ("krate", "is a directory of code", "`repertoire tool build SKILL`"),
        ("krate/Cargo.toml", "is code", "`repertoire tool build SKILL`"),
        ("lib.rs", "is code", "`repertoire tool build SKILL`"),
        ("empty", "it is a directory", "name the library in it"),
        ("alone.py", "it is a text", "`PATH:mcp`"),
        ("alone", "it is a script", "`PATH:mcp`"),
        ("program", "it is a program", "`PATH:mcp`"),
        ("toolset.o", "it is an object file", "`-shared -fPIC`"),
        ("lib.a", "it is a static library", "`crate-type = [\"cdylib\"]`"),
        ("lib.wasm", "WebAssembly", "for this system"),
        ("lib.zip", "it is an archive", "unpack it"),
        ("lib.tgz", "it is compressed", "unpack it"),
        ("libfat.dylib", "several processors", "`lipo -thin"),
        ("liblfs.so", "a pointer of Git LFS", "`git lfs pull`"),
        ("libpage.so", "a page of HTML", "download the file itself"),
        ("libempty.so", "the file is empty", "build or copy it again"),
        ("libcut.so", "it is truncated", "build or copy it again"),
        ("noise.so", "not a whole, ELF, Mach-O or PE file", "build or copy it again"),
    ] {
        let run = inspect(&place, file).exits(1);
        let (message, remedy) = run.stderr.split_once("help: ").unwrap_or_default();
        assert!(message.contains(file) && message.contains(what), "{file}: {run:?}");
        assert!(remedy.contains(help), "{file}: {run:?}");
        assert_eq!(remedy.contains("lfs"), file == "liblfs.so", "{file}: {run:?}");
    }
}

#[test]
fn a_library_for_elsewhere_is_described_with_its_problem() {
    let place = Place::new();
    let library = fs::read(plugin::of_workspace("calls-toolset")).unwrap();
    let with = |file: &str, from: &[u8], to: &[u8]| {
        let mut bytes = library.clone();
        let at = bytes.windows(from.len()).position(|part| part == from).unwrap();
        bytes[at..at + to.len()].copy_from_slice(to);
        fs::write(place.path().join(file), bytes).unwrap();
    };
    with("abi.so", br#""abi":[1,0]"#, br#""abi":[9,0]"#);
    fs::write(place.path().join("arm.so"), {
        let mut bytes = library.clone();
        bytes[18..20].copy_from_slice(&40_u16.to_le_bytes()); // e_machine
        bytes
    })
    .unwrap();
    for (file, problem, help) in [
        ("abi.so", "is built for plugin ABI 9.0", "rebuild it against repertoire-plugin 1.x"),
        ("arm.so", "(Arm), this host runs on", "build it for this platform"),
    ] {
        let run = inspect(&place, file).exits(0);
        let parts = ["calls-toolset 0.1.0", "classes: HelloToolset, MoodToolset", problem, help];
        assert!(parts.iter().all(|part| run.stdout.contains(part)), "{file}: {run:?}");
    }
}
