// Plugin for OpenClaw. Every tool is asked about before it is used, and what it brings back is looked at. Whatever goes wrong is a no.

import { findBinary } from "@stockade/client";
import { Refused, judged } from "./calls.mjs";
import { ask } from "./hook.mjs";

/** After every other plugin, so that nothing is changed behind what was judged: the last rewrite is the one that runs. */
const LAST = -1_000_000;

export default {
  id: "stockade",
  name: "Stockade",
  description: "Decides on every tool before it is used, puts commands into a sandbox, and cleans what tools bring back.",
  register(api) {
    const program = () => api.pluginConfig?.binary || findBinary();
    const about = (name, tool, input, context, cwd) => ({
      hook_event_name: name,
      session_id: context?.sessionId ?? context?.sessionKey ?? context?.runId,
      cwd: cwd ?? workspace(api, context?.agentId),
      tool_name: tool,
      tool_input: input,
    });
    api.on(
      "before_tool_call",
      async (event, context) => {
        try {
          const { tool, params } = judged(event);
          const told = about("PreToolUse", tool, params, context);
          const answer = await ask(program(), "--before", told, context?.abortSignal);
          if (answer.decision === "allow") return { params };
          if (answer.decision === "rewrite") return { params: { ...params, ...answer.input } };
          return block(answer.reason ?? "stockade refuses it");
        } catch (error) {
          return block(refusal(error));
        }
      },
      { priority: LAST },
    );
    api.registerAgentToolResultMiddleware(
      async (event, context) => {
        try {
          return await cleaned(program(), event, (result) => ({
            ...about("PostToolUse", event.toolName, event.args ?? {}, context, event.cwd),
            tool_response: result,
          }));
        } catch (error) {
          return text(refusal(error));
        }
      },
      { runtimes: ["openclaw", "codex"] },
    );
  },
};

/** A result without what a person does not see and a model does; nothing where it is well as it is. */
async function cleaned(program, event, told) {
  const content = event.result?.content ?? [];
  const shown = content.filter((part) => part.type === "text").map((part) => part.text);
  if (shown.length === 0) return undefined;
  const answer = await ask(program, "--after", told(shown.join("\n")));
  if (answer.decision === "allow") return undefined;
  const others = content.filter((part) => part.type !== "text");
  return text([answer.reason, answer.output].filter(Boolean).join("\n"), others);
}

function text(said, others = []) {
  return { result: { content: [{ type: "text", text: said }, ...others], details: {} } };
}

function block(blockReason) {
  return { block: true, blockReason };
}

function refusal(error) {
  if (error instanceof Refused) return `stockade: ${error.message}`;
  return `stockade could not decide, so this is refused: ${error?.message ?? error}`;
}

/** The folder in which an agent works. Without one, nothing can be said of paths. */
function workspace(api, agentId) {
  const config = api.runtime?.config?.current?.() ?? api.config;
  const folder = api.runtime?.agent?.resolveAgentWorkspaceDir?.(config, agentId ?? "main");
  if (typeof folder !== "string" || folder === "") throw new Error("OpenClaw does not say in which folder the agent works");
  return folder;
}
