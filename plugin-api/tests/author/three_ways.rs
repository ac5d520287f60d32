//! Three ways to write one tool.

use super::*;

mod by_macro {
    use repertoire_plugin::prelude::*;

    #[derive(Default)]
    pub(crate) struct Greeter;

    /// Greets.
    #[toolset]
    impl Greeter {
        /// Greets somebody.
        ///
        /// More than once, if asked.
        #[tool(read_only)]
        pub fn greet(
            &self,
            /** Who to greet */
            name: String,
            #[schemars(range(min = 1, max = 5))] times: Option<u32>,
        ) -> ToolResult {
            Ok(super::greeting(&name, times).into())
        }
    }
}

mod by_builder {
    use repertoire_plugin::prelude::*;

    pub(crate) struct Greeter;

    #[arguments]
    struct Greet {
        /// Who to greet
        name: String,
        #[schemars(range(min = 1, max = 5))]
        times: Option<u32>,
    }

    impl Toolset for Greeter {
        fn description() -> String {
            "Greets.".into()
        }

        fn create(_: Value) -> ToolResult<Self> {
            Ok(Self)
        }

        fn tools(tools: &mut Tools<Self>) {
            let description = "Greets somebody.\n\nMore than once, if asked.";
            let greet = |_: &Self, Greet { name, times }, _: &ToolContext<'_>| {
                Ok(super::greeting(&name, times))
            };
            tools.tool("greet", description, greet).read_only();
        }
    }
}

mod by_hand {
    use repertoire_plugin::prelude::*;

    pub(crate) struct Greeter;

    impl Toolset for Greeter {
        fn description() -> String {
            "Greets.".into()
        }

        fn create(_: Value) -> ToolResult<Self> {
            Ok(Self)
        }

        fn tools(tools: &mut Tools<Self>) {
            let description = "Greets somebody.\n\nMore than once, if asked.";
            let call = |_: &Self, arguments: Value, _: &ToolContext<'_>| {
                let name = arguments["name"].as_str().ok_or("missing field `name`")?;
                let times = arguments["times"].as_u64().map(|times| times as u32);
                Ok(super::greeting(name, times).into())
            };
            tools.raw("greet", description, super::parameters(), call).read_only();
        }
    }
}

fn greeting(name: &str, times: Option<u32>) -> String {
    format!("Hello, {name}!").repeat(times.unwrap_or(1) as usize)
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Who to greet"},
            "times": {"type": ["integer", "null"], "minimum": 1, "maximum": 5},
        },
        "required": ["name"],
        "additionalProperties": false,
    })
}

#[test]
fn three_ways_to_write_a_tool_are_the_same_tool() {
    let expected = json!({
        "class": "Greeter",
        "description": "Greets.",
        "tools": [{
            "name": "greet",
            "description": "Greets somebody.\n\nMore than once, if asked.",
            "parameters": parameters(),
            "annotations": {"readOnlyHint": true},
        }],
    });
    let json = |description| serde_json_of(&description);
    assert_eq!(json(describe::<by_macro::Greeter>().unwrap()), expected);
    assert_eq!(json(describe::<by_builder::Greeter>().unwrap()), expected);
    assert_eq!(json(describe::<by_hand::Greeter>().unwrap()), expected);

    for arguments in [json!({"name": "Ada"}), json!({"name": "Ada", "times": 2})] {
        let host = FakeHost::new();
        let call = |result: ToolResult| result.unwrap();
        let first = call(host.call(&by_macro::Greeter, "greet", arguments.clone()));
        assert_eq!(first, call(host.call(&by_builder::Greeter, "greet", arguments.clone())));
        assert_eq!(first, call(host.call(&by_hand::Greeter, "greet", arguments)));
    }
}

fn serde_json_of(description: &ToolsetDescription) -> Value {
    serde_json::to_value(description).unwrap()
}
