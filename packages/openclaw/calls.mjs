// What a call of a tool of OpenClaw is to `stockade hook`. What that does not know, and what would run otherwise than it was
// judged, is refused here.

/** A call that is refused before it is asked about. */
export class Refused extends Error {}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Returns the name of the tool and the parameters with which it is to be judged, and to run. */
export function judged(event) {
  // Tools that share a name are told apart by the host: code in place of a command of a shell is another tool.
  const tool = event.toolKind ?? event.toolName;
  const params = event.params ?? {};
  return tool === "exec" ? { tool, params: command(params) } : { tool, params };
}

/** A command with its variables in its text, so that they are judged with it, and are the same when it runs in the sandbox. */
function command(params) {
  if (typeof params.command !== "string") throw new Refused("the command is no text");
  if (params.host === "node" || params.node !== undefined) {
    throw new Refused("the command would run on another machine, of which nothing is known here");
  }
  const { env, ...rest } = params;
  const variables = Object.entries(env ?? {});
  if (variables.length === 0) return params;
  const lines = variables.map(([name, value]) => {
    if (!NAME.test(name)) throw new Refused(`\`${name}\` is no name of a variable`);
    return `export ${name}='${String(value).replaceAll("'", `'\\''`)}'`;
  });
  return { ...rest, command: [...lines, params.command].join("\n") };
}
