//! A toolset, and the list of its tools.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::arguments;
use crate::{
    ErrorCode, ToolContext, ToolError, ToolOutput, ToolResult, ToolSpec, ToolsetDescription, schema,
};

/// A named group of tools.
///
/// [`#[toolset]`](macro@crate::toolset) implements this trait from an `impl` block. Without the macro
/// it takes about ten lines:
///
/// ```
/// use repertoire_plugin::prelude::*;
///
/// struct Counter {
///     start: i64,
/// }
///
/// /// What `add` takes.
/// #[arguments]
/// struct Add {
///     /// How much to add.
///     by: i64,
/// }
///
/// impl Toolset for Counter {
///     fn create(config: Value) -> ToolResult<Self> {
///         Ok(Self { start: config["start"].as_i64().unwrap_or(0) })
///     }
///
///     fn tools(tools: &mut Tools<Self>) {
///         tools.tool("add", "Adds to the start.", |this: &Self, args: Add, _| {
///             Ok(format!("{}", this.start + args.by))
///         });
///         let parameters = json!({"type": "object", "properties": {"text": {"type": "string"}}});
///         tools.raw("echo", "Repeats a text.", parameters, |_, args: Value, _| {
///             Ok(args["text"].as_str().unwrap_or("nothing").into())
///         });
///     }
/// }
/// export_toolsets!(Counter);
///
/// let output = FakeHost::new().call(&Counter { start: 40 }, "add", json!({"by": 2})).unwrap();
/// assert_eq!(output.output, "42");
/// ```
pub trait Toolset: Sized + Send + Sync + 'static {
    /// Returns the purpose of the toolset.
    fn description() -> String {
        String::new()
    }

    /// Creates the toolset. `config` is the skill's configuration for it, or `{}` if there is none.
    ///
    /// A type that takes no configuration can write [`create_default(config)`](create_default).
    fn create(config: Value) -> ToolResult<Self>;

    /// Adds the tools.
    fn tools(tools: &mut Tools<Self>);
}

/// Creates a toolset that takes no configuration; any configuration except `{}` is an error.
pub fn create_default<T: Default>(config: Value) -> ToolResult<T> {
    match config {
        Value::Null => Ok(T::default()),
        Value::Object(map) if map.is_empty() => Ok(T::default()),
        config => Err(ToolError::invalid_arguments(format!(
            "the toolset takes no configuration, but was given {config}"
        ))),
    }
}

/// Returns the description of a toolset, which a host shows to a model.
///
/// # Errors
///
/// Fails if two tools have the same name, if a provider would refuse a name, or if parameters are not
/// an object.
pub fn describe<T: Toolset>() -> ToolResult<ToolsetDescription> {
    tools_of::<T>().description()
}

pub(crate) fn tools_of<T: Toolset>() -> Tools<T> {
    let mut tools = Tools { tools: Vec::new() };
    T::tools(&mut tools);
    tools
}

/// Returns the name of the type, without its path.
pub(crate) fn class_of<T>() -> &'static str {
    let path = std::any::type_name::<T>();
    let path = path.split('<').next().unwrap_or(path);
    path.rsplit("::").next().unwrap_or(path)
}

/// The list to which a toolset adds its tools.
pub struct Tools<T> {
    tools: Vec<Tool<T>>,
}

type Call<T> = dyn Fn(&T, &str, &ToolSpec, &ToolContext<'_>) -> ToolResult + Send + Sync;

/// A tool that was just added, for setting its hints.
pub struct Tool<T> {
    spec: ToolSpec,
    call: Box<Call<T>>,
}

impl<T: Toolset> Tools<T> {
    /// Adds a tool with typed arguments. The model sees their JSON Schema, with the doc comments of the
    /// fields as descriptions. Use [`NoArguments`](crate::NoArguments) for a tool without arguments.
    pub fn tool<A, R>(
        &mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        call: impl Fn(&T, A, &ToolContext<'_>) -> ToolResult<R> + Send + Sync + 'static,
    ) -> &mut Tool<T>
    where
        A: DeserializeOwned + JsonSchema,
        R: Into<ToolOutput>,
    {
        let call = move |this: &T, text: &str, spec: &ToolSpec, cx: &ToolContext<'_>| {
            let arguments = arguments::parse(text, spec)?;
            call(this, arguments, cx).map(Into::into)
        };
        self.add(name.into(), description.into(), schema::parameters_of::<A>(), Box::new(call))
    }

    /// Adds a tool whose JSON Schema is written by hand or built at run time. The arguments arrive
    /// unchecked: it is the host that compares them with the schema.
    pub fn raw(
        &mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: Value,
        call: impl Fn(&T, Value, &ToolContext<'_>) -> ToolResult + Send + Sync + 'static,
    ) -> &mut Tool<T> {
        let call = move |this: &T, text: &str, spec: &ToolSpec, cx: &ToolContext<'_>| {
            call(this, arguments::parse(text, spec)?, cx)
        };
        self.add(name.into(), description.into(), parameters, Box::new(call))
    }

    fn add(
        &mut self,
        name: String,
        description: String,
        parameters: Value,
        call: Box<Call<T>>,
    ) -> &mut Tool<T> {
        let spec = ToolSpec { name, description, parameters, annotations: Map::new() };
        let idx = self.tools.len();
        self.tools.push(Tool { spec, call });
        &mut self.tools[idx]
    }

    pub(crate) fn description(&self) -> ToolResult<ToolsetDescription> {
        let description = ToolsetDescription {
            class: class_of::<T>().to_owned(),
            description: T::description(),
            tools: self.tools.iter().map(|tool| tool.spec.clone()).collect(),
        };
        description.check()?;
        Ok(description)
    }

    pub(crate) fn call(
        &self,
        this: &T,
        tool: &str,
        arguments: &str,
        cx: &ToolContext<'_>,
    ) -> ToolResult {
        let Some(found) = self.tools.iter().find(|candidate| candidate.spec.name == tool) else {
            let names = self.tools.iter().map(|tool| tool.spec.name.as_str()).collect::<Vec<_>>();
            return Err(ToolError::with_code(
                ErrorCode::UnknownTool,
                format!("no tool is named `{tool}`; there are: {}", names.join(", ")),
            ));
        };
        (found.call)(this, arguments, &found.spec, cx)
    }
}

impl<T> Tool<T> {
    /// Tells the host that the tool changes nothing.
    pub fn read_only(&mut self) -> &mut Self {
        self.annotate("readOnlyHint", true)
    }

    /// Tells the host that a second call with the same arguments changes nothing more.
    pub fn idempotent(&mut self) -> &mut Self {
        self.annotate("idempotentHint", true)
    }

    /// Tells the host whether the tool can destroy something.
    pub fn destructive(&mut self, is_destructive: bool) -> &mut Self {
        self.annotate("destructiveHint", is_destructive)
    }

    /// Adds any other hint for the host.
    pub fn annotate(&mut self, key: impl Into<String>, value: impl Into<Value>) -> &mut Self {
        self.spec.annotations.insert(key.into(), value.into());
        self
    }
}
