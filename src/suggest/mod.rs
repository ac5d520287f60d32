//! Triggers mined from a skill's text.
