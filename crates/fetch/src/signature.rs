//! Signatures of sources: the list of files that an author signed, compared with what was fetched.
//!
//! The list names the SHA-256 of every file of the skills, by its path in a copy, as `sha256sum` prints
//! it. It lies in the source next to a detached `minisign` signature. Both become part of the copy, so
//! that the signature can be verified again without a network, and stays with the skills when the copy
//! is packed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use data_encoding::BASE64;
use minisign_verify::{PublicKey, Signature};

use super::lock_file::{Locked, LockedFile};
use super::mcp::is_mcp;
use super::paths::check_path;
use repertoire::trust::ContentHash;
use repertoire::{Error, ErrorCode};

/// The file with the list: at the root of a source, or in the directory that its settings name, and in
/// the copy.
pub(super) const LIST: &str = "skills.sha256";

/// The file with the signature of the list, next to the list.
pub(super) const SIGNATURE: &str = "skills.sha256.minisig";

type Files = BTreeMap<String, LockedFile>;

impl Locked {
    /// The name of the file with the [list](Locked::list), in the directory where skills are looked for.
    pub const LIST: &str = LIST;

    /// The name of the file with the signature of the list.
    pub const SIGNATURE: &str = SIGNATURE;

    /// The list of files that an author signs: a line for each in the order of paths, as `sha256sum`
    /// prints it. The list itself and its signature are not in it.
    pub fn list(&self) -> String {
        let mut list = String::new();
        for (path, LockedFile { sha256, .. }) in
            self.files.iter().filter(|(path, _)| is_listed(path))
        {
            // Writing to a `String` cannot fail.
            let _ = writeln!(list, "{sha256}  {path}");
        }
        list
    }
}

fn is_listed(path: &str) -> bool {
    path != LIST && path != SIGNATURE
}

/// A requirement that a source is signed.
#[derive(Clone, Copy)]
pub(super) struct Demand<'a> {
    /// The address of the source, for errors.
    pub(super) source: &'a str,
    /// The accepted keys. One of them must have signed the source.
    pub(super) keys: &'a [String],
}

impl Demand<'_> {
    /// Verifies that `files` are those that one of the keys signed, and returns that key. `is_whole` is
    /// false if only some skills of the source were taken; then the files of other skills may be
    /// missing. `read` reads one of `files` by its path.
    ///
    /// Fails with `PERMISSION_DENIED` if they are not, and with `INVALID_PARAM` if a key is not valid.
    pub(super) fn verify(
        self,
        files: &Files,
        is_whole: bool,
        read: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<String, Error> {
        let content = |name: &str| {
            let file = files.get(name)?;
            read(name).filter(|content| ContentHash::of(content) == file.sha256)
        };
        let (list, signature) = (content(LIST), content(SIGNATURE));
        let (list, signature) = list.zip(signature).ok_or_else(|| self.unsigned())?;
        let key = self.key_of(&list, &signature)?;
        compare(&list, files, is_whole).map_err(|why| self.refused(&why))?;
        Ok(key)
    }

    /// Returns the key that signed a list. Fails like [`verify`](Demand::verify).
    pub(super) fn key_of(self, list: &[u8], signature: &[u8]) -> Result<String, Error> {
        if self.keys.is_empty() {
            let message = format!("{} must be signed, and no key may sign it", self.source);
            let help = "name the key of its author as one that the user accepts";
            return Err(Error::new(ErrorCode::PermissionDenied, message, help));
        }
        let text = String::from_utf8_lossy(signature);
        let decoded = Signature::decode(&text)
            .map_err(|_| self.refused(&format!("`{SIGNATURE}` is not a signature of minisign")))?;
        for key in self.keys {
            let public = PublicKey::from_base64(key).map_err(|_| {
                let message = format!("`{}` is not a public key of minisign", key.escape_debug());
                let help = "write the second line of its `.pub` file";
                Error::new(ErrorCode::InvalidParam, message, help)
            })?;
            match public.verify(list, &decoded, false) {
                Ok(()) => return Ok(key.clone()),
                Err(minisign_verify::Error::UnexpectedKeyId) => {}
                Err(minisign_verify::Error::UnexpectedAlgorithm) => {
                    return Err(
                        self.refused(&format!("`{SIGNATURE}` is in the form of old versions"))
                    );
                }
                Err(_) => {
                    let why = format!("`{LIST}` or its signature was changed after it was signed");
                    return Err(self.refused(&why));
                }
            }
        }
        let id = id_of(&text).unwrap_or_default();
        Err(self.refused(&format!("it is signed by another key, `{id}`")))
    }

    /// The error for a source without a signature.
    pub(super) fn unsigned(self) -> Error {
        let message = format!("{} is refused: it has no `{LIST}` with `{SIGNATURE}`", self.source);
        let help = if is_mcp(self.source) {
            "an MCP server cannot be signed: take the skills from a repository or an archive"
        } else {
            "ask its author to sign it; nothing was fetched from it"
        };
        Error::new(ErrorCode::PermissionDenied, message, help)
    }

    /// The error for a source that does not match its signature.
    pub(super) fn refused(self, why: &str) -> Error {
        let message = format!("{} is refused: {why}", self.source);
        let help = "tell its author; nothing was fetched from it";
        Error::new(ErrorCode::PermissionDenied, message, help)
    }
}

