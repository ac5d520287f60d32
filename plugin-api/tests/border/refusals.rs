//! Files that must not be opened. Each is rejected with an error that names the file.

use std::path::Path;

use repertoire_plugin::host::{Library, OpenError};
use repertoire_plugin::prelude::*;

use super::{HELLO, build, create, open, text};

fn refused(path: &Path) -> (OpenError, String) {
    let error = Library::open(path).unwrap_err();
    let message = error.to_string();
    assert!(message.contains(&path.display().to_string()), "names the file: {message}");
    assert!(!error.help().is_empty() && !message.contains(&error.help()), "{message}");
    (error, message)
}

#[test]
fn files_that_are_no_whole_library() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("libbroken.so");
    assert!(matches!(refused(&path).0, OpenError::Read { .. }), "missing");
    assert!(matches!(refused(dir.path()).0, OpenError::NotALibrary { .. }), "directory");
    let whole = std::fs::read(&*HELLO).unwrap();
    let mut cases = vec![Vec::new(), b"#!/bin/sh\nexit 0\n".to_vec(), vec![0xA5; 100_000]];
    let percent = |percent: usize| whole.len() * percent / 100;
    let lengths = [16, 64, 1024, percent(25), percent(50), percent(99), whole.len() - 1];
    cases.extend(lengths.iter().map(|&length| whole[..length].to_vec()));
    for bytes in cases {
        std::fs::write(&path, &bytes).unwrap();
        let (error, message) = refused(&path);
        let length = bytes.len();
        assert!(matches!(error, OpenError::NotALibrary { .. }), "{length}: {message}");
    }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn other_architectures_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("libarm.so");
    let mut bytes = std::fs::read(&*HELLO).unwrap();
    bytes[18..20].copy_from_slice(&183_u16.to_le_bytes()); // e_machine
    std::fs::write(&path, bytes).unwrap();
    let (error, message) = refused(&path);
    assert!(matches!(error, OpenError::Platform { .. }));
    assert!(message.contains("Aarch64"), "{message}");
}

#[test]
#[cfg(target_os = "linux")]
fn libraries_of_others() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let libc = maps.split_whitespace().find(|word| word.contains("/libc.so.6")).unwrap();
    let (error, message) = refused(Path::new(libc));
    assert!(matches!(error, OpenError::NotAPlugin { .. }));
    assert!(error.help().contains("`export_toolsets!"), "{}", error.help());
    assert!(message.contains("it has no note"), "{message}");
    let this_program = std::env::current_exe().unwrap();
    assert!(Library::open(this_program).is_err());
}

#[test]
fn another_abi_is_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("libnew.so");
    let expected = format!(
        "the plugin `{}` is built for plugin ABI 2.0, this host speaks 1.0",
        path.display()
    );
    build::patched(&HELLO, &path, b"\"abi\":[1,0]", b"\"abi\":[2,0]");
    let (error, message) = refused(&path);
    assert_eq!(error.help(), "rebuild it against repertoire-plugin 1.x");
    assert!(matches!(error, OpenError::AbiVersion { found: (2, 0), .. }));
    assert_eq!(message, expected, "by the note");

    let marker = |major: u8| [b"REPTPLUG".as_slice(), &[major, 0, 0, 0, 0, 0, 0, 0]].concat();
    build::patched(&HELLO, &path, &marker(1), &marker(2));
    assert_eq!(refused(&path).1, expected, "by the marker");
}

#[test]
fn newer_minor_versions_are_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("libnewer.so");
    build::patched(&HELLO, &path, b"\"abi\":[1,0]", b"\"abi\":[1,7]");
    let hello = create(&open(&path), "HelloToolset");
    assert_eq!(text(&hello, "greet", &json!({"name": "Ada"})), "Hello, Ada!");
}

#[test]
fn aborting_plugins_are_not_for_this_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("libabort.so");
    build::patched(&HELLO, &path, b"\"panic\":\"unwind\"", b"\"panic\":\"abort\" ");
    let (error, message) = refused(&path);
    assert!(matches!(error, OpenError::PanicAbort { .. }));
    assert!(message.contains("a panic would end this process"), "{message}");
    assert!(error.help().contains("in a process of its own"), "{}", error.help());
    let marker =
        |unwind: u8| [b"REPTPLUG".as_slice(), &[1, 0, 0, 0, 0, 0, 0, 0, unwind, 0, 0, 0]].concat();
    build::patched(&HELLO, &path, &marker(1), &marker(0));
    assert!(matches!(refused(&path).0, OpenError::PanicAbort { .. }));
}

#[test]
fn damaged_notes_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("libnote.so");
    build::patched(&HELLO, &path, b"\"classes\":[", b"\"klasses\":[");
    let (error, message) = refused(&path);
    assert!(matches!(error, OpenError::BadNote { .. }));
    assert!(message.contains("missing field `classes`"), "{message}");
    build::patched(&HELLO, &path, b"Repertoire\0\0", b"Repertoirx\0\0");
    assert!(matches!(refused(&path).0, OpenError::BadNote { .. }));
}

#[test]
fn other_layouts_are_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("liblayout.so");
    build::patched(&HELLO, &path, b"title;metadata;output;", b"title;metadatb;output;");
    let (error, message) = refused(&path);
    assert_eq!(error.help(), "rebuild it against repertoire-plugin 1.x from the registry");
    let OpenError::Layout { summary, full, .. } = error else { panic!("{message}") };
    assert_eq!(summary, "ROutput: the field `metadata` here, `metadatb` there");
    assert!(full.len() > 10 * summary.len(), "the whole text is kept for developers");
}

#[test]
#[cfg(target_os = "linux")]
fn missing_symbols_are_found_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("libsymbol.so");
    build::patched(&HELLO, &path, b"\0pthread_key_create\0", b"\0pthread_key_cr3ate\0");
    let (error, message) = refused(&path);
    assert!(matches!(error, OpenError::Load { .. }));
    assert!(message.contains("pthread_key_cr3ate"), "{message}");
}
