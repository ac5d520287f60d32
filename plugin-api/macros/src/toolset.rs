//! The expansion of `#[toolset]` on an `impl` block.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, Expr, ImplItem, ImplItemFn, ItemImpl, Lit, Meta, Visibility};

use crate::tool;

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(Error::new_spanned(attribute, "`#[toolset]` takes no options"));
    }
    let mut block: ItemImpl = syn::parse2(item)?;
    if let Some((_, path, _)) = &block.trait_ {
        return Err(Error::new_spanned(path, "`#[toolset]` belongs on an `impl` without a trait"));
    }
    if !block.generics.params.is_empty() {
        return Err(Error::new_spanned(&block.generics, "a toolset cannot be generic"));
    }

    let mut errors: Option<Error> = None;
    let mut registrations = Vec::new();
    let mut create = None;
    for item in &mut block.items {
        let ImplItem::Fn(function) = item else { continue };
        if function.sig.ident == "create" && function.sig.receiver().is_none() {
            create = Some(creation(function));
            function.attrs.push(tool::lint_exceptions());
            continue;
        }
        if !matches!(function.vis, Visibility::Public(_)) {
            continue;
        }
        match tool::registration(function) {
            Ok(registration) => registrations.push(registration),
            Err(error) => match &mut errors {
                Some(errors) => errors.combine(error),
                None => errors = Some(error),
            },
        }
    }
    if let Some(errors) = errors {
        return Err(errors);
    }

    let this = &block.self_ty;
    let description = documentation(&block.attrs);
    let create = create.unwrap_or_else(|| quote!(::repertoire_plugin::create_default(config)));
    Ok(quote! {
        #block

        const _: () = {
            impl ::repertoire_plugin::Toolset for #this {
                fn description() -> ::std::string::String {
                    ::std::string::String::from(#description)
                }

                fn create(
                    config: ::repertoire_plugin::__private::serde_json::Value,
                ) -> ::repertoire_plugin::ToolResult<Self> {
                    #create
                }

                fn tools(tools: &mut ::repertoire_plugin::Tools<Self>) {
                    #(#registrations)*
                }
            }
        };
    })
}

/// Generates the trait's `create`, which calls the author's.
fn creation(function: &ImplItemFn) -> TokenStream {
    let span = function.sig.ident.span();
    if function.sig.asyncness.is_some() {
        return Error::new(span, "`create` cannot be async: it blocks, as tools do")
            .into_compile_error();
    }
    match function.sig.inputs.len() {
        0 => quote! {{
            ::repertoire_plugin::create_default::<()>(config)?;
            let made = Self::create()?;
            ::std::result::Result::Ok(made)
        }},
        1 => quote! {
            let made = Self::create(::repertoire_plugin::__private::parse_config(config)?)?;
            ::std::result::Result::Ok(made)
        },
        _ => {
            Error::new(span, "`create` takes one parameter, the configuration").into_compile_error()
        }
    }
}

/// Returns the text of the doc comments.
pub(crate) fn documentation(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes {
        let Meta::NameValue(pair) = &attribute.meta else { continue };
        let Expr::Lit(value) = &pair.value else { continue };
        let Lit::Str(text) = &value.lit else { continue };
        if pair.path.is_ident("doc") {
            let text = text.value();
            for line in text.lines() {
                lines.push(line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned());
            }
            if text.is_empty() {
                lines.push(String::new());
            }
        }
    }
    lines.join("\n").trim().to_owned()
}
