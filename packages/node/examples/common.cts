// The same package for CommonJS.
import { Stockade, type CommandDecision } from "@stockade/client";

const stockade = new Stockade({ timeoutMs: 20_000 });
void stockade
  .commandEvaluate({ command: "ls" })
  .then((decision: CommandDecision) => console.log(decision.action))
  .finally(() => stockade.close());
