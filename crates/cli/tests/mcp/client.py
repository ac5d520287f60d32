"""Uses a server with the official Python client, in both lifecycles, and prints the results.

Called with the program and a directory of skills, or the address of a server and its token.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.types import ElicitResult


def connect(where, what):
    if where.startswith("http://"):
        headers = {"Authorization": f"Bearer {what}"}
        return streamable_http_client(where, http_client=create_mcp_http_client(headers=headers))
    # The source is not a project's, whose plugins would have to be trusted first.
    args = ["mcp", "--consent", "first-use", "--source", what]
    return stdio_client(StdioServerParameters(command=where, args=args))


async def use(mode):
    questions = []
    progress = []

    async def elicit(context, params):
        questions.append(params.message)
        return ElicitResult(action="accept", content={})

    async def on_progress(done, total, message):
        progress.append(done)

    server = connect(*sys.argv[1:])
    async with Client(server, mode=mode, elicitation_callback=elicit) as client:
        seen = {"server": client.server_info.name}
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        seen["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
        greeted = await client.call_tool("hello_greet", {"name": "Ada"})
        seen["greeted"] = greeted.content[0].text
        for _ in range(2):
            used = await client.call_tool("use_skill", {"skill": "review", "args": "7"})
        seen["used"] = used.content[0].text
        seen["wrong"] = (await client.call_tool("find_skills", {"query": 7})).is_error
        prompt = await client.get_prompt("review", {"args": "PR 42"})
        seen["prompt"] = "Review PR 42." in prompt.messages[0].content.text
        resource = await client.read_resource("skill://review/ref/how%20to.md")
        seen["resource"] = resource.contents[0].text
        count = {"to": 2, "pause": 50}
        await client.call_tool("hello_count", count, progress_callback=on_progress)
    return seen | {"progress": progress, "questions": len(questions)}


async def main():
    print(json.dumps({mode: await use(mode) for mode in ("legacy", "auto")}))


asyncio.run(main())
