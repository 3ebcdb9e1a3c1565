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

const about = (name, event, ctx) => ({
  hook_event_name: name,
  session_id: ctx?.sessionManager?.getSessionId?.() ?? "",
  cwd: ctx?.cwd ?? process.cwd(),
  tool_name: event.toolName,
  tool_input: event.input ?? {},
})

export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    try {
      const said = ask("--before", about("PreToolUse", event, ctx))
      if (said.decision === "allow") return undefined
      if (said.decision === "rewrite") {
        Object.assign(event.input, said.input)
        return undefined
      }
      return { block: true, reason: said.reason ?? "stockade refuses it" }
    } catch (error) {
      return { block: true, reason: `${error.message ?? error}` }
    }
  })
  pi.on("tool_result", async (event, ctx) => {
    const texts = (event.content ?? []).filter((part) => part.type === "text").map((part) => part.text)
    if (texts.length === 0) return undefined
    const shown = (text) => ({
      content: [{ type: "text", text }, ...event.content.filter((part) => part.type !== "text")],
      details: undefined,
    })
    try {
      const said = ask("--after", { ...about("PostToolUse", event, ctx), tool_response: texts.join("\n") })
      if (said.decision === "allow") return undefined
      return shown([said.reason, said.output].filter(Boolean).join("\n"))
    } catch (error) {
      return shown(`${error.message ?? error}`)
    }
  })
}
