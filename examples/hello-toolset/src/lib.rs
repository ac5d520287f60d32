//! The example plugin: every way a tool can be written, and every way it can end.
#![forbid(unsafe_code)]

use std::thread;
use std::time::Duration;

use repertoire_plugin::prelude::*;

/// Greets; made by the macro, configured by `{"greeting": "…"}`.
pub struct HelloToolset {
    greeting: String,
}

/// Friendly greetings, and all the ways a call can end.
#[toolset]
impl HelloToolset {
    fn create(config: Value) -> ToolResult<Self> {
        Ok(Self { greeting: config["greeting"].as_str().unwrap_or("Hello").to_owned() })
    }

    /// Greets somebody by name.
    #[tool(read_only, idempotent)]
    pub fn greet(
        &self,
        /** Who to greet */
        name: String,
        /** How often, once by default */
        times: Option<u32>,
    ) -> ToolResult {
        if name.trim().is_empty() {
            return Err(ToolError::invalid_arguments("nobody to greet: `name` is empty"));
        }
        let times = times.unwrap_or(1).min(100) as usize;
        let text = vec![format!("{}, {name}!", self.greeting); times].join("\n");
        Ok(ToolOutput::text(text).title(format!("Greeted {name}")).meta("times", times))
    }

    /// Fails: divides by zero, or whatever else is asked.
    pub fn divide(&self, dividend: i64, divisor: i64) -> ToolResult {
        let quotient = dividend.checked_div(divisor).ok_or("cannot divide by zero")?;
        Ok(quotient.to_string().into())
    }

    /// Panics on request, to show that this is only the call's error.
    #[expect(clippy::panic, reason = "on request")]
    pub fn panic(&self, message: String) -> ToolResult {
        panic!("{message}")
    }

    /// Counts slowly, reports its progress, and stops when it is cancelled.
    pub fn count(
        &self,
        /** How far to count */
        to: u32,
        /** Milliseconds between two numbers */
        #[serde(default)]
        pause: u64,
        cx: &ToolContext,
    ) -> ToolResult {
        cx.log(LogLevel::Info, format!("counting to {to}"));
        for number in 1..=to {
            cx.check()?;
            cx.progress(f64::from(number) / f64::from(to), format!("{number} of {to}"));
            thread::sleep(Duration::from_millis(pause));
        }
        Ok(format!("counted to {to}").into())
    }
}

/// Tells moods; made without the macro.
#[derive(Default)]
pub struct MoodToolset;

/// What `mood` takes.
#[arguments]
struct Mood {
    /// Who is asked.
    name: String,
    /// The hour of the day.
    #[schemars(range(max = 23))]
    hour: u8,
}

impl Toolset for MoodToolset {
    fn description() -> String {
        "How somebody feels.".to_owned()
    }

    fn create(config: Value) -> ToolResult<Self> {
        create_default(config)
    }

    fn tools(tools: &mut Tools<Self>) {
        tools.tool("mood", "Tells the mood of somebody.", |_, Mood { name, hour }, _| {
            Ok(format!("{name} is {}.", if hour < 9 { "sleepy" } else { "cheerful" }))
        });
        let parameters = json!({
            "type": "object",
            "properties": {"words": {"type": "array", "items": {"type": "string"}}},
            "required": ["words"],
            "additionalProperties": false,
        });
        let hint = "Joins words, as a generated tool would.";
        tools.raw("join", hint, parameters, |_, arguments, _| {
            let words = arguments["words"].as_array().ok_or("`words` is not a list")?;
            Ok(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ").into())
        });
    }
}

export_toolsets!(HelloToolset, MoodToolset);

#[cfg(test)]
mod tests;
