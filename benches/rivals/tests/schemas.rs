//! The cases of the library's checker of arguments, decided by the crate `jsonschema`.

use serde_json::Value;

/// Returns a problem for each answer of `jsonschema` that is not the one in the case.
fn differences(case: &Value) -> Vec<String> {
    let about = &case["about"];
    let validator = match jsonschema::validator_for(&case["schema"]) {
        Ok(_) if case["invalid"] == true => return vec![format!("{about}: the schema is valid")],
        Err(_) if case["invalid"] == true => return Vec::new(),
        Err(error) => return vec![format!("{about}: {error}")],
        Ok(validator) => validator,
    };
    let values = |key: &str| case[key].as_array().cloned().unwrap_or_default();
    let fits = values("fits").into_iter().map(|value| (value, true));
    let all = fits.chain(values("unfit").into_iter().map(|value| (value, false)));
    let wrong = all.filter(|(value, fits)| validator.is_valid(value) != *fits);
    wrong.map(|(value, fits)| format!("{about}: {value} fits: {}", !fits)).collect()
}

#[test]
fn the_cases_of_the_library_are_decided_alike() -> Result<(), serde_json::Error> {
    let cases = include_str!("../../../crates/worker/src/schema/cases.json");
    let cases: Vec<Value> = serde_json::from_str(cases)?;
    let mut wrong = Vec::new();
    for case in &cases {
        let found = differences(case);
        if case.get("unlike_jsonschema").is_none() {
            wrong.extend(found);
        } else if found.is_empty() {
            wrong.push(format!("{}: it is like `jsonschema`", case["about"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    Ok(())
}
