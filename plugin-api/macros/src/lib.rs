//! The attributes of [repertoire-plugin](https://docs.rs/repertoire-plugin), which re-exports and
//! documents them.

mod arguments;
#[cfg(test)]
mod tests;
mod tool;
mod toolset;

use proc_macro::TokenStream;
use syn::Error;

/// Makes a toolset of an `impl` block: each `pub fn` with a doc comment is a tool.
///
/// The doc comment is the tool's description, the parameters are its arguments, with their doc
/// comments as descriptions; `#[serde(…)]` and `#[schemars(…)]` on a parameter pass through. A
/// parameter of type `&ToolContext` is the context. Functions that are not `pub` are helpers.
///
/// * `fn create(config: C) -> ToolResult<Self>`, if present, makes the toolset of its configuration,
///   where `C` is a `Value` or any type that can be deserialized, such as one with `#[arguments]`;
///   without it the type has to be `Default`, and takes no configuration.
/// * `#[tool(name = "…", read_only, idempotent, destructive = false)]` on a function gives it another
///   name and hints for the host.
/// * A tool returns a `Result`: of a `String`, `&str`, `Value` or `ToolOutput`, and any error that can
///   be displayed.
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

/// Makes a type one that tools can take, or a toolset as its configuration: derives serde's
/// `Deserialize` and schemars' `JsonSchema`, and refuses unknown fields.
///
/// It saves an author the two dependencies. Doc comments on the fields are their descriptions. The
/// variants of an enum are named in `snake_case`, as models write them, unless the type has a
/// `#[serde(rename_all = "…")]` of its own.
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
