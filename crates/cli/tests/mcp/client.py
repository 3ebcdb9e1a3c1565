"""A client by the official SDK: uses a server as programs do, and prints what it got as JSON."""

import json
import sys

import anyio

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


def texts(result):
    return [block.text for block in result.content if block.type == "text"]


async def main():
    mode, port, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    transport = stdio_client(StdioServerParameters(command=command[0], args=command[1:], env=None))
    seen = {}
    async with Client(transport, mode=mode) as client:
        seen["version"] = client.protocol_version
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        for name, arguments in [("add", {"a": 2, "b": 3}), ("page", {}), ("secret", {}), ("poisoned", {}), ("network", {"port": port})]:
            try:
                result = await client.call_tool(name, arguments)
                seen[name] = {"error": bool(result.is_error), "texts": texts(result)}
            except Exception as error:  # What a client does with a refusal is its own.
                seen[name] = {"error": True, "texts": [str(error)]}
        prompts = await client.list_prompts()
        seen["prompts"] = [prompt.name for prompt in prompts.prompts]
        prompt = await client.get_prompt("greet", {"name": "Ada"})
        seen["prompt"] = prompt.messages[0].content.text
        seen["resource"] = (await client.read_resource("note://today")).contents[0].text
    print(json.dumps(seen))


anyio.run(main)
