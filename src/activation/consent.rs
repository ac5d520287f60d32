//! The user's consent to an activation.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::catalog::{Audience, Scope};
use crate::error::{Error, ErrorCode};
use crate::skill::SkillId;

/// The risk of an activation: the attention it deserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// The first of this skill in the session.
    Risky,
    /// The user agreed to one before.
    Safe,
}

/// The policy that decides when an activation needs the user's consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConsentPolicy {
    /// Never.
    #[default]
    Never,
    /// Once for each skill in a session.
    FirstUse,
    /// Each time.
    Always,
}

/// The information that a user should see before agreeing to an activation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConsentRequest {
    /// The skill.
    pub id: SkillId,
    /// Its description.
    pub description: String,
    /// The one who asks for it: the model, or the user who typed a command.
    #[serde(skip)]
    pub audience: Audience,
    /// The scope of its source.
    pub scope: Scope,
    /// Its directory, if it has one.
    #[serde(serialize_with = "super::lossy")]
    pub dir: Option<PathBuf>,
    /// The tree of its directory, as lines of text.
    pub tree: String,
    /// The `path:Class` entries of its toolsets.
    pub toolsets: Vec<String>,
    /// Tools its author wants to be allowed; `None` if that is left to the host.
    pub allowed_tools: Option<Vec<String>>,
    /// Its scripts.
    pub scripts: Vec<String>,
    /// The risk of the activation.
    pub risk: Risk,
}

/// The policy of consent, and the callback that asks for it.
///
/// It guards activations, and the files and scripts of a skill that was not activated in the
/// session; a disclosure shows text and needs no consent.
///
/// Without a callback, an activation that needs consent fails with `CONSENT_REQUIRED`; the host
/// asks by its own means, notes the answer with
/// [`Session::consent`](crate::session::Session::consent), and activates again.
#[derive(Clone, Default)]
pub struct Consent {
    /// The policy.
    pub policy: ConsentPolicy,
    ask: Option<Ask>,
}

type Ask = Arc<dyn Fn(&ConsentRequest) -> bool + Send + Sync>;

impl Consent {
    /// Consent by this policy.
    pub fn new(policy: ConsentPolicy) -> Consent {
        Consent { policy, ask: None }
    }

    /// Asks `ask` where consent is needed and was not given yet; with [`ConsentPolicy::Always`] it
    /// decides on every activation.
    #[must_use]
    pub fn ask(mut self, ask: impl Fn(&ConsentRequest) -> bool + Send + Sync + 'static) -> Consent {
        self.ask = Some(Arc::new(ask));
        self
    }

    /// Tells whether somebody can be asked.
    pub(crate) fn asks(&self) -> bool {
        self.ask.is_some()
    }

    /// Asks for consent.
    ///
    /// Fails with `CONSENT_REQUIRED` if it is refused or nobody can be asked.
    pub(crate) fn obtain(&self, request: &ConsentRequest) -> Result<(), Error> {
        let id = &request.id;
        match &self.ask {
            Some(ask) if ask(request) => Ok(()),
            Some(_) => Err(refused(id)),
            None => Err(Error::new(
                ErrorCode::ConsentRequired,
                format!("skill `{id}` may be activated only with the user's consent"),
                "the user has to agree first: ask for it",
            )),
        }
    }
}

/// The error of an activation that the user was asked about, and did not agree to.
pub(crate) fn refused(id: &SkillId) -> Error {
    Error::new(
        ErrorCode::ConsentRequired,
        format!("the user did not agree to activate skill `{id}`"),
        "go on without it, or ask the user why",
    )
}

impl fmt::Debug for Consent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asks = self.ask.is_some();
        f.debug_struct("Consent").field("policy", &self.policy).field("asks", &asks).finish()
    }
}
