//! The manifest of a server: its skills, their files, and the digest that each file must have.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rmcp::model::{Skill, SkillFrontmatter, SkillResource, SkillResources, validate_skills};
use serde_json::{Map, Value as Json};

use super::address::{decoded, path_of_skill};
use crate::limits::refused;
use crate::provider::{TreeEntry, TreeKind};
use repertoire::skill::front_matter;
use repertoire::trust::ContentHash;
use repertoire::{Error, ErrorCode};

/// The directory of a source below which all skills of a server are.
const ROOT: &str = "skills";

/// The file of a skill that holds its instructions.
const SKILL_MD: &str = "SKILL.md";

/// The skills that a server lists.
#[derive(Debug)]
pub(super) struct Manifest {
    /// The skills to take, each with its path.
    skills: Vec<(String, Skill)>,
}

/// A file of a skill, as its server describes it.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) resource: SkillResource,
    /// The front matter in the list, if this file is the `SKILL.md` of an entry.
    front_matter: Option<SkillFrontmatter>,
}

/// The files of a manifest: as entries of a source, and by their paths there.
pub(super) type Files = (Vec<TreeEntry>, BTreeMap<String, Served>);

impl Manifest {
    /// Checks the skills of a list. Fails with `PERMISSION_DENIED` if an entry breaks a rule of the MCP
    /// extension.
    pub(super) fn new(skills: Vec<Skill>, source: &str) -> Result<Manifest, Error> {
        validate_skills(&skills).map_err(|error| lies(source, &error.to_string()))?;
        let with_path = |skill: Skill| match path_of_skill(&skill.uri) {
            Some(path) => Ok((path, skill)),
            None => Err(refused(source, &skill.uri, "is not an address with plain names")),
        };
        let skills = skills.into_iter().map(with_path).collect::<Result<_, _>>()?;
        Ok(Manifest { skills })
    }

    /// Tells whether a name, a path or an address identifies a skill of the manifest.
    pub(super) fn has(&self, id: &str) -> bool {
        self.skills.iter().any(|known| is_meant(known, id))
    }

