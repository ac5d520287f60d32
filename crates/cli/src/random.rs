//! Random tokens that nobody can guess.

use anyhow::Context as _;
use data_encoding::HEXLOWER;

/// `N` random bytes in hexadecimal.
pub(crate) fn token<const N: usize>() -> anyhow::Result<String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).context("the system gives no random bytes for a token")?;
    Ok(HEXLOWER.encode(&bytes))
}
