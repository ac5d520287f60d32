//! The page of `repertoire eval --html`.

use repertoire::eval::{Comparison, Report};

use crate::html::escaped;

pub(crate) fn page(report: &Report, _comparison: Option<&Comparison>) -> String {
    escaped(&report.cases.to_string())
}