/// Compares a list with files. If they differ, fails with the reason, as a clause.
pub(super) fn compare(list: &[u8], files: &Files, is_whole: bool) -> Result<(), String> {
    let listed = read_list(list)?;
    for (path, file) in files.iter().filter(|(path, _)| is_listed(path)) {
        let path_shown = path.escape_debug();
        match listed.get(path.as_str()) {
            None => return Err(format!("`{path_shown}` is not among the files that were signed")),
            Some(sha256) if *sha256 != file.sha256.as_str() => {
                return Err(format!("`{path_shown}` is not the file that was signed"));
            }
            Some(_) => {}
        }
    }
    let skills = files.keys().filter_map(|path| {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        name.eq_ignore_ascii_case("SKILL.md").then_some(dir)
    });
    let skills: Vec<&str> = skills.collect();
    let is_in = |path: &str, dir: &str| {
        dir.is_empty() || path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
    };
    let is_wanted = |path: &str| is_whole || skills.iter().any(|dir| is_in(path, dir));
    match listed.keys().find(|path| !files.contains_key(**path) && is_wanted(path)) {
        Some(path) => Err(format!("`{}`, which was signed, is missing", path.escape_debug())),
        None => Ok(()),
    }
}

/// Parses a list into hashes by path.
fn read_list(list: &[u8]) -> Result<BTreeMap<&str, &str>, String> {
    let text = std::str::from_utf8(list).map_err(|_| format!("`{LIST}` is not UTF-8"))?;
    let mut listed = BTreeMap::new();
    for (nth, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("line {} of `{LIST}` {what}", nth + 1);
        let (sha256, rest) = line.split_at_checked(64).unwrap_or_default();
        // `sha256sum` marks files with `*` where it reads them as binary.
        let path = rest.strip_prefix("  ").or_else(|| rest.strip_prefix(" *"));
        let path = path.ok_or_else(|| wrong("is not a hash and a path"))?;
        if check_path(path).is_err() {
            return Err(wrong("has no plain path"));
        }
        if listed.insert(path, sha256).is_some() {
            return Err(wrong("names a file again"));
        }
    }
    Ok(listed)
}