    /// The paths of all skills.
    pub(super) fn paths(&self) -> Vec<String> {
        self.skills.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Removes all skills except those with these names, paths or addresses.
    pub(super) fn keep_only(&mut self, ids: &[String]) {
        self.skills.retain(|known| ids.iter().any(|id| is_meant(known, id)));
    }

    /// The SHA-256 of the list of all files: a line for each in the order of addresses, with its
    /// digest.
    pub(super) fn revision(&self) -> String {
        let mut files: Vec<(&str, &str)> = Vec::new();
        for (_, skill) in &self.skills {
            if let SkillResources::Files(listed) = &skill.resources {
                files.extend(listed.iter().map(|file| (file.uri.as_str(), file.digest.as_str())));
            }
        }
        files.sort_unstable();
        files.dedup();
        let mut list = String::new();
        for (uri, digest) in files {
            // Writing to a `String` cannot fail.
            let _ = writeln!(list, "{digest} {uri}");
        }
        ContentHash::of(list.as_bytes()).to_string()
    }

    /// Collects the files of all skills. Leaves out skills whose content the server generates for each
    /// read.
    ///
    /// Fails with `PERMISSION_DENIED` if a path is not plain, or if a file is listed with two digests;
    /// with `INVALID_PARAM` if there are more than `most` files; and with `NOT_FOUND` if there are
    /// skills, but none that can be pinned.
    pub(super) fn files(&self, source: &str, most: usize) -> Result<Files, Error> {
        let mut files: BTreeMap<String, Served> = BTreeMap::new();
        let mut dynamic = Vec::new();
        for (path, skill) in &self.skills {
            let SkillResources::Files(listed) = &skill.resources else {
                tracing::warn!(
                    uri = skill.uri,
                    "its content is made for each read; it is left out"
                );
                dynamic.push(format!("{ROOT}/{path}/{SKILL_MD}"));
                continue;
            };
            for resource in listed {
                let at = place(path, &skill.uri, resource, source)?;
                let own = resource.uri == skill.uri;
                let front_matter = own.then(|| skill.frontmatter.clone());
                let served = Served { resource: resource.clone(), front_matter };
                insert(&mut files, at, served, source)?;
                if files.len() > most {
                    return Err(crate::limits::too_large(source, "entries", most as u64));
                }
            }
        }
        if files.is_empty() && !dynamic.is_empty() {
            let message = format!(
                "{source} serves {} skills, and makes the content of each anew for each read",
                dynamic.len()
            );
            let help = "such skills cannot be pinned; use them through the server itself";
            return Err(Error::new(ErrorCode::NotFound, message, help));
        }
        let file = |(path, served): (&String, &Served)| TreeEntry {
            path: path.clone(),
            kind: TreeKind::File { bytes: served.resource.size, executable: false },
        };
        let mut entries: Vec<TreeEntry> = files.iter().map(file).collect();
        dynamic.retain(|path| !files.contains_key(path));
        let other = TreeKind::Other("has a content that is made anew for each read");
        entries.extend(dynamic.into_iter().map(|path| TreeEntry { path, kind: other.clone() }));
        Ok((entries, files))
    }
}

impl Served {
    /// Compares a content with the digest, the size and the front matter in the list. Fails with
    /// `PERMISSION_DENIED` if they differ.
    pub(super) fn check(&self, bytes: &[u8], source: &str) -> Result<(), Error> {
        self.resource.verify(bytes).map_err(|error| lies(source, &error.to_string()))?;
        let Some(promised) = &self.front_matter else { return Ok(()) };
        let uri = &self.resource.uri;
        let fields = std::str::from_utf8(bytes).ok().and_then(front_matter);
        let fields = fields.ok_or_else(|| {
            lies(source, &format!("`{uri}` does not begin with front matter that can be compared"))
        })?;
        match difference(promised, &fields) {
            None => Ok(()),
            Some(key) => {
                let why = format!("`{uri}` has another `{key}` than its entry in the list");
                Err(lies(source, &why))
            }
        }
    }
}

/// The error for a server whose list contradicts its files or the MCP extension.
fn lies(source: &str, why: &str) -> Error {
    let message = format!("{source} is refused: {why}");
    let help =
        "try again, as it may have changed meanwhile; else tell its author: nothing was fetched";
    Error::new(ErrorCode::PermissionDenied, message, help)
}

fn is_meant((path, skill): &(String, Skill), id: &str) -> bool {
    skill.uri == id || path == id || skill.name() == id
}

/// The path of a file in the source.
fn place(path: &str, skill: &str, resource: &SkillResource, source: &str) -> Result<String, Error> {
    let below = skill.strip_suffix(SKILL_MD).and_then(|root| resource.uri.strip_prefix(root));
    match below.and_then(decoded) {
        Some(below) => Ok(format!("{ROOT}/{path}/{below}")),
        None => Err(refused(source, &resource.uri, "is not a plain path in its skill")),
    }
}

/// Adds a file. If one skill lies inside another, both list the files of the inner one.
fn insert(
    files: &mut BTreeMap<String, Served>,
    at: String,
    served: Served,
    source: &str,
) -> Result<(), Error> {
    match files.get_mut(&at) {
        None => drop(files.insert(at, served)),
        Some(known) if known.resource == served.resource => {
            known.front_matter = known.front_matter.take().or(served.front_matter);
        }
        Some(_) => return Err(refused(source, &served.resource.uri, "is listed with two digests")),
    }
    Ok(())
}

/// The first key whose value differs.
fn difference(promised: &SkillFrontmatter, fields: &Map<String, Json>) -> Option<String> {
    let mut all = promised.extra.clone();
    all.insert("name".to_owned(), promised.name.as_str().into());
    all.insert("description".to_owned(), promised.description.as_str().into());
    let keys = all.keys().chain(fields.keys());
    let is_other = |key: &&String| match (all.get(*key), fields.get(*key)) {
        (Some(one), Some(other)) => !is_same(one, other),
        _ => true,
    };
    keys.into_iter().find(is_other).cloned()
}

/// Compares values of YAML as JSON. Parsers differ in what a plain scalar is: `on` may be a text or
/// true, and `1.0` a text or a number.
fn is_same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let same = |(key, value): (&String, &Json)| {
                other.get(key).is_some_and(|other| is_same(value, other))
            };
            one.len() == other.len() && one.iter().all(same)
        }
        (Json::Bool(value), Json::String(text)) | (Json::String(text), Json::Bool(value)) => {
            let words: &[&str] =
                if *value { &["yes", "on", "true"] } else { &["no", "off", "false"] };
            words.iter().any(|word| text.eq_ignore_ascii_case(word))
        }
        (Json::Number(one), Json::Number(other)) => one.as_f64() == other.as_f64(),
        (Json::Number(number), Json::String(text)) | (Json::String(text), Json::Number(number)) => {
            text.parse::<f64>().ok() == number.as_f64()
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "---\nname: a\ndescription: Does a.\nversion: 1.0\nfast: on\n---\nDo.\n";

    fn skill(uri: &str, files: &[(&str, &str)]) -> Skill {
        let name = uri.rsplit('/').nth(1).unwrap();
        let files =
            files.iter().map(|(uri, text)| SkillResource::from_bytes(*uri, text.as_bytes()));
        let front_matter = SkillFrontmatter::new(name, "Does a.")
            .with_field("version", json!("1.0"))
            .with_field("fast", json!(true));
        Skill::new(uri, front_matter, SkillResources::Files(files.collect()))
    }

    fn files(skills: Vec<Skill>) -> Result<Files, Error> {
        Manifest::new(skills, "it")?.files("it", 5)
    }

    #[test]
    fn files_have_the_paths_of_their_skills() {
        let one = "skill://acme/a/SKILL.md";
        let below = "skill://acme/a/b%20c/b/SKILL.md";
        let outer = skill(one, &[(one, TEXT), (below, TEXT), ("skill://acme/a/x.md", "x")]);
        let inner = skill(below, &[(below, TEXT)]);
        let (entries, files) = files(vec![outer, inner]).unwrap();
        let paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
        let wanted =
            ["skills/acme/a/SKILL.md", "skills/acme/a/b c/b/SKILL.md", "skills/acme/a/x.md"];
        assert_eq!(paths, wanted);
        assert!(files[wanted[1]].front_matter.is_some(), "the entry of the inner one counts");
    }

    #[test]
    fn entries_that_break_a_rule_are_refused() {
        let uri = "skill://a/SKILL.md";
        let good = || skill(uri, &[(uri, TEXT)]);
        let with = |file: &str| skill(uri, &[(uri, TEXT), (file, "x")]);
        let renamed = Skill::new(uri, SkillFrontmatter::new("b", "d"), good().resources);
        let mut unlisted = good();
        unlisted.resources = SkillResources::Files(Vec::new());
        let below = "skill://a/b/SKILL.md";
        let twice = vec![with(below), skill(below, &[(below, TEXT)])];
        for (skills, why) in [
            (vec![good(), good()], "listed twice"),
            (vec![renamed], "frontmatter name"),
            (vec![unlisted], "does not list its own"),
            (vec![with("skill://b/x.md")], "within the directory"),
            (vec![with("skill://a/../b/x.md")], "within the directory"),
            (vec![with("skill://a/b/../x.md")], "plain path"),
            (vec![with("skill://a/b%2F..%2Fx.md")], "plain path"),
            (vec![with("skill://a/x.md?y")], "plain path"),
            (twice, "two digests"),
        ] {
            let error = files(skills).unwrap_err();
            assert_eq!(error.code(), ErrorCode::PermissionDenied, "{error}");
            assert!(error.message().contains(why), "{why}: {error}");
        }
        let many: Vec<String> = (0..6).map(|nth| format!("skill://a/{nth}")).collect();
        let many = many.iter().map(|uri| (uri.as_str(), "x")).chain([(uri, TEXT)]);
        let error = files(vec![skill(uri, &many.collect::<Vec<_>>())]).unwrap_err();
        assert!(error.message().contains("more than 5 entries"), "{error}");
    }

    #[test]
    fn skills_without_digests_are_left_out() {
        let uri = "skill://a/SKILL.md";
        let dynamic =
            Skill::new(uri, SkillFrontmatter::new("a", "Does a."), SkillResources::Dynamic);
        let error = files(vec![dynamic.clone()]).unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotFound, "{error}");
        let other = "skill://b/SKILL.md";
        let (entries, files) = files(vec![dynamic, skill(other, &[(other, TEXT)])]).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["skills/b/SKILL.md"]);
        assert!(matches!(entries[1].kind, TreeKind::Other(_)), "{entries:?}");
    }

    #[test]
    fn a_content_must_be_the_one_that_was_listed() {
        let uri = "skill://a/SKILL.md";
        let check = |skill: Skill, text: &str| {
            let (_, files) = files(vec![skill]).unwrap();
            let checked = files["skills/a/SKILL.md"].check(text.as_bytes(), "it");
            checked.map_err(|error| error.message().to_owned())
        };
        check(skill(uri, &[(uri, TEXT)]), TEXT).unwrap();
        let error = check(skill(uri, &[(uri, TEXT)]), &TEXT.replace("Do.", "Go.")).unwrap_err();
        assert!(error.contains("digest"), "{error}");
        let error = check(skill(uri, &[(uri, TEXT)]), "short").unwrap_err();
        assert!(error.contains("bytes"), "{error}");
        for (text, key) in [
            (TEXT.replace("Does a.", "Does b."), "`description`"),
            (TEXT.replace("name: a", "name: b"), "`name`"),
            (TEXT.replace("fast: on", "fast: off"), "`fast`"),
            (TEXT.replace("fast: on\n", ""), "`fast`"),
            (TEXT.replace("fast: on", "fast: on\nallowed-tools: Bash"), "`allowed-tools`"),
            (TEXT.replace("---\nDo.", "Do."), "cannot be compared"),
        ] {
            let error = check(skill(uri, &[(uri, &text)]), &text).unwrap_err();
            let key = key.replace("cannot be compared", "that can be compared");
            assert!(error.contains(&key), "{key}: {error}");
        }
    }

    #[test]
    fn a_revision_depends_on_the_chosen_files_alone() {
        let (a, b) = ("skill://a/SKILL.md", "skill://x/b/SKILL.md");
        let of = |other: &str, ids: &[&str]| {
            let skills = vec![skill(a, &[(a, TEXT)]), skill(b, &[(b, other)])];
            let mut manifest = Manifest::new(skills, "it").unwrap();
            let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            assert!(ids.iter().all(|id| manifest.has(id)), "{ids:?}");
            manifest.keep_only(&ids);
            manifest.revision()
        };
        assert_eq!(of("1", &["a"]), of("2", &["a"]));
        assert_ne!(of("1", &["a", "x/b"]), of("2", &["a", b]));
        assert_eq!(of("1", &["b"]), of("1", &[b]));
    }
}
