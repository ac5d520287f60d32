#!/usr/bin/env python3
"""The tools that the conformance suite calls, as far as answers in text can have them."""
import json
import sys
import time

TOOLS = ["simple_text", "error_handling", "tool_with_progress"]


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def call(params):
    if params["name"] == "error_handling":
        return {"isError": True, "content": [{"type": "text", "text": "This tool fails."}]}
    if params["name"] == "tool_with_progress":
        token = params.get("_meta", {}).get("progressToken")
        for step in range(0, 101, 50):
            progress = {"progressToken": token, "progress": step, "total": 100}
            send({"method": "notifications/progress", "params": progress})
            # Progress is passed on at most ten times a second.
            time.sleep(0.2)
    return {"content": [{"type": "text", "text": "This is a simple text."}]}


def answer(method, params):
    if method == "initialize":
        version = params["protocolVersion"]
        about = {"name": "test", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        schema = {"type": "object", "properties": {}}
        return {"tools": [{"name": n, "description": n, "inputSchema": schema} for n in TOOLS]}
    if method == "tools/call":
        return call(params)
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        send({"id": message["id"], "result": answer(message["method"], message.get("params", {}))})
