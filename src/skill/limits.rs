//! The limits of the Agent Skills specification.

/// The longest name, in characters.
pub(super) const MAX_NAME_CHARS: usize = 64;

/// The longest description, in characters.
pub(super) const MAX_DESCRIPTION_CHARS: usize = 1024;
