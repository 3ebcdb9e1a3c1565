// Written by `stockade install NAME`; `stockade uninstall NAME` removes it.
// Every tool is asked about before it is used. Whatever goes wrong is a no.
import { spawnSync } from "node:child_process"

const PROGRAM = PROGRAM_PATH

const ask = (moment: string, told: unknown) => {
  const options = { input: JSON.stringify(told), encoding: "utf8" as const, timeout: 15000, maxBuffer: 64 << 20 }
  const ran = spawnSync(PROGRAM, ["hook", "--harness", "NAME", moment], options)
  if (ran.error || ran.status !== 0) {
    throw new Error(`stockade could not decide, so this is refused: ${ran.error ?? ran.stderr ?? "it has failed"}`)
  }
  return JSON.parse(ran.stdout)
}

export default function (amp: any) {
  amp.on("tool.call", async (event: any) => {
    try {
      const said = ask("--before", {
        hook_event_name: "PreToolUse",
        session_id: event.thread?.id ?? "",
        cwd: process.cwd(),
        tool_name: event.tool,
        tool_input: event.input ?? {},
      })
      if (said.decision === "allow") return { action: "allow" }
      if (said.decision === "rewrite") return { action: "modify", input: said.input }
      return { action: "reject-and-continue", message: said.reason ?? "stockade refuses it" }
    } catch (error: any) {
      return { action: "reject-and-continue", message: `${error?.message ?? error}` }
    }
  })
}