/// The id of the key that made a signature, as `minisign` shows it. It is only a claim of the signature.
fn id_of(signature: &str) -> Option<String> {
    let bytes = BASE64.decode(signature.lines().nth(1)?.as_bytes()).ok()?;
    let id = bytes.get(2..10)?.try_into().ok()?;
    Some(format!("{:016X}", u64::from_le_bytes(id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of this was made by the program `minisign` 0.11.
    const KEY: &str = "RWSr6p7E0BiiWawTBjP4E+HjR5yZctxM6QFp7Yc/0YVVW9A3MOPjl52F";
    const OTHER: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    const HASH: &str = "5f0b2b7b8a1c1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778899aab";
    const SIGNED: &str = "untrusted comment: signature from minisign secret key
RUSr6p7E0BiiWSqaaUQgxPavdtGzyOma6+TC8NFqsyoRPLA0mlBOJzBOe9fveCWZn5ZkzQ3ELyVOVZnyDqs9x7dcxmi9WrwsEgs=
trusted comment: timestamp:1795678252\tfile:skills.sha256\thashed
slbmEVMpouGt8z34Xd4Y0nImUey6shPpHN/Z6FqToN6fwm7TLK2MUv1QB1p+PZwnMr5dwMrATu0pTGnJTl3GBQ==
";
    const OLD_FORM: &str = "untrusted comment: signature from minisign secret key
RWSr6p7E0BiiWTztgNPn7phjIJ80kVzRhnFhkuZmXg5Ep75vkDDVYZ5toPn+fJ4NGtbYMpeVd/tTqfuiqOC7KHZqpX671CtaDA4=
trusted comment: timestamp:1795678252\tfile:skills.sha256
pzu/z8W5xKdvmVG2cqo353S2K68aqt6czUgpMB52pAxfHd53FkWB7pBXdmjtS+c5EkU4GOz5KzgjJWXiIXc3Bg==
";

    #[test]
    fn signatures_of_the_program_are_verified_and_no_others() {
        let list = format!("{HASH}  deploy/SKILL.md\n");
        let verify = |list: &str, signature: &str, keys: &[&str]| {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            let demand = Demand { source: "it", keys: &keys };
            let key = demand.key_of(list.as_bytes(), signature.as_bytes());
            key.map_err(|error| (error.code(), error.message().to_owned()))
        };
        assert_eq!(verify(&list, SIGNED, &[KEY]), Ok(KEY.to_owned()));
        assert_eq!(verify(&list, SIGNED, &[OTHER, KEY]), Ok(KEY.to_owned()));
        let (denied, invalid) = (ErrorCode::PermissionDenied, ErrorCode::InvalidParam);
        let changed = SIGNED.replace("timestamp:1", "timestamp:2");
        let forged = SIGNED.replace("RUSr6p7E0BiiWSqa", "RUSr6p7E0BiiWTqa");
        let of_nobody = SIGNED.replace("RUSr6p7E", "RUSr6p7F");
        for (list, signature, keys, code, why) in [
            (&*list, SIGNED, &[OTHER][..], denied, "another key, `59A218D0C49EEAAB`"),
            (&list, &of_nobody, &[KEY], denied, "another key"),
            (&list, SIGNED, &[], denied, "no key may sign it"),
            (&list, SIGNED, &[&KEY[1..], KEY], invalid, "is not a public key"),
            (&list[1..], SIGNED, &[KEY], denied, "was changed after it was signed"),
            ("", SIGNED, &[KEY], denied, "was changed after it was signed"),
            (&list, &changed, &[KEY], denied, "was changed after it was signed"),
            (&list, &forged, &[KEY], denied, "was changed after it was signed"),
            (&list, OLD_FORM, &[KEY], denied, "is in the form of old versions"),
            (&list, "", &[KEY], denied, "is not a signature of minisign"),
            (&list, &SIGNED[..200], &[KEY], denied, "is not a signature of minisign"),
            (&list, &SIGNED.replace("trusted", ""), &[KEY], denied, "is not a signature"),
        ] {
            let (got, message) = verify(list, signature, keys).unwrap_err();
            assert!(got == code && message.contains(why), "{why}: {message}");
        }
    }

    #[test]
    fn a_list_is_compared_with_all_files_or_with_those_of_the_skills_that_were_taken() {
        let hash = ContentHash::of(b"");
        let other = "0".repeat(64);
        let files = |paths: &[&str]| -> Files {
            let file = LockedFile { sha256: hash.clone(), executable: false };
            paths.iter().map(|path| ((*path).to_owned(), file.clone())).collect()
        };
        let taken = files(&["a/SKILL.md", "a/x", LIST, SIGNATURE]);
        let line = |path: &str| format!("{hash}  {path}\n");
        let both = line("a/SKILL.md") + &line("a/x");
        let check = |list: &str, is_whole| compare(list.as_bytes(), &taken, is_whole);
        for is_whole in [true, false] {
            assert_eq!(check(&both, is_whole), Ok(()));
            assert_eq!(check(&both.replace("  ", " *").replace('\n', "\r\n"), is_whole), Ok(()));
            for (list, why) in [
                (line("a/x"), "`a/SKILL.md` is not among the files that were signed"),
                (
                    both.replace(hash.as_str(), &other),
                    "`a/SKILL.md` is not the file that was signed",
                ),
                (both.clone() + &line("a/b/y"), "`a/b/y`, which was signed, is missing"),
                (both.clone() + "x\n", "line 3 of `skills.sha256` is not a hash and a path"),
                (both.clone() + &line("../y"), "line 3 of `skills.sha256` has no plain path"),
                (both.clone() + &line("a/x"), "line 3 of `skills.sha256` names a file again"),
                (both.replace("  ", "\t"), "line 1 of `skills.sha256` is not a hash and a path"),
                ("é".repeat(40), "line 1 of `skills.sha256` is not a hash and a path"),
            ] {
                assert_eq!(check(&list, is_whole), Err(why.to_owned()));
            }
        }
        let more = both + &line("ab/SKILL.md");
        assert_eq!(check(&more, false), Ok(()));
        assert!(check(&more, true).unwrap_err().contains("`ab/SKILL.md`, which was signed"));
        assert!(compare(b"\xff", &taken, true).unwrap_err().contains("is not UTF-8"));
    }
}
