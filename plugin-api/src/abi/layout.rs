//! The differences between two ABI layouts, summed up in one line.

use std::fmt::Write;

use abi_stable::abi_stability::abi_checking::AbiInstabilityError;
use abi_stable::abi_stability::abi_checking::check_layout_compatibility;
use abi_stable::abi_stability::abi_checking::{AbiInstability, AbiInstabilityErrors};
use abi_stable::type_layout::TLFieldOrFunction;
use abi_stable::type_layout::TypeLayout;

/// Compares the layouts of the host and of a plugin. Either may be of a later minor version: it must
/// then have everything that the earlier one has, at the same offsets, and may have more after it.
///
/// `abi_stable` accepts additions on one side only, because in its model one side implements the
/// interfaces. Here each side implements some: the host its callbacks, the plugin its toolsets.
pub(crate) fn compare(
    ours: &'static TypeLayout,
    theirs: &'static TypeLayout,
) -> Result<(), AbiInstabilityErrors> {
    check_layout_compatibility(ours, theirs)
        .or_else(|errors| check_layout_compatibility(theirs, ours).map_err(|_| errors))
}

/// More differences would not help: the remedy is the same.
const MAX_DIFFERENCES: usize = 3;

/// Returns a short summary of the differences: `abi_stable`'s own text is tens of kilobytes long.
pub(crate) fn summary(errors: &AbiInstabilityErrors) -> String {
    let mut differences: Vec<String> = Vec::new();
    for error in &errors.errors {
        let name = place(error, errors.interface);
        let said = error.errs.iter().map(difference).collect::<Vec<_>>().join(", ");
        let line = format!("{name}: {said}");
        if !said.is_empty() && !differences.contains(&line) {
            differences.push(line);
        }
    }
    let more = differences.len().saturating_sub(MAX_DIFFERENCES);
    differences.truncate(MAX_DIFFERENCES);
    let mut text = differences.join("; ");
    if more > 0 {
        let _ = write!(text, "; and {more} more");
    }
    text
}

fn place(error: &AbiInstabilityError, root: &TypeLayout) -> String {
    match error.stack_trace.last().map(|step| &step.expected) {
        Some(TLFieldOrFunction::Field(field)) => field.layout().name().to_owned(),
        Some(TLFieldOrFunction::Function(_)) => "a function".to_owned(),
        None => root.name().to_owned(),
    }
}

fn difference(error: &AbiInstability) -> String {
    use AbiInstability as A;
    match error {
        A::Size(sides) => format!("{} bytes here, {} there", sides.expected, sides.found),
        A::Alignment(sides) => format!("aligned to {} here, {} there", sides.expected, sides.found),
        A::FieldCountMismatch(sides) => {
            format!("{} fields here, {} there", sides.expected, sides.found)
        }
        A::UnexpectedField(sides) => {
            format!("the field `{}` here, `{}` there", sides.expected.name(), sides.found.name())
        }
        A::Name(sides) => format!("`{}` here, `{}` there", sides.expected, sides.found),
        A::Package(sides) => format!("of `{}` here, of `{}` there", sides.expected, sides.found),
        A::PackageVersion(sides) => {
            format!("version {} here, {} there", sides.expected, sides.found)
        }
        A::MismatchedPrefixSize(sides) => {
            format!("{} first fields here, {} there", sides.expected, sides.found)
        }
        _ => "another shape".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{compare, summary};
    use crate::abi::types::{RError, ROutput};
    use abi_stable::StableAbi;

    /// The same types, as another version might define them.
    mod other {
        use abi_stable::StableAbi;
        use abi_stable::std_types::RString;

        #[repr(C)]
        #[derive(StableAbi)]
        pub(super) struct ROutput {
            title: RString,
            metadata: RString,
            output: RString,
            pictures: RString,
        }

        #[repr(C)]
        #[derive(StableAbi)]
        pub(super) struct RError {
            number: u32,
            message: RString,
        }
    }

    #[test]
    fn differences_are_one_line() {
        let differences = |ours, theirs| summary(&compare(ours, theirs).unwrap_err());
        assert_eq!(
            differences(ROutput::LAYOUT, other::ROutput::LAYOUT),
            "ROutput: 96 bytes here, 128 there, 3 fields here, 4 there"
        );
        assert_eq!(
            differences(RError::LAYOUT, other::RError::LAYOUT),
            "RError: the field `code` here, `number` there"
        );
        assert_eq!(
            differences(RError::LAYOUT, ROutput::LAYOUT),
            "RError: `RError` here, `ROutput` there"
        );
    }
}
