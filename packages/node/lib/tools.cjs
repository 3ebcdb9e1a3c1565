// Judges the calls of tools in an agent framework, as the hook of Claude Code does. `ai.cjs` uses it.
"use strict";

const { resolve } = require("node:path");

const { ConnectionLostError, ProtocolError, RequestTimeoutError, ServerError, StockadeError } = require("./index.cjs");

/** A call that must not be made. Its message is for the model. */
class ToolRefused extends Error {
  name = "ToolRefused";
}

/** Judges the calls of one run of an agent. */
class ToolGuard {
  #client;
  #options;
  #session;

  constructor(client, options) {
    if (typeof options?.agent !== "string") throw new TypeError("the configuration of an agent decides: name it in `agent`");
    this.#client = client;
    this.#options = { tools: {}, ...options };
  }

  /** Decides about a call. The user is not asked. Rejects with `ToolRefused` if no decision is possible. */
  async judge(name, args) {
    const { harness } = this.#options;
    try {
      return await this.#send("tool.before", { ...this.#described(name), ...(harness && { harness }), name, arguments: args });
    } catch (error) {
      if (!(error instanceof StockadeError)) throw error;
      throw new ToolRefused(`stockade could not decide, so this is refused: ${error.message}`, { cause: error });
    }
  }

  /** Returns the arguments to call a tool with, or rejects with `ToolRefused`. */
  async before(name, args) {
    const verdict = await this.judge(name, args);
    if (!(await this.#agrees(verdict))) throw new ToolRefused(verdict.message ?? "stockade refuses this call");
    return verdict.arguments ?? args;
  }

  /** Returns whether a call may be made. What the user says is recorded, and what cannot be recorded is refused. */
  async #agrees(verdict) {
    const { ask } = this.#options;
    if (verdict.decision !== "ask" || ask === undefined) return verdict.decision === "allow";
    const agrees = (await ask(verdict)) === true;
    if (verdict.id === undefined) return agrees;
    try {
      await this.#send("tool.answer", { id: verdict.id, answer: agrees ? "allow" : "deny" });
    } catch (error) {
      if (!(error instanceof StockadeError)) throw error;
      throw new ToolRefused(`stockade could not record the answer, so this is refused: ${error.message}`, { cause: error });
    }
    return agrees;
  }

  /** Cleans and scans the result of a tool. What cannot be scanned is withheld. */
  async shown(name, result) {
    const { kind, mcpServer } = this.#described(name);
    const about = { ...(kind && { kind }), ...(mcpServer && { mcpServer }) };
    try {
      return await this.#send("tool.after", { ...about, name, result: plain(result) });
    } catch (error) {
      if (!(error instanceof StockadeError)) throw error;
      const why = `stockade could not scan this result, so it is withheld: ${error.message}`;
      return { change: "withheld", text: why, note: why, hostile: true };
    }
  }

  /** Returns what the model may see of a result: the result itself, or a text in its place. */
  async after(name, result) {
    const shown = await this.shown(name, result);
    return shown.change === "unchanged" ? result : shown.text;
  }

  /** Ends the session. The next call opens another one, with steps and answers of its own. */
  async close() {
    const session = this.#session;
    this.#session = undefined;
    if (session) await this.#client.sessionClose({ session: await session });
  }

  #described(name) {
    return Object.hasOwn(this.#options.tools, name) ? this.#options.tools[name] : {};
  }

  async #send(method, params) {
    const opening = (this.#session ??= this.#open());
    try {
      return await this.#client.call(method, { ...params, session: await opening });
    } catch (error) {
      // Sessions end with their server.
      if (isLost(error) && this.#session === opening) this.#session = undefined;
      throw error;
    }
  }

  #open() {
    const { agent, tools, workspace } = this.#options;
    const where = workspace === undefined ? {} : { workspace: resolve(workspace) };
    const opened = this.#client.sessionOpen({ agent, ...where, tools: Object.keys(tools) }).then(({ session }) => session);
    // One that cannot be opened is tried again by the next call.
    opened.catch(() => {
      if (this.#session === opened) this.#session = undefined;
    });
    return opened;
  }
}

function isLost(error) {
  if (error instanceof ServerError) return error.data?.session === "unknown";
  return [ConnectionLostError, ProtocolError, RequestTimeoutError].some((kind) => error instanceof kind);
}

/** Returns a result as JSON, as frameworks show it to a model. What is none is a text. */
function plain(result) {
  try {
    return JSON.parse(JSON.stringify(result) ?? "null");
  } catch {
    return String(result);
  }
}

module.exports = { ToolGuard, ToolRefused };
