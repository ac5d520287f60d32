#!/usr/bin/env python3
"""Tools of the skill `SKILL_NAME`: an MCP server on standard streams, without dependencies.

Write a function with `@tool`: its documentation is the description, its annotated arguments the
schema, and its result the text for the model. An exception is an error of that call. Standard
output belongs to the protocol: print to `sys.stderr`.
"""
import inspect
import json
import sys

TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}
TOOLS = {}


def tool(function):
    """Adds a function to the tools."""
    TOOLS[function.__name__] = function
    return function


@tool
def greet(name: str, times: int = 1):
    """Greets somebody by name."""
    return "\n".join([f"Hello, {name}!"] * times)


def describe(name, function):
    parameters = inspect.signature(function).parameters.values()
    schema = {
        "type": "object",
        "properties": {one.name: {"type": TYPES.get(one.annotation, "string")} for one in parameters},
        "required": [one.name for one in parameters if one.default is one.empty],
        "additionalProperties": False,
    }
    return {"name": name, "description": inspect.getdoc(function) or "", "inputSchema": schema}


def call(params):
    try:
        result = TOOLS[params["name"]](**params.get("arguments", {}))
        text, is_error = result if isinstance(result, str) else json.dumps(result), False
    except Exception as error:
        text, is_error = f"{type(error).__name__}: {error}", True
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def answer(method, params):
    if method == "initialize":
        server = {"name": "SKILL_NAME", "version": "0.1.0"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [describe(name, function) for name, function in TOOLS.items()]}
    return call(params) if method == "tools/call" else {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
