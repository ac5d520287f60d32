//! Names that a misspelt one may stand for.

/// The least likeness, by Jaro and Winkler, of two names of which one may be a misspelling of the other.
const LEAST_LIKENESS: f64 = 0.8;

/// Returns the one of `known` that `name` may be a misspelling of. In short names, two letters that changed
/// places make them unlike.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let likeness = |known: &str| {
        let known = known.to_lowercase();
        let is_one_off = name.len() > 2 && strsim::osa_distance(&known, &name) == 1;
        strsim::jaro_winkler(&known, &name).max(if is_one_off { 0.9 } else { 0.0 })
    };
    let scored = known.into_iter().map(|known| (likeness(known), known));
    let near = scored.filter(|(near, _)| *near > LEAST_LIKENESS);
    near.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}
