//! The remedy for a build that `cargo` could not finish. Its own messages went to the terminal; what they mean
//! for the crate of a toolset is asked from `cargo` and `rustc` again, which takes a moment.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use repertoire::toolset::TARGET;

use crate::shell::quoted;

/// The crate that every toolset depends on.
pub(super) const PLUGIN: &str = "repertoire-plugin";

/// Returns the program `cargo`.
pub(super) fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Returns the remedy for the failed build of the crate with this manifest.
pub(super) fn of(manifest: &Path, target: Option<&str>) -> String {
    if lacks_plugin(manifest) {
        return format!(
            "cargo does not find `{PLUGIN}`; until the registry has it, write \
             `{PLUGIN} = {{ path = \"CHECKOUT/plugin-api\" }}` in {}, with the directory of a checkout of Repertoire, \
             or `{{ git = \"URL\" }}` with the address of its repository; `tool new --plugin-path CHECKOUT` writes \
             the former",
            quoted(&manifest.to_string_lossy())
        );
    }
    match target.filter(|target| *target != TARGET) {
        Some(target) if !is_installed(target) => {
            format!("Rust has no libraries for this target here: `rustup target add {target}`")
        }
        Some(target) => {
            let variable = target.replace('-', "_").to_uppercase();
            format!(
                "fix the errors above; if it is the linker that fails, name one for {target}, as in \
                 `CARGO_TARGET_{variable}_LINKER=PROGRAM`"
            )
        }
        None => "fix the errors above".to_owned(),
    }
}

/// Tells whether the crate depends on a plugin API that cargo does not find.
fn lacks_plugin(manifest: &Path) -> bool {
    let mut command = Command::new(program());
    command.args(["metadata", "--format-version=1", "--quiet", "--manifest-path"]).arg(manifest);
    let output = command.stdin(Stdio::null()).output();
    let name = format!("`{PLUGIN}`");
    output
        .is_ok_and(|it| !it.status.success() && String::from_utf8_lossy(&it.stderr).contains(&name))
}

/// Tells whether the standard library of Rust is there for `target`. True if that is not known.
fn is_installed(target: &str) -> bool {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let output = command.args(["--print", "target-libdir", "--target", target]).output();
    output.map_or(true, |it| {
        it.status.success() && Path::new(String::from_utf8_lossy(&it.stdout).trim()).is_dir()
    })
}
