// Tools of the AI SDK (package `ai`): `generateText({ model, tools: guardTools(tools, guard), … })`.
"use strict";

/** Returns the tools, each call of which is judged and each result of which is cleaned. */
function guardTools(tools, guard) {
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, guarded(name, tool, guard)]));
}

function guarded(name, tool, guard) {
  // A tool without this is run by the caller or by the provider, who sees every call.
  if (typeof tool.execute !== "function") return tool;
  const execute = async (input, options) => {
    // A refusal is an error of the tool, whose message the model reads.
    const allowed = await guard.before(name, input);
    return guard.after(name, await last(tool.execute(allowed, options)));
  };
  return { ...tool, execute };
}

/** Returns the result of a tool. Of one that reports its progress, that is the last value. */
async function last(running) {
  if (running?.[Symbol.asyncIterator] === undefined) return running;
  let result;
  for await (const value of running) result = value;
  return result;
}

module.exports = { guardTools };
