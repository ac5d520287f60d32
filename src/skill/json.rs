//! Conversion of YAML values to JSON, for fields that are kept without being interpreted.

use super::yaml::{Node, Value};

/// Converts the value to JSON. Plain scalars are interpreted by the core schema of YAML 1.2.
pub fn to_json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Scalar { text, plain: true } => plain_to_json(text),
        Value::Scalar { text, plain: false } => text.as_str().into(),
        Value::Sequence(entries) => entries.iter().map(to_json).collect(),
        Value::Mapping(entries) => {
            entries.iter().map(|(key, value)| (key_text(key), to_json(value))).collect()
        }
    }
}

/// Returns the text of a key; a key that is not a scalar is written as JSON.
fn key_text(key: &Node) -> String {
    match &key.value {
        Value::Scalar { text, .. } => text.clone(),
        _ => to_json(key).to_string(),
    }
}

fn plain_to_json(text: &str) -> serde_json::Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return serde_json::Value::Null,
        "true" | "True" | "TRUE" => return true.into(),
        "false" | "False" | "FALSE" => return false.into(),
        _ => {}
    }
    let radix = |prefix, radix| {
        text.strip_prefix(prefix)
            .filter(|digits| !digits.starts_with('+'))
            .and_then(|digits| u64::from_str_radix(digits, radix).ok())
    };
    if let Some(integer) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return integer.into();
    }
    if let Ok(integer) = text.parse::<i64>() {
        return integer.into();
    }
    // Integers beyond 64 bits stay text: as a float they would lose digits.
    let is_float = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b))
        && text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().any(|b| b".eE".contains(&b));
    match text.parse::<f64>() {
        Ok(float) if is_float && float.is_finite() => float.into(),
        _ => text.into(),
    }
}

/// Serialises a JSON map as its text, for formats that are not self-describing.
#[cfg(feature = "snapshot")]
pub(super) mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de, ser};
    use serde_json::{Map, Value};

    pub(in crate::skill) fn serialize<S: Serializer>(
        map: &Map<String, Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&serde_json::to_string(map).map_err(ser::Error::custom)?)
    }

    pub(in crate::skill) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Map<String, Value>, D::Error> {
        serde_json::from_str(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::super::yaml;
    use super::*;

    fn json(text: &str) -> String {
        to_json(&yaml::parse(text, &|at| at).unwrap().root.unwrap()).to_string()
    }

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        let cases = [
            ("[~, null, '', Null, 'null']", r#"[null,null,"",null,"null"]"#),
            ("[true, False, yes, NO, 'true']", r#"[true,false,"yes","NO","true"]"#),
            ("[1, -2, 0x1F, 0o17, 007, 1_000]", r#"[1,-2,31,15,7,"1_000"]"#),
            ("[1.0, 1e3, .5, .inf, .nan, 1.2.3]", r#"[1.0,1000.0,0.5,".inf",".nan","1.2.3"]"#),
            ("[99999999999999999999, 0x, +, '1']", r#"["99999999999999999999","0x","+","1"]"#),
            ("{a: , ? [b] : !!str 1}", r#"{"[\"b\"]":"1","a":null}"#),
            ("a: &x {b: 1}\nc: *x\n<<: *x", r#"{"<<":{"b":1},"a":{"b":1},"c":{"b":1}}"#),
        ];
        for (text, expected) in cases {
            assert_eq!(json(text), expected, "{text}");
        }
    }
}
