//! The attributes of [repertoire-plugin](https://docs.rs/repertoire-plugin), which re-exports and
//! documents them.

mod arguments;
#[cfg(test)]
mod tests;
mod tool;
mod toolset;

use proc_macro::TokenStream;
use syn::Error;

/// Makes an `impl` block a toolset: each `pub fn` with a doc comment is a tool.
///
/// The doc comment is the tool's description. The parameters are its arguments, described by their own
/// doc comments; `#[serde(…)]` and `#[schemars(…)]` on a parameter are passed on. A parameter of type
/// `&ToolContext` receives the context of the call. Functions that are not `pub` are helpers.
///
/// * `fn create(config: C) -> ToolResult<Self>`, if present, creates the toolset from its
///   configuration. `C` is a `Value` or any type that can be deserialized, such as one with
///   `#[arguments]`. Without `create`, the type must implement `Default`, and takes no configuration.
/// * `#[tool(name = "…", read_only, idempotent, destructive = false)]` on a function gives the tool
///   another name, and hints for the host.
/// * A tool returns a `Result`: its value is a `String`, `&str`, `Value` or `ToolOutput`, its error any
///   type that can be displayed.
///
/// ```ignore
/// /// The configuration of a `HelloToolset`, a table of the host's `config.toml`.
/// #[arguments]
/// struct Config {
///     #[serde(default = "hello")]
///     greeting: String,
/// }
///
/// /// Friendly greetings.
/// #[toolset]
/// impl HelloToolset {
///     fn create(config: Config) -> ToolResult<Self> {
///         Ok(HelloToolset { greeting: config.greeting })
///     }
///
///     /// Greets somebody by name.
///     pub fn greet(&self, name: String, #[serde(default)] loud: bool) -> ToolResult {
///         let end = if loud { '!' } else { '.' };
///         Ok(format!("{}, {name}{end}", self.greeting).into())
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn toolset(attribute: TokenStream, item: TokenStream) -> TokenStream {
    toolset::expand(attribute.into(), item.into()).unwrap_or_else(Error::into_compile_error).into()
}

/// Makes a type usable as a tool's argument or as a toolset's configuration: derives serde's
/// `Deserialize` and schemars' `JsonSchema`, and refuses unknown fields.
///
/// It saves the author those two dependencies. The doc comments of the fields become their
/// descriptions. The variants of an enum are named in `snake_case`, as models write them, unless the
/// type has its own `#[serde(rename_all = "…")]`.
///
/// ```ignore
/// #[arguments]
/// struct Export {
///     /// The form of the file.
///     form: Form,
/// }
///
/// #[arguments]
/// enum Form { Csv, PlainText } // "csv", "plain_text"
/// ```
#[proc_macro_attribute]
pub fn arguments(attribute: TokenStream, item: TokenStream) -> TokenStream {
    arguments::expand(attribute.into(), item.into())
        .unwrap_or_else(Error::into_compile_error)
        .into()
}
