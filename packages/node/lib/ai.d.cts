import { ToolGuard } from "./tools.cjs";

/**
 * Returns the tools, each call of which is judged and each result of which is cleaned. A refused call is an error of its tool, and
 * the model reads the reason. Tools without `execute` stay as they are.
 */
export function guardTools<T extends Record<string, object>>(tools: T, guard: ToolGuard): T;
