//! The order of modules in ARCHITECTURE.md, and the absence of cycles between the files of a crate.

mod uses;

use std::fs;
use std::path::{Path, PathBuf};

use uses::Modules;

use crate::sources::rust_files;

/// Returns the modules of the library in the order of ARCHITECTURE.md, each with its source files.
fn modules() -> Vec<(String, Vec<PathBuf>)> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `src/")?.split('`').next());
    let modules = rows.map(|row| {
        let path = root.join("src").join(row);
        let files = if path.is_dir() { rust_files(&path) } else { vec![path] };
        let files = files.into_iter().chain(row.strip_suffix('/').and_then(|name| {
            Some(root.join("src").join(format!("{name}.rs"))).filter(|file| file.is_file())
        }));
        (row.trim_end_matches('/').trim_end_matches(".rs").to_owned(), files.collect())
    });
    modules.collect()
}

#[test]
fn a_module_knows_only_those_above_it_in_the_table_of_the_architecture() {
    let modules = modules();
    let names: Vec<&str> = modules.iter().map(|(name, _)| name.as_str()).collect();
    let src = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("src");
    for entry in fs::read_dir(src).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.trim_end_matches(".rs");
        assert!(names.contains(&name) || name == "lib", "{name} is in no row");
    }
    let mut n_uses = 0;
    for (place, (name, files)) in modules.iter().enumerate() {
        for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
            let text = fs::read_to_string(file).unwrap();
            let (code, _) = text.split_once("#[cfg(test)]\nmod tests").unwrap_or((&text, ""));
            let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            for used in code.flat_map(|line| line.split("crate::").skip(1)) {
                let used = used.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
                let Some(at) = names.iter().position(|name| *name == used) else { continue };
                assert!(at <= place, "{name} knows {used}: {}", file.display());
                n_uses += 1;
            }
        }
    }
    assert!(n_uses > 500, "{n_uses} uses were looked at");
}

#[test]
fn files_of_a_crate_know_each_other_in_one_direction() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut n_uses = 0;
    for package in crates.chain([root.to_owned()]) {
        let modules = Modules::read(&package.join("src"));
        n_uses += modules.n_uses();
        let circles = modules.circular_uses();
        let circles: Vec<String> =
            circles.iter().map(|(from, to)| format!("{from} knows {to}")).collect();
        assert!(circles.is_empty(), "in circles in {}:\n{}", package.display(), circles.join("\n"));
    }
    assert!(n_uses > 1000, "{n_uses} uses were looked at");
}
