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
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
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
        result = TOOLS[params["name"]](**(params.get("arguments") or {}))
        text, is_error = result if isinstance(result, str) else json.dumps(result), False
    except Exception as error:
        text, is_error = f"{type(error).__name__}: {error}", True
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def answer(method, params):
    if method == "initialize":
        server = {"name": "SKILL_NAME", "version": "0.1.0"}
        asked = params.get("protocolVersion")
        version = asked if asked in VERSIONS else VERSIONS[-1]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [describe(name, function) for name, function in TOOLS.items()]}
    if method == "tools/call":
        return call(params)
    return {} if method == "ping" else None


def send(id, **answer):
    print(json.dumps({"jsonrpc": "2.0", "id": id, **answer}), flush=True)


for line in sys.stdin:
    try:
        message = json.loads(line)
        id, method = message.get("id"), message.get("method")
    except (ValueError, AttributeError):
        send(None, error={"code": -32700, "message": "not a message in JSON"})
        continue
    if id is None or method is None:
        continue  # a notification, which has no answer
    result = answer(method, message.get("params") or {})
    if result is None:
        send(id, error={"code": -32601, "message": f"no method `{method}`"})
    else:
        send(id, result=result)
