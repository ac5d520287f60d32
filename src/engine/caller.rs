//! The one who reads files, runs scripts, or wants a copy of a skill.

use crate::catalog::Audience;
use crate::session::Session;

/// The one who reads files, runs scripts, or wants a copy. A [`Session`] stands for its model.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    pub(super) audience: Audience,
    pub(super) session: &'a Session,
}

impl<'a> Caller<'a> {
    /// The model: reaches the skills that it may use, and those that the user activated in this
    /// session.
    pub fn model(session: &'a Session) -> Caller<'a> {
        Caller { audience: Audience::Model, session }
    }

    /// The user: reaches every skill that exists for this agent and is available.
    pub fn user(session: &'a Session) -> Caller<'a> {
        Caller { audience: Audience::User, session }
    }

    /// The conversation.
    pub fn session(&self) -> &'a Session {
        self.session
    }
}

impl<'a> From<&'a Session> for Caller<'a> {
    fn from(session: &'a Session) -> Caller<'a> {
        Caller::model(session)
    }
}
