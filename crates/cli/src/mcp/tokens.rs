//! The tokens of a server over HTTP, from a file or the environment, and the skills that each gives
//! access to.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context as _, bail};
use repertoire::Allowlist;
use repertoire_mcp::check_token;
use toml_edit::{DocumentMut, Item};

use crate::args::McpArgs;
use crate::random;

/// The environment variable with the token, used if no file is named.
const TOKEN_VARIABLE: &str = "REPERTOIRE_MCP_TOKEN";

/// The name of the client whose token is given without a name.
const ONLY: &str = "default";

/// A client's token.
#[derive(Debug)]
pub(super) struct Token {
    /// The client's name, in metrics.
    pub(super) name: String,
    /// The token itself.
    pub(super) secret: String,
    /// The ids or names of the skills that the client sees; `None` for all.
    pub(super) skills: Option<BTreeSet<String>>,
}

/// The tokens of a server, at least one.
#[derive(Debug)]
pub(super) struct Tokens {
    pub(super) all: Vec<Token>,
    /// True if a token was created for this run, so that the user must be told.
    pub(super) are_new: bool,
}

/// Returns the tokens of the file, otherwise the token of the environment variable, otherwise a new
/// token. A new token is enough only if the server is reached from this machine alone; for other
/// addresses, this fails.
pub(super) fn given(args: &McpArgs, address: SocketAddr) -> anyhow::Result<Tokens> {
    if let Some(file) = &args.token_file {
        return Ok(Tokens { all: of_file(file)?, are_new: false });
    }
    let secret = std::env::var(TOKEN_VARIABLE).unwrap_or_default();
    if !secret.is_empty() {
        let token = only(&secret, &format!("`{TOKEN_VARIABLE}`"))?;
        return Ok(Tokens { all: vec![token], are_new: false });
    }
    if !address.ip().is_loopback() {
        bail!(
            "{address} can be reached from other machines: give a token, with `--token-file` or \
             `{TOKEN_VARIABLE}`"
        );
    }
    let all = vec![only(&random::token::<32>()?, "the new token")?];
    Ok(Tokens { all, are_new: true })
}

fn only(secret: &str, from: &str) -> anyhow::Result<Token> {
    let secret = checked(secret, from)?;
    Ok(Token { name: ONLY.to_owned(), secret, skills: None })
}

/// Removes the blanks around a token, and checks it. An error names its origin, `from`.
fn checked(secret: &str, from: &str) -> anyhow::Result<String> {
    let secret = secret.trim();
    check_token(secret).map_err(|error| error.reworded(format!("{from}: {}", error.message())))?;
    Ok(secret.to_owned())
}

/// Reads a file that is one token, or a table of clients in TOML.
fn of_file(file: &Path) -> anyhow::Result<Vec<Token>> {
    let from = format!("the token file {}", file.display());
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {from}"))?;
    if !text.trim().contains(char::is_whitespace) {
        return Ok(vec![only(&text, &from)?]);
    }
    // The parser's error would show the line, which may be a token.
    let Ok(document) = text.parse::<DocumentMut>() else {
        bail!("{from} is neither one token nor valid TOML: write `[NAME]` and `token = \"…\"`");
    };
    let clients = document.iter().map(|(name, item)| client(name, item, &from));
    let clients = clients.collect::<anyhow::Result<Vec<_>>>()?;
    if clients.is_empty() {
        bail!("{from} names no client: write `[NAME]` and `token = \"…\"`");
    }
    let secrets: BTreeSet<&str> = clients.iter().map(|client| &*client.secret).collect();
    if secrets.len() < clients.len() {
        bail!("{from}: two clients have the same token");
    }
    Ok(clients)
}

/// Reads the table of one client.
fn client(name: &str, item: &Item, from: &str) -> anyhow::Result<Token> {
    let Some(table) = item.as_table_like() else {
        bail!("{from}: `{name}` is not a table: write `[NAME]` and `token = \"…\"` below it");
    };
    let (mut secret, mut skills) = (None, None);
    for (key, value) in table.iter() {
        match (key, value.as_str(), value.as_array()) {
            ("token", Some(token), _) => secret = Some(token.to_owned()),
            ("token_env", Some(variable), _) => {
                let Ok(token) = std::env::var(variable) else {
                    bail!("{from}: `{name}`: the variable `{variable}` is not set");
                };
                secret = Some(token);
            }
            ("skills", _, Some(list)) => {
                let ids: Option<BTreeSet<String>> =
                    list.iter().map(|id| id.as_str().map(str::to_owned)).collect();
                skills = Some(ids.with_context(|| format!("{from}: `{name}`: `skills` has ids"))?);
            }
            _ => bail!(
                "{from}: `{name}`: `{key}` is not known, or not of its type: write `token` or \
                 `token_env`, a text, and `skills`, a list of ids"
            ),
        }
    }
    let Some(secret) = secret else { bail!("{from}: `{name}` has no `token` and no `token_env`") };
    let secret = checked(&secret, &format!("{from}: `{name}`"))?;
    Ok(Token { name: name.to_owned(), secret, skills })
}

/// Returns the allowlist of a client that sees `skills`.
pub(super) fn allowlist(skills: &BTreeSet<String>) -> Allowlist {
    let skills: Vec<&String> = skills.iter().collect();
    Allowlist::from_entries(Some(&skills))
}
