//! Each rule, with an example where it fires and one where it does not.
