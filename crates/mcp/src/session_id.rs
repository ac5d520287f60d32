//! Ids of sessions over HTTP that every process with the same token understands.
//!
//! An id contains everything that a process needs to continue a session that another process started:
//! from the client's `initialize` request, the protocol and whether the client can ask its user. It is
//! signed, so that no client can invent an id, or use one that was issued for another token. Processes
//! behind one address therefore need to share only their tokens and the session store.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rmcp::model::InitializeRequestParams;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use repertoire::{Error, ErrorCode};

/// The number of random bytes in an id, and of bytes of its signature: 128 bits each.
const N_BYTES: usize = 16;

/// A key that signs ids: 32 bytes, padded with zeros to a block of SHA-256, as HMAC does.
#[derive(Clone)]
pub(super) struct IdKey([u8; 64]);

/// The ability of a client to ask its user by a form, and by a web page; `None` if it has neither.
type Elicitation = Option<[bool; 2]>;

/// The letter that stands in an id for each of these abilities. A client that names no mode asks by
/// form, as clients did before there were modes.
const ELICITATIONS: [(&str, Elicitation); 5] = [
    ("n", None),
    ("e", Some([false, false])),
    ("f", Some([true, false])),
    ("u", Some([false, true])),
    ("b", Some([true, true])),
];

/// The description of a session that its id contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionClaims {
    /// The protocol that the client asked for.
    version: String,
    /// The client's ways to ask its user.
    elicitation: Elicitation,
    /// The name of the session in the store.
    pub(super) name: String,
}

impl IdKey {
    /// Derives the key from a secret that all processes have.
    pub(super) fn derive(secret: &[u8]) -> IdKey {
        let mut hash = Sha256::new();
        hash.update(b"repertoire: ids of MCP sessions\0");
        hash.update(secret);
        let mut block = [0; 64];
        block[..32].copy_from_slice(&hash.finalize());
        IdKey(block)
    }

    /// Creates an id for a new session of the client that sent `hello`, its `initialize` request.
    ///
    /// Fails with `EXECUTION_ERROR` if the system gives no random bytes.
    pub(super) fn issue(&self, hello: &InitializeRequestParams) -> Result<String, Error> {
        let mut bytes = [0; N_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| {
            let message = format!("the system gives no random bytes for a session: {error}");
            Error::new(ErrorCode::ExecutionError, message, "try again")
        })?;
        // The SDK answers an unknown version with the same known one as an empty text.
        let version = hello.protocol_version.as_str();
        let is_date =
            version.len() == 10 && version.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        let version = if is_date { version } else { "" };
        let elicitation = hello.capabilities.elicitation.as_ref();
        let elicitation = elicitation.map(|modes| [modes.form.is_some(), modes.url.is_some()]);
        let known = ELICITATIONS.iter().find(|(_, known)| *known == elicitation);
        let letter = known.map_or("n", |(letter, _)| letter);
        let content = format!("{version}.{letter}.{}", HEXLOWER.encode(&bytes));
        let signature = self.sign(&content).finalize().into_bytes();
        Ok(format!("{content}.{}", HEXLOWER.encode(&signature[..N_BYTES])))
    }

    /// Decodes an id. Returns `None` if it was not issued with this key. Compares the signature in
    /// constant time.
    pub(super) fn read(&self, id: &str) -> Option<SessionClaims> {
        let (content, signature) = id.rsplit_once('.')?;
        let signature = HEXLOWER.decode(signature.as_bytes()).ok()?;
        // `verify_truncated_left` would also accept a shorter prefix of the signature.
        if signature.len() != N_BYTES {
            return None;
        }
        self.sign(content).verify_truncated_left(&signature).ok()?;
        let mut parts = content.split('.');
        let (version, letter, random) = (parts.next()?, parts.next()?, parts.next()?);
        let &(_, elicitation) = ELICITATIONS.iter().find(|(known, _)| *known == letter)?;
        let (version, name) = (version.to_owned(), format!("mcp-{random}"));
        Some(SessionClaims { version, elicitation, name })
    }

    fn sign(&self, content: &str) -> Hmac<Sha256> {
        let mut signature = Hmac::<Sha256>::new(&self.0.into());
        signature.update(content.as_bytes());
        signature
    }
}

impl SessionClaims {
    /// Returns the `initialize` request with which another process continues the session. It contains
    /// the relevant parts of the client's request.
    pub(super) fn hello(&self) -> serde_json::Result<InitializeRequestParams> {
        let capabilities = self.elicitation.map_or_else(
            || json!({}),
            |modes| {
                let modes = ["form", "url"].into_iter().zip(modes).filter(|(_, has)| *has);
                let modes: Map<String, Value> =
                    modes.map(|(mode, _)| (mode.to_owned(), json!({}))).collect();
                json!({"elicitation": modes})
            },
        );
        serde_json::from_value(json!({
            "protocolVersion": self.version,
            "capabilities": capabilities,
            "clientInfo": {"name": "", "version": ""},
        }))
    }
}

/// Returns a name for a session that no other connection has, in this process or another.
pub(super) fn unique_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("mcp-{}-{since:x}-{number}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(version: &str, capabilities: &Value) -> InitializeRequestParams {
        let client = json!({"name": "t", "version": "1"});
        let params =
            json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": client});
        serde_json::from_value(params).unwrap()
    }

    #[test]
    fn an_id_is_read_with_its_key_and_restores_what_the_client_said() {
        let key = IdKey::derive(b"0123456789abcdef");
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2099-01-01"] {
            for capabilities in [
                json!({}),
                json!({"elicitation": {}}),
                json!({"elicitation": {"form": {}}}),
                json!({"elicitation": {"url": {}}}),
                json!({"elicitation": {"form": {}, "url": {}}}),
            ] {
                let said = hello(version, &capabilities);
                let id = key.issue(&said).unwrap();
                assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
                let again = key.read(&id).unwrap().hello().unwrap();
                assert_eq!(again.protocol_version, said.protocol_version);
                assert_eq!(again.capabilities, said.capabilities);
            }
        }
        let strange = key.issue(&hello("1.2\r\nx", &json!({}))).unwrap();
        assert_eq!(key.read(&strange).unwrap().version, "");
    }

    #[test]
    fn ids_that_were_changed_or_are_of_another_key_are_not_read() {
        let key = IdKey::derive(b"0123456789abcdef");
        let said = hello("2025-06-18", &json!({}));
        let [id, other] = [(); 2].map(|()| key.issue(&said).unwrap());
        assert_ne!(key.read(&id).unwrap().name, key.read(&other).unwrap().name);
        assert_eq!(IdKey::derive(b"0123456789abcdeg").read(&id), None);
        for place in 0..id.len() {
            let mut changed = id.clone().into_bytes();
            changed[place] = if changed[place] == b'1' { b'2' } else { b'1' };
            assert_eq!(key.read(&String::from_utf8(changed).unwrap()), None, "{place}");
        }
        let (content, signature) = id.rsplit_once('.').unwrap();
        for wrong in [
            "",
            ".",
            content,
            &format!("{content}."),
            &id[..id.len() - 2],
            &format!("{id}00"),
            &format!("{content}.{}", signature.to_uppercase()),
        ] {
            let is_same = wrong == id;
            assert!(is_same || key.read(wrong).is_none(), "{wrong}");
        }
    }
}
