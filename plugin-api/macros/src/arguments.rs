//! The attribute `#[arguments]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Data, DeriveInput, Error, Fields, parse_quote};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(Error::new_spanned(attribute, "`#[arguments]` takes no options"));
    }
    let mut input: DeriveInput = syn::parse2(item)?;
    let mut attributes = derives(has_closed_fields(&input.data));
    if matches!(input.data, Data::Enum(_)) && !input.attrs.iter().any(renames_all) {
        attributes.push(parse_quote!(#[serde(rename_all = "snake_case")]));
    }
    input.attrs.splice(0..0, attributes);
    Ok(input.into_token_stream())
}

/// The attributes that make a type deserializable and give it a schema.
pub(crate) fn derives(deny_unknown_fields: bool) -> Vec<Attribute> {
    let deny = deny_unknown_fields.then(|| quote!(, deny_unknown_fields));
    vec![
        parse_quote!(#[derive(
            ::repertoire_plugin::__private::serde::Deserialize,
            ::repertoire_plugin::__private::schemars::JsonSchema
        )]),
        parse_quote!(#[serde(crate = "::repertoire_plugin::__private::serde" #deny)]),
        parse_quote!(#[schemars(crate = "::repertoire_plugin::__private::schemars")]),
    ]
}

/// Tells whether an attribute sets `rename_all` for serde or schemars.
fn renames_all(attribute: &Attribute) -> bool {
    ["serde", "schemars"].iter().any(|name| attribute.path().is_ident(name))
        && attribute.to_token_stream().to_string().contains("rename_all")
}

/// Tells whether unknown fields can be refused: serde cannot do so for a type that flattens another.
fn has_closed_fields(data: &Data) -> bool {
    let Data::Struct(data) = data else { return false };
    let Fields::Named(fields) = &data.fields else { return false };
    let is_flat = |attribute: &Attribute| {
        attribute.path().is_ident("serde")
            && attribute.to_token_stream().to_string().contains("flatten")
    };
    !fields.named.iter().any(|field| field.attrs.iter().any(is_flat))
}
