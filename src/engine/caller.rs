//! The caller: the model or the user who reads a skill's files, runs its scripts, or copies it.

use crate::catalog::Audience;
use crate::session::Session;

/// The model or the user who reads a skill's files, runs its scripts, or copies it. A [`Session`]
/// converts to the [model](Caller::model) of that session.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    pub(super) audience: Audience,
    pub(super) session: &'a Session,
}

impl<'a> Caller<'a> {
    /// The model. It reaches the skills that it may use, and those that the user activated in this
    /// session.
    pub fn model(session: &'a Session) -> Caller<'a> {
        Caller { audience: Audience::Model, session }
    }

    /// The user. Reaches every skill that exists for this agent and is available.
    pub fn user(session: &'a Session) -> Caller<'a> {
        Caller { audience: Audience::User, session }
    }

    /// The session of the caller.
    pub fn session(&self) -> &'a Session {
        self.session
    }
}

impl<'a> From<&'a Session> for Caller<'a> {
    fn from(session: &'a Session) -> Caller<'a> {
        Caller::model(session)
    }
}
