//! The author's view: schemas, argument errors, and three ways to write one tool.
#![expect(unreachable_pub, reason = "a tool is `pub`, wherever its toolset is")]
#![expect(clippy::unwrap_used, reason = "tests")]

mod three_ways;

use std::collections::BTreeMap;

use repertoire_plugin::prelude::*;
use repertoire_plugin::{ErrorCode, ToolsetDescription, describe, serde_json};

fn parameters_of<T: Toolset>(tool: &str) -> Value {
    let tools = describe::<T>().unwrap().tools;
    tools.into_iter().find(|spec| spec.name == tool).unwrap().parameters
}

fn error_of<T: Toolset>(toolset: &T, tool: &str, arguments: Value) -> String {
    let error = FakeHost::new().call(toolset, tool, arguments).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArguments);
    error.message().to_owned()
}

/// A point.
#[arguments]
struct Point {
    /// Left to right
    x: f64,
    y: f64,
}

// The variants are named as models write them, without an attribute from the author.
#[arguments]
enum Colour {
    Red,
    Green,
}

#[arguments]
#[serde(rename_all = "UPPERCASE")]
enum Loud {
    VeryRed,
}

struct Shapes;

/// Shapes of arguments.
#[toolset]
impl Shapes {
    fn create() -> ToolResult<Self> {
        Ok(Self)
    }

