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
/// * `fn create(config: C) -> ToolResult<Self>`, if present, makes the toolset, where `C` is a `Value`
///   or any type that can be deserialized; without it the type has to be `Default`.
/// * `#[tool(name = "…", read_only, idempotent, destructive = false)]` on a function gives it another
///   name and hints for the host.
/// * A tool returns a `Result`: of a `String`, `&str`, `Value` or `ToolOutput`, and any error that can
///   be displayed.
///
/// ```ignore
/// /// Friendly greetings.
/// #[toolset]
/// impl HelloToolset {
///     /// Greets somebody by name.
///     pub fn greet(&self, name: String, #[serde(default)] loud: bool) -> ToolResult {
///         Ok(if loud { format!("HELLO, {name}!") } else { format!("Hello, {name}.") }.into())
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn toolset(attribute: TokenStream, item: TokenStream) -> TokenStream {
    toolset::expand(attribute.into(), item.into()).unwrap_or_else(Error::into_compile_error).into()
}

/// Makes a type one that tools can take: derives serde's `Deserialize` and schemars' `JsonSchema`, and
/// refuses unknown fields.
///
/// It saves an author the two dependencies. Doc comments on the fields are their descriptions.
#[proc_macro_attribute]
pub fn arguments(attribute: TokenStream, item: TokenStream) -> TokenStream {
    arguments::expand(attribute.into(), item.into())
        .unwrap_or_else(Error::into_compile_error)
        .into()
}
