//! Dependencies between source files, read from `use` lines and from paths in code.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

use regex::Regex;

use crate::sources::rust_files;

/// The path of a module from the root of the sources.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(Vec<String>);

impl Name {
    /// Returns the name of the module in the file at `path`.
    fn of(path: &str) -> Name {
        let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        let last = parts.pop().unwrap();
        match last.trim_end_matches(".rs") {
            "mod" | "main" | "lib" => {}
            stem => parts.push(stem.to_owned()),
        }
        Name(parts)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

/// The names that a source file uses.
struct Module {
    /// The names that `use` lines import, each with its path.
    imported: BTreeMap<String, Vec<String>>,
    /// The paths of `use` lines and of code, except for those that are only re-exported.
    paths: Vec<Vec<String>>,
}

/// All modules of the sources.
pub(crate) struct Modules {
    modules: BTreeMap<Name, Module>,
    /// The modules that each module uses, except for its parents: a file may use what the files above
    /// it declare.
    uses: BTreeMap<Name, BTreeSet<Name>>,
}

impl Modules {
    /// Reads the files below `src`, except for tests.
    pub(crate) fn read(src: &Path) -> Modules {
        let files = rust_files(src).into_iter().map(|path| {
            let name = path.strip_prefix(src).unwrap().to_str().unwrap().replace('\\', "/");
            (name, fs::read_to_string(&path).unwrap())
        });
        let files: Vec<_> = files.filter(|(name, _)| !name.contains("tests")).collect();
        Modules::of(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }

    /// Builds the modules from files, each given by its path and its text.
    fn of<'t>(files: impl IntoIterator<Item = (&'t str, &'t str)>) -> Modules {
        let modules = files.into_iter().map(|(path, text)| (Name::of(path), Module::of(text)));
        let mut modules = Modules { modules: modules.collect(), uses: BTreeMap::new() };
        let uses = modules.modules.iter().map(|(name, module)| {
            let used = module.paths.iter().filter_map(|path| modules.named(name, path));
            let used = used.filter(|used| !name.0.starts_with(&used.0));
            (name.clone(), used.collect())
        });
        modules.uses = uses.collect();
        modules
    }

    pub(crate) fn n_uses(&self) -> usize {
        self.uses.values().map(BTreeSet::len).sum()
    }

    /// Returns the uses that are part of a cycle, or lead from one cycle to another.
    pub(crate) fn circular_uses(&self) -> Vec<(&Name, &Name)> {
        let mut left: Vec<(&Name, &Name)> =
            self.uses.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to))).collect();
        loop {
            let from: BTreeSet<&Name> = left.iter().map(|(from, _)| *from).collect();
            let to: BTreeSet<&Name> = left.iter().map(|(_, to)| *to).collect();
            let before = left.len();
            left.retain(|(a, b)| to.contains(a) && from.contains(b));
            if left.len() == before {
                return left;
            }
        }
    }

    /// Returns the module that a path in `name` refers to, following re-exports; `None` if the path
    /// leads out of the crate.
    fn named(&self, name: &Name, path: &[String]) -> Option<Name> {
        let mut path = self.absolute(name, path)?;
        // The maximum number of re-exports to follow.
        for _ in 0..8 {
            let n = (0..=path.len()).rev().find(|n| self.is_module(&path[..*n]))?;
            let module = Name(path[..n].to_vec());
            let next = path.get(n).and_then(|item| self.modules[&module].imported.get(item));
            let Some(passed_on) = next.and_then(|passed_on| self.absolute(&module, passed_on))
            else {
                return Some(module);
            };
            path = [passed_on, path[n + 1..].to_vec()].concat();
        }
        None
    }

    fn is_module(&self, path: &[String]) -> bool {
        self.modules.contains_key(&Name(path.to_vec()))
    }

    /// Converts a path in a module to one from the root of the sources; `None` if it begins with
    /// another crate.
    fn absolute(&self, name: &Name, path: &[String]) -> Option<Vec<String>> {
        let n_up = path.iter().take_while(|part| *part == "super").count();
        let (base, rest) = match path.first()?.as_str() {
            "crate" => (&[][..], &path[1..]),
            "self" => (&name.0[..], &path[1..]),
            "super" => (name.0.get(..name.0.len().checked_sub(n_up)?)?, &path[n_up..]),
            child => {
                let child = [name.0.clone(), vec![child.to_owned()]].concat();
                (self.is_module(&child).then_some(&name.0[..])?, path)
            }
        };
        Some([base, rest].concat())
    }
}

impl Module {
    fn of(text: &str) -> Module {
        let (code, _) = text.split_once("#[cfg(test)]\nmod tests").unwrap_or((text, ""));
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code = lines.collect::<Vec<_>>().join("\n");
        let import = Regex::new(r"(?m)^ *(pub(?:\([^)]*\))? +)?use ([^;]+);").unwrap();
        let mut module = Module { imported: BTreeMap::new(), paths: Vec::new() };
        for line in import.captures_iter(&code) {
            for (path, name) in expanded(&line[2]) {
                module.imported.insert(name, path.clone());
                if line.get(1).is_none() {
                    module.paths.push(path);
                }
            }
        }
        let in_code = Regex::new(r"\b\w+(?:::\w+)+").unwrap();
        for path in in_code.find_iter(&import.replace_all(&code, "")) {
            let mut path: Vec<String> = path.as_str().split("::").map(str::to_owned).collect();
            if let Some(imported) = module.imported.get(&path[0]) {
                path.splice(..1, imported.iter().cloned());
            }
            module.paths.push(path);
        }
        module
    }
}

/// Returns the paths of a `use` line, each with the name that it imports.
fn expanded(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    let Some((start, list)) = tree.split_once('{') else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut path: Vec<String> = path.trim().split("::").map(str::to_owned).collect();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = if name.is_empty() { path[path.len() - 1].clone() } else { name.to_owned() };
        return vec![(path, name)];
    };
    // In a text that is not code, such as a template, the closing brace may be missing.
    let list = list.rsplit_once('}').map_or(list, |(list, _)| list);
    let mut depth = 0;
    let is_comma = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    };
    let items = list.split(is_comma).map(str::trim).filter(|item| !item.is_empty());
    items.flat_map(|item| expanded(&format!("{start}{item}"))).collect()
}