    /// No arguments.
    pub fn nothing(&self) -> ToolResult<&'static str> {
        Ok("nothing")
    }

    /// Only the context.
    pub fn context(&self, cx: &ToolContext) -> ToolResult<Value> {
        Ok(json!({"cancelled": cx.is_cancelled()}))
    }

    /// Nested types.
    pub fn draw(
        &self,
        points: Vec<Point>,
        colour: Colour,
        #[serde(default = "two")] width: u8,
        title: Option<String>,
        extra: BTreeMap<String, i64>,
    ) -> ToolResult<String> {
        let sum: f64 = points.iter().map(|point| point.x + point.y).sum();
        let colour = if matches!(colour, Colour::Red) { "red" } else { "green" };
        Ok(format!("{sum} {colour} {width} {title:?} {}", extra.len()))
    }

    /// Any JSON, a keyword as its name, and another error type.
    #[tool(name = "any", destructive = false, idempotent)]
    pub fn anything(&self, value: Value, mut r#type: String) -> Result<Value, std::fmt::Error> {
        r#type.push('!');
        if value.is_null() { Err(std::fmt::Error) } else { Ok(json!([value, r#type])) }
    }

    /// Not there.
    #[cfg(any())]
    pub fn disabled(&self) -> ToolResult {
        Ok("".into())
    }

    fn _helper() {}
}

fn two() -> u8 {
    2
}

#[test]
fn schemas_have_what_providers_take_and_nothing_else() {
    let empty = json!({"type": "object", "properties": {}, "additionalProperties": false});
    assert_eq!(parameters_of::<Shapes>("nothing"), empty);
    assert_eq!(parameters_of::<Shapes>("context"), empty);
    assert_eq!(
        parameters_of::<Shapes>("draw"),
        json!({
            "type": "object",
            "properties": {
                "points": {"type": "array", "items": {
                    "description": "A point.",
                    "type": "object",
                    "properties": {
                        "x": {"type": "number", "description": "Left to right"},
                        "y": {"type": "number"},
                    },
                    "required": ["x", "y"],
                    "additionalProperties": false,
                }},
                "colour": {"type": "string", "enum": ["red", "green"]},
                "width": {"type": "integer", "minimum": 0, "maximum": 255, "default": 2},
                "title": {"type": ["string", "null"]},
                "extra": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
            "required": ["points", "colour", "extra"],
            "additionalProperties": false,
        })
    );
    assert_eq!(
        parameters_of::<Shapes>("any"),
        json!({
            "type": "object",
            "properties": {"value": {}, "type": {"type": "string"}},
            "required": ["value", "type"],
            "additionalProperties": false,
        })
    );
    let names = describe::<Shapes>().unwrap().tools.into_iter().map(|tool| tool.name);
    assert_eq!(names.collect::<Vec<_>>(), ["nothing", "context", "draw", "any"]);
}

#[test]
fn variants_have_the_names_that_the_author_gives_them() {
    use repertoire_plugin::schemars::schema_for;
    assert_eq!(schema_for!(Loud).to_value()["enum"], json!(["VERYRED"]));
    assert_eq!(schema_for!(Colour).to_value()["enum"], json!(["red", "green"]));
}

#[test]
fn argument_errors_name_the_path_and_what_is_expected() {
    let takes = "; `draw` takes `colour` (\"red\" or \"green\"), `extra` (object), `points` (array), \
                 `title` (string, optional), `width` (integer, optional)";
    let message = |arguments: Value| {
        let message = error_of(&Shapes, "draw", arguments);
        message.strip_suffix(takes).unwrap_or_else(|| panic!("{message}")).to_owned()
    };
    let good =
        json!({"points": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "colour": "red", "extra": {}});
    let with = |pointer: &str, value: Value| {
        let mut arguments = good.clone();
        *arguments.pointer_mut(pointer).unwrap() = value;
        arguments
    };
    assert_eq!(
        message(with("/points/1/y", json!("four"))),
        "argument `points[1].y`: invalid type: string \"four\", expected f64"
    );
    assert_eq!(
        message(with("/colour", json!("blue"))),
        "argument `colour`: unknown variant `blue`, expected `red` or `green`"
    );
    assert_eq!(
        message(with("/points/0", json!({"x": 1}))),
        "argument `points[0]`: missing field `y`"
    );
    assert_eq!(message(json!({})), "missing field `points`");
    let mut unknown = good.clone();
    unknown["color"] = json!("red");
    assert!(message(unknown).contains("unknown field `color`, expected one of `points`"));
    assert_eq!(message(json!([[], "red"])), "the arguments are not a JSON object");
    assert_eq!(message(json!("points")), "the arguments are not a JSON object");
    let output = FakeHost::new().call(&Shapes, "draw", good).unwrap();
    assert_eq!(output.output, "10 red 2 None 0");
}

#[test]
fn no_arguments_may_be_left_out_and_others_are_refused() {
    let host = FakeHost::new();
    assert_eq!(host.call(&Shapes, "nothing", Value::Null).unwrap().output, "nothing");
    assert_eq!(
        host.call(&Shapes, "context", json!({})).unwrap().output,
        "{\n  \"cancelled\": false\n}"
    );
    assert_eq!(
        error_of(&Shapes, "nothing", json!({"a": 1})),
        "argument `a`: unknown field `a`, there are no fields; `nothing` takes no arguments"
    );
    let error = host.call(&Shapes, "any", json!({"value": null, "type": "x"})).unwrap_err();
    assert!(error.message().contains("error"), "{}", error.message());
    let error = host.call(&Shapes, "none", json!({})).unwrap_err();
    assert_eq!(error.code(), ErrorCode::UnknownTool);
}

#[test]
fn tools_that_providers_would_refuse_are_found() {
    struct Bad;
    impl Toolset for Bad {
        fn create(_: Value) -> ToolResult<Self> {
            Ok(Self)
        }

        fn tools(tools: &mut Tools<Self>) {
            tools.tool("text", "Takes no object.", |_, text: String, _| Ok(text));
        }
    }
    struct Spaced;
    impl Toolset for Spaced {
        fn create(_: Value) -> ToolResult<Self> {
            Ok(Self)
        }

        fn tools(tools: &mut Tools<Self>) {
            tools.tool("say hello", "Says hello.", |_, _: NoArguments, _| Ok("hello"));
        }
    }
    assert_eq!(
        describe::<Bad>().unwrap_err().message(),
        "the arguments of the tool `text` are not an object with named fields"
    );
    assert_eq!(
        describe::<Spaced>().unwrap_err().message(),
        "the tool name \"say hello\" is not 1 to 64 of A-Z a-z 0-9 _ -"
    );
}

#[test]
fn any_error_becomes_a_tool_error() {
    fn failing(step: u8) -> ToolResult<()> {
        match step {
            0 => Err(std::io::Error::other("disk full"))?,
            1 => Err("a text")?,
            2 => Err(format!("a {}", "string"))?,
            _ => Err(ToolError::cancelled())?,
        }
        Ok(())
    }
    let messages = (0..4).map(|step| failing(step).unwrap_err().message().to_owned());
    let messages: Vec<_> = messages.collect();
    assert_eq!(messages, ["disk full", "a text", "a string", "cancelled"]);
    assert_eq!(failing(3).unwrap_err().code(), ErrorCode::Cancelled);
}

#[test]
fn progress_is_between_nothing_and_all() {
    let host = FakeHost::new().with_answer("clock", json!(12));
    let cx = host.context();
    for fraction in [-1.0, 0.5, 7.0, f64::NAN] {
        cx.progress(fraction, "x");
    }
    let fractions: Vec<_> = host.progress_reports().into_iter().map(|(f, _)| f).collect();
    assert_eq!(fractions, [0.0, 0.5, 1.0, 0.0]);
    assert_eq!(cx.request("clock", Value::Null).unwrap(), 12);
    assert!(cx.request("date", Value::Null).is_err());
    assert_eq!(cx.skill_dir().unwrap_err().message(), "the host names no skill directory");
}

#[cfg(feature = "block-on")]
#[test]
fn futures_run_on_the_plugins_own_runtime() {
    async fn later(number: u32) -> u32 {
        tokio::task::yield_now().await;
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        number
    }
    let answer = || block_on(async { Ok(later("42".parse()?).await) });
    assert_eq!(answer().unwrap(), 42);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(answer().unwrap(), 42));
        }
    });
}
