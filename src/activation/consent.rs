//! The user's consent to an activation.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::catalog::{Audience, Scope};
use crate::error::{Error, ErrorCode};
use crate::skill::SkillId;

/// The risk of an activation, which tells how much attention it deserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// The skill was not activated in the session yet, nor did the user agree to that.
    Risky,
    /// The skill was activated in the session before, or the user agreed to that.
    Safe,
}

/// The policy that decides when an activation needs the user's consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ConsentPolicy {
    /// No activation needs consent.
    #[default]
    Never,
    /// Each skill needs consent once in a session.
    FirstUse,
    /// Every activation needs consent.
    Always,
}

/// The information that a user should see before agreeing to an activation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConsentRequest {
    /// The id of the skill.
    pub id: SkillId,
    /// The id of the session in which the skill is to be activated.
    pub session: String,
    /// The description of the skill.
    pub description: String,
    /// The requester of the activation: the model, or the user who typed a command.
    #[serde(skip)]
    pub audience: Audience,
    /// The scope of the source that the skill comes from.
    pub scope: Scope,
    /// The directory of the skill, if it has one.
    #[serde(serialize_with = "repertoire_system::lossy_path::serialize_option")]
    pub dir: Option<PathBuf>,
    /// The tree of the skill's directory, as lines of text.
    pub tree: String,
    /// The `path:Class` entries of the skill's toolsets.
    pub toolsets: Vec<String>,
    /// The tools that the skill's author wants to be allowed; `None` leaves this to the host.
    pub allowed_tools: Option<Vec<String>>,
    /// The scripts that the skill can run.
    pub scripts: Vec<String>,
    /// The risk of the activation.
    pub risk: Risk,
}

/// The policy of consent, and the callback that asks the user.
///
/// Activations are guarded, and so are the files and scripts of a skill that was not activated in the
/// session. Until the user agrees, a disclosure has a line for the skill in place of its instructions.
///
/// Without a callback, an activation that needs consent fails with `CONSENT_REQUIRED`. The host then
/// asks the user by its own means, records the answer with
/// [`Session::consent`](crate::session::Session::consent), and activates the skill again.
#[derive(Clone, Default)]
pub struct Consent {
    /// The policy.
    pub policy: ConsentPolicy,
    ask: Option<Ask>,
}

type Ask = Arc<dyn Fn(&ConsentRequest) -> bool + Send + Sync>;

impl Consent {
    /// Creates a consent with this policy and no callback.
    pub fn new(policy: ConsentPolicy) -> Consent {
        Consent { policy, ask: None }
    }

    /// Calls `ask` when consent is needed and was not given yet. With [`ConsentPolicy::Always`], `ask`
    /// decides on every activation.
    #[must_use]
    pub fn ask(mut self, ask: impl Fn(&ConsentRequest) -> bool + Send + Sync + 'static) -> Consent {
        self.ask = Some(Arc::new(ask));
        self
    }

    /// Tells whether there is a callback to ask the user.
    pub(crate) fn asks(&self) -> bool {
        self.ask.is_some()
    }

    /// Asks the user for consent.
    ///
    /// Fails with `CONSENT_REQUIRED` if the user refuses, or if there is no callback.
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

/// The error of an activation that the user refused.
pub fn refused(id: &SkillId) -> Error {
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
