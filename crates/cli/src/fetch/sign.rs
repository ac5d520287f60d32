//! `repertoire sign`: signs the skills of a directory, for others to verify.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use minisign::{ErrorKind, PublicKey, SecretKey, SecretKeyBox};
use repertoire::{Error, ErrorCode};
use repertoire_config::FetchSettings;
use repertoire_fetch::{Fetcher, Locked};
use serde_json::json;

use super::ignored::missing_for_others;
use crate::args::SignArgs;
use crate::exit_code::ExitCode;
use crate::output::{GOOD, HELP, NAME, Output, Page, WARNING, styled};
use crate::replace::{io_error, replace};
use crate::report::count;
use crate::{sanitize, setup};

/// The environment variable with the password of a key, for machines without a terminal.
const PASSWORD: &str = "REPERTOIRE_KEY_PASSWORD";

/// The maximum number of bytes that are read of a key file.
const MAX_KEY_BYTES: u64 = 4096;

/// The key derivation function that an encrypted key names: scrypt.
const ENCRYPTED: &[u8] = b"Sc";

/// The first bytes of a key without a password: Ed25519, and no key derivation.
const PLAIN: &[u8] = b"Ed\0\0";

/// The comment in a signature; nobody verifies it.
const COMMENT: &str = "signature of the files in skills.sha256";

/// The maximum number of files ignored by git that are named.
const MAX_IGNORED: usize = 10;

const NAME_KEY: &str = "name the secret key that `minisign -G` made, which ends in `.key`";

pub(crate) fn run(args: &SignArgs, out: Output) -> anyhow::Result<ExitCode> {
    let dir = args.dir.canonicalize().map_err(|error| io_error("read", &args.dir, &error))?;
    if !dir.is_dir() {
        let message = format!("{} is not a directory", args.dir.display());
        let help =
            "name the directory of the skills; an archive has the signature of what it packs";
        return Err(Error::new(ErrorCode::InvalidParam, message, help).into());
    }
    let key_file = key_file(args)?;
    let cache = tempfile::tempdir()?;
    let fetcher = Fetcher::new(cache.path());
    let (source, path) = (dir.to_string_lossy().into_owned(), args.path.clone());
    let settings = FetchSettings { source, path, ..FetchSettings::default() };
    let list = fetcher.fetch(&settings, &dir)?.list();
    let key = secret_key(&key_file)?;
    let wrong = |error: minisign::PError| unusable(&key_file, &error);
    let public = PublicKey::from_secret_key(&key).map_err(wrong)?;
    let signature = minisign::sign(Some(&public), &key, list.as_bytes(), None, Some(COMMENT));
    let signature = signature.map_err(wrong)?.into_string();
    let at = args.path.as_ref().map_or_else(|| dir.clone(), |path| dir.join(path));
    let [list_file, signature_file] = [Locked::LIST, Locked::SIGNATURE].map(|name| at.join(name));
    replace(&list_file, &list, &list_file)?;
    replace(&signature_file, &signature, &signature_file)?;
    let ignored = missing_for_others(&fetcher, &dir, &settings)?;
    tell_of_ignored(&ignored, out);
    let (public, n_files) = (public.to_base64(), list.lines().count());
    if out.json {
        Output::json(&json!({
            "list": list_file.to_string_lossy(),
            "signature": signature_file.to_string_lossy(),
            "files": n_files,
            "ignored": ignored,
            "public_key": public,
        }))?;
        return Ok(ExitCode::Done);
    }
    let mut page = Page::default();
    let shown = at.to_string_lossy();
    let (title, name) = (styled(GOOD, "signed"), styled(NAME, sanitize::line(&shown)));
    page.line(format_args!("{title} {name}: {}", count(n_files, "file")));
    page.line(format_args!("written to `{}` and `{}`", Locked::LIST, Locked::SIGNATURE));
    page.line(format_args!("others verify it with `repertoire add SOURCE --signed-by {public}`"));
    out.human(page.as_str())?;
    Ok(ExitCode::Done)
}

