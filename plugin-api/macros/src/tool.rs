//! One function of a `#[toolset]` block.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, FnArg, Ident, ImplItemFn, LitBool, LitStr, Pat, PatType, ReturnType, Type,
    parse_quote,
};

use crate::arguments::derives;
use crate::toolset::documentation;

/// Checks a tool's function, strips the attributes that only the macro understands, and generates its
/// registration.
pub(crate) fn registration(function: &mut ImplItemFn) -> syn::Result<TokenStream> {
    check(function)?;
    let description = documentation(&function.attrs);
    let options = Options::take(&mut function.attrs)?;
    let ident = function.sig.ident.clone();
    let name = options.name.unwrap_or_else(|| ident.unraw().to_string());
    let hints = options.hints;
    function.attrs.push(lint_exceptions());
    let cfgs: Vec<_> =
        function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();

    let mut fields = Vec::new();
    let mut passed = Vec::new();
    for input in function.sig.inputs.iter_mut().skip(1) {
        let FnArg::Typed(parameter) = input else { continue };
        if is_context(&parameter.ty) {
            passed.push(quote!(cx));
            continue;
        }
        let field = field_name(parameter)?;
        let attributes = take_attributes(parameter)?;
        let ty = &parameter.ty;
        if matches!(**ty, Type::Reference(_) | Type::ImplTrait(_)) {
            return Err(Error::new_spanned(
                ty,
                "a tool's arguments are owned: write `String` for `&str`, `Vec<T>` for `&[T]` \
                 (the only reference is `&ToolContext`)",
            ));
        }
        fields.push(quote!(#(#attributes)* #field: #ty));
        passed.push(quote!(arguments.#field));
    }

    let derives = derives(true);
    let arguments = format_ident!("Arguments");
    // Use the author's span, so that a wrong return type is reported at the function.
    let call = quote_spanned! {function.sig.output.span()=>
        let output = Self::#ident(this, #(#passed),*)?;
        ::std::result::Result::Ok(output)
    };
    Ok(quote! {
        #(#cfgs)*
        {
            #(#derives)*
            struct #arguments { #(#fields),* }

            tools
                .tool(#name, #description, |this: &Self, arguments: #arguments, cx| {
                    let _ = (&arguments, cx);
                    #call
                })
                #(#hints)*;
        }
    })
}

/// Returns an attribute that allows the lints which the signature of a tool may break.
pub(crate) fn lint_exceptions() -> Attribute {
    parse_quote!(#[allow(
        clippy::needless_pass_by_value,
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "a tool takes what it owns and returns a result"
    )])
}

fn check(function: &ImplItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    let ident = &signature.ident;
    if let Some(asyncness) = &signature.asyncness {
        return Err(Error::new_spanned(
            asyncness,
            format!(
                "the tool `{ident}` cannot be `async`: a plugin has its own copy of the async runtime \
                 and does not see the host's; use `repertoire_plugin::block_on` inside (feature \
                 `block-on`)"
            ),
        ));
    }
    if documentation(&function.attrs).is_empty() {
        return Err(Error::new_spanned(
            ident,
            format!(
                "the tool `{ident}` has no doc comment: it is the description by which the model \
                 chooses the tool (a helper is not `pub`)"
            ),
        ));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &signature.generics,
            format!("the tool `{ident}` cannot be generic: its arguments have one schema"),
        ));
    }
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver))
            if receiver.reference.is_some() && receiver.mutability.is_none() => {}
        Some(FnArg::Receiver(receiver)) => {
            return Err(Error::new_spanned(
                receiver,
                format!(
                    "the tool `{ident}` takes `&self`: tools run at the same time, so keep what \
                     changes in a `Mutex`"
                ),
            ));
        }
        _ => {
            return Err(Error::new_spanned(
                ident,
                format!("the tool `{ident}` takes `&self` first (a helper is not `pub`)"),
            ));
        }
    }
    if matches!(signature.output, ReturnType::Default) {
        return Err(Error::new_spanned(
            ident,
            format!("the tool `{ident}` returns a `ToolResult`"),
        ));
    }
    Ok(())
}

fn is_context(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    let Type::Path(path) = &*reference.elem else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == "ToolContext")
}

fn field_name(parameter: &PatType) -> syn::Result<Ident> {
    match &*parameter.pat {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
            Ok(pattern.ident.clone())
        }
        pattern => Err(Error::new_spanned(pattern, "a tool's parameter is a plain name")),
    }
}

/// Takes the attributes of a parameter, to move them to the generated field: rustc rejects them on
/// parameters.
fn take_attributes(parameter: &mut PatType) -> syn::Result<Vec<Attribute>> {
    let is_ours = |attribute: &Attribute| {
        ["doc", "serde", "schemars"].iter().any(|name| attribute.path().is_ident(name))
    };
    if let Some(other) = parameter.attrs.iter().find(|attribute| !is_ours(attribute)) {
        return Err(Error::new_spanned(
            other,
            "a tool's parameter takes doc comments, `#[serde(…)]` and `#[schemars(…)]`",
        ));
    }
    Ok(std::mem::take(&mut parameter.attrs))
}

/// The options in `#[tool(…)]`.
#[derive(Default)]
struct Options {
    name: Option<String>,
    hints: Vec<TokenStream>,
}

impl Options {
    fn take(attributes: &mut Vec<Attribute>) -> syn::Result<Self> {
        let mut options = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("tool")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("name") {
                    options.name = Some(meta.value()?.parse::<LitStr>()?.value());
                } else if meta.path.is_ident("read_only") {
                    options.hints.push(quote!(.read_only()));
                } else if meta.path.is_ident("idempotent") {
                    options.hints.push(quote!(.idempotent()));
                } else if meta.path.is_ident("destructive") {
                    let is_destructive: LitBool = meta.value()?.parse()?;
                    options.hints.push(quote!(.destructive(#is_destructive)));
                } else {
                    return Err(meta.error(
                        "`#[tool]` takes `name = \"…\"`, `read_only`, `idempotent` and \
                         `destructive = true|false`",
                    ));
                }
                Ok(())
            })?;
        }
        attributes.retain(|attribute| !attribute.path().is_ident("tool"));
        Ok(options)
    }
}
