//! Code that the macro rejects, and its error messages.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{arguments, toolset};

#[expect(clippy::needless_pass_by_value, reason = "shorter for the callers")]
fn refused(function: TokenStream) -> String {
    toolset::expand(quote!(), quote!(impl X { #function })).unwrap_err().to_string()
}

#[test]
fn a_tool_without_a_doc_comment() {
    assert_eq!(
        refused(quote!(
            pub fn greet(&self) -> ToolResult {}
        )),
        "the tool `greet` has no doc comment: it is the description by which the model chooses the \
         tool (a helper is not `pub`)"
    );
}

#[test]
fn an_async_tool() {
    assert_eq!(
        refused(quote!(
            #[doc = "Greets."]
            pub async fn greet(&self) -> ToolResult {}
        )),
        "the tool `greet` cannot be `async`: a plugin has its own copy of the async runtime and \
         does not see the host's; use `repertoire_plugin::block_on` inside (feature `block-on`)"
    );
}

#[test]
fn receivers_other_than_a_shared_reference() {
    let said = "the tool `greet` takes `&self`: tools run at the same time, so keep what changes in a \
                `Mutex`";
    assert_eq!(
        refused(quote!(
            #[doc = "Greets."]
            pub fn greet(&mut self) -> ToolResult {}
        )),
        said
    );
    assert_eq!(
        refused(quote!(
            #[doc = "Greets."]
            pub fn greet(self) -> ToolResult {}
        )),
        said
    );
    assert_eq!(
        refused(quote!(
            #[doc = "Greets."]
            pub fn greet() -> ToolResult {}
        )),
        "the tool `greet` takes `&self` first (a helper is not `pub`)"
    );
}

#[test]
fn parameters_that_cannot_be_arguments() {
    assert_eq!(
        refused(quote!(
            #[doc = "Greets."]
            pub fn greet(&self, name: &str) -> ToolResult {}
        )),
        "a tool's arguments are owned: write `String` for `&str`, `Vec<T>` for `&[T]` (the only \
         reference is `&ToolContext`)"
    );
    assert_eq!(
        refused(quote!(
            #[doc = "Greets."]
            pub fn greet(&self, (a, b): (u8, u8)) -> ToolResult {}
        )),
        "a tool's parameter is a plain name"
    );
    assert_eq!(
        refused(quote!(
            #[doc = "Greets."]
            pub fn greet(&self, #[cold] a: u8) -> ToolResult {}
        )),
        "a tool's parameter takes doc comments, `#[serde(…)]` and `#[schemars(…)]`"
    );
}

#[test]
fn generic_tools_and_tools_without_a_result() {
    assert_eq!(
        refused(quote!(
            #[doc = "Greets."]
            pub fn greet<T>(&self, name: T) -> ToolResult {}
        )),
        "the tool `greet` cannot be generic: its arguments have one schema"
    );
    assert_eq!(
        refused(quote!(
            #[doc = "Greets."]
            pub fn greet(&self) {}
        )),
        "the tool `greet` returns a `ToolResult`"
    );
    assert_eq!(
        refused(quote!(
            #[doc = "Greets."]
            #[tool(slow)]
            pub fn greet(&self) -> ToolResult {}
        )),
        "`#[tool]` takes `name = \"…\"`, `read_only`, `idempotent` and `destructive = true|false`"
    );
}

#[test]
fn all_faults_of_a_block_are_said_at_once() {
    let block = quote!(impl X { pub fn a(&self) -> R {} pub fn b(&self) -> R {} });
    let error = toolset::expand(quote!(), block).unwrap_err();
    assert_eq!(error.into_iter().count(), 2);
}

#[test]
fn blocks_that_are_no_toolset() {
    let refused = |block| toolset::expand(quote!(), block).unwrap_err().to_string();
    assert_eq!(
        refused(quote!(
            impl<T> X<T> {}
        )),
        "a toolset cannot be generic"
    );
    assert_eq!(
        refused(quote!(impl Clone for X {})),
        "`#[toolset]` belongs on an `impl` without a trait"
    );
    let error = toolset::expand(quote!(name = "x"), quote!(impl X {})).unwrap_err();
    assert_eq!(error.to_string(), "`#[toolset]` takes no options");
}

#[test]
fn unknown_fields_are_refused_unless_something_is_flattened() {
    let expand = |item| arguments::expand(quote!(), item).unwrap().to_string();
    assert!(
        expand(quote!(
            struct A {
                a: u8,
            }
        ))
        .contains("deny_unknown_fields")
    );
    let flat = expand(quote!(
        struct A {
            #[serde(flatten)]
            a: B,
        }
    ));
    assert!(!flat.contains("deny_unknown_fields"));
}