/// Warns of signed files that git ignores: users who fetch from the repository do not get them, and
/// refuse the source.
fn tell_of_ignored(ignored: &[String], out: Output) {
    if ignored.is_empty() {
        return;
    }
    let shown = ignored.iter().take(MAX_IGNORED).map(|path| format!("`{}`", sanitize::line(path)));
    let more = ignored.len().saturating_sub(MAX_IGNORED);
    let more = (more > 0).then(|| format!("and {more} more"));
    let shown = shown.chain(more).collect::<Vec<_>>().join(", ");
    let title = styled(WARNING, "warning");
    let n_files = count(ignored.len(), "file");
    out.note(&format!("{title}: git ignores {n_files} of the signed source: {shown}"));
    let help = "add them with `git add --force`, or remove them and sign again: whoever takes the source \
                from the repository refuses the signature without them";
    out.note(&format!("{}: {help}", styled(HELP, "help")));
}

/// Returns the file of the key: by default where `minisign -G` writes it.
fn key_file(args: &SignArgs) -> Result<PathBuf, Error> {
    let default = || Some(setup::home()?.join(".minisign/minisign.key"));
    args.key.clone().or_else(default).ok_or_else(|| {
        let message = "there is no home directory with a key";
        Error::new(ErrorCode::NotFound, message, "name the file of the key with `--key FILE`")
    })
}

/// Reads a secret key. The password of an encrypted key is taken from the environment, or asked for
/// on the terminal.
fn secret_key(file: &Path) -> Result<SecretKey, Error> {
    let mut text = String::new();
    let read =
        fs::File::open(file).and_then(|key| key.take(MAX_KEY_BYTES).read_to_string(&mut text));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = format!("there is no key at {}", file.display());
            let help = "make one with `minisign -G`, or name its file with `--key FILE`";
            return Err(Error::new(ErrorCode::NotFound, message, help));
        }
        read => read.map_err(|error| io_error("read", file, &error))?,
    };
    let bytes = text.lines().nth(1).and_then(|line| BASE64.decode(line.trim().as_bytes()).ok());
    let key = match bytes {
        Some(bytes) if bytes.get(2..4) == Some(ENCRYPTED) => {
            let key = SecretKeyBox::from(text).into_secret_key(Some(password(file)?));
            if key.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::Verify)) {
                return Err(wrong_password(file));
            }
            key
        }
        // `minisign -W` writes no checksum, but `into_unencrypted_secret_key` requires one.
        Some(bytes) if bytes.starts_with(PLAIN) => SecretKey::from_bytes(&bytes),
        _ => {
            let message = format!("{} is not a secret key of minisign", file.display());
            return Err(Error::new(ErrorCode::InvalidParam, message, NAME_KEY));
        }
    };
    key.map_err(|error| unusable(file, &error))
}

fn password(file: &Path) -> Result<String, Error> {
    if let Some(password) = std::env::var_os(PASSWORD) {
        return password.into_string().map_err(|_| {
            let message = format!("`{PASSWORD}` is not UTF-8");
            Error::new(ErrorCode::InvalidParam, message, "set it to the password of the key")
        });
    }
    let shown = file.to_string_lossy();
    rpassword::prompt_password(format!("password of {}: ", sanitize::line(&shown))).map_err(
        |error| {
            let message =
                format!("the password of {} cannot be asked for: {error}", file.display());
            let help = format!("run it on a terminal, or set `{PASSWORD}`");
            Error::new(ErrorCode::ExecutionError, message, help)
        },
    )
}

/// Returns the error for a wrong password, which the checksum of the key reveals.
fn wrong_password(file: &Path) -> Error {
    let message = format!("the password of {} is wrong", file.display());
    let help = if std::env::var_os(PASSWORD).is_some() {
        format!("set `{PASSWORD}` to the password of this key, or unset it to be asked")
    } else {
        "try again with the password that was given when the key was made".to_owned()
    };
    Error::new(ErrorCode::PermissionDenied, message, help)
}

fn unusable(file: &Path, error: &minisign::PError) -> Error {
    let message = format!("the key {} cannot be used: {error}", file.display());
    Error::new(ErrorCode::InvalidParam, message, NAME_KEY)
}
