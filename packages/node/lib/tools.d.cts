import { Stockade } from "./client.cjs";
import { ToolAfterResult, ToolBeforeResult } from "./protocol.cjs";

/** What a tool does, if its name is not one that harnesses use (`Bash`, `read_file`). */
export interface ToolDescription {
  kind?: "shell" | "read" | "write" | "edit" | "list" | "search" | "fetch" | "other";
  /** The arguments with the command, the paths or the URLs. */
  argumentNames?: string[];
  /** The MCP server of the tool. */
  mcpServer?: string;
}

export interface ToolGuardOptions {
  /** The agent whose configuration decides. */
  agent: string;
  /** The directory of the agent; that of the server by default. */
  workspace?: string;
  /** Descriptions of tools, by name. */
  tools?: Record<string, ToolDescription>;
  /** The harness that runs the tools, such as `claude`. */
  harness?: string;
  /** Asks the user about a call, and returns whether they agree. Without it, such a call is refused. */
  ask?: (verdict: ToolBeforeResult) => boolean | Promise<boolean>;
}

/** A call that must not be made. Its message is for the model. */
export class ToolRefused extends Error {}

/** Judges the calls of one run of an agent. */
export class ToolGuard {
  constructor(client: Stockade, options: ToolGuardOptions);
  /** Decides about a call. The user is not asked. Rejects with `ToolRefused` if no decision is possible. */
  judge(name: string, args: Record<string, unknown>): Promise<ToolBeforeResult>;
  /** Returns the arguments to call a tool with, or rejects with `ToolRefused`. */
  before(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Cleans and scans the result of a tool. What cannot be scanned is withheld. */
  shown(name: string, result: unknown): Promise<ToolAfterResult>;
  /** Returns what the model may see of a result: the result itself, or a text in its place. */
  after<T>(name: string, result: T): Promise<T | string>;
  /** Ends the session. The next call opens another one, with steps and answers of its own. */
  close(): Promise<void>;
}
