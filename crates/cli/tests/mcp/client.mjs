// The client of `client.py`, by the official SDK for JavaScript.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [port, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const seen = { tools: (await client.listTools()).tools.map((tool) => tool.name) };
for (const [name, given] of [["add", { a: 2, b: 3 }], ["page", {}], ["secret", {}], ["poisoned", {}], ["network", { port: Number(port) }]]) {
  try {
    const result = await client.callTool({ name, arguments: given });
    seen[name] = { error: Boolean(result.isError), texts: result.content.map((block) => block.text) };
  } catch (error) {
    // What a client does with a refusal is its own.
    seen[name] = { error: true, texts: [String(error)] };
  }
}
seen.prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
const prompt = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } });
seen.prompt = prompt.messages[0].content.text;
seen.resource = (await client.readResource({ uri: "note://today" })).contents[0].text;
await client.close();
console.log(JSON.stringify(seen));
