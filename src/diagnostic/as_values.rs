//! Serialises diagnostics with all their fields, for formats that cannot leave a field out.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Code, Diagnostic};

#[derive(Serialize, Deserialize)]
struct Values<'a> {
    code: &'a str,
    path: Cow<'a, Path>,
    line: usize,
    column: usize,
    message: &'a str,
    help: &'a str,
    span: Option<Range<usize>>,
}

pub(crate) fn serialize<S: Serializer>(
    diagnostics: &[Diagnostic],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(diagnostics.iter().map(|diagnostic| Values {
        code: diagnostic.code.as_str(),
        path: Cow::Borrowed(&diagnostic.path),
        line: diagnostic.line,
        column: diagnostic.column,
        message: &diagnostic.message,
        help: &diagnostic.help,
        span: diagnostic.span.clone(),
    }))
}

pub(crate) fn deserialize<'de, T: FromIterator<Diagnostic>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let all = Vec::<Values<'_>>::deserialize(deserializer)?;
    let diagnostic = |values: Values<'_>| {
        let code = Code::ALL.iter().find(|code| code.as_str() == values.code);
        let code = *code.ok_or_else(|| de::Error::custom("an unknown diagnostic"))?;
        Ok(Diagnostic {
            code,
            severity: code.severity(),
            path: values.path.into_owned(),
            line: values.line,
            column: values.column,
            message: values.message.to_owned(),
            help: values.help.to_owned(),
            span: values.span,
        })
    };
    all.into_iter().map(diagnostic).collect()
}
