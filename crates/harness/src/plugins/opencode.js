// Written by `stockade install NAME`; `stockade uninstall NAME` removes it.
// Every tool is asked about before it is used, and what it brings back is looked at. Whatever goes wrong is a no.
import { spawnSync } from "node:child_process"

const PROGRAM = PROGRAM_PATH

const ask = (moment, told) => {
  const options = { input: JSON.stringify(told), encoding: "utf8", timeout: 15000, maxBuffer: 64 << 20 }
  const ran = spawnSync(PROGRAM, ["hook", "--harness", "NAME", moment], options)
  if (ran.error || ran.status !== 0) {
    throw new Error(`stockade could not decide, so this is refused: ${ran.error ?? ran.stderr ?? "it has failed"}`)
  }
  return JSON.parse(ran.stdout)
}

export const Stockade = async ({ directory }) => {
  const about = (event, input, args) => ({
    hook_event_name: event,
    session_id: input.sessionID,
    cwd: directory,
    tool_name: input.tool,
    tool_input: args ?? {},
  })
  return {
    "tool.execute.before": async (input, output) => {
      const said = ask("--before", about("PreToolUse", input, output.args))
      if (said.decision === "allow") return
      if (said.decision === "rewrite") {
        Object.assign(output.args, said.input)
        return
      }
      throw new Error(said.reason ?? "stockade refuses it")
    },
    "tool.execute.after": async (input, output) => {
      if (typeof output?.output !== "string") return
      try {
        const said = ask("--after", { ...about("PostToolUse", input, input.args), tool_response: output.output })
        if (said.decision === "allow") return
        output.output = [said.reason, said.output].filter(Boolean).join("\n")
      } catch (error) {
        output.output = `${error.message ?? error}`
      }
    },
  }
}
