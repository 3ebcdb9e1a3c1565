// Asks `stockade hook`, as it is asked by every other harness. Whatever goes wrong is thrown, and is a no to whoever asked.

import { spawn } from "node:child_process";

/** How long an answer may take, in milliseconds. OpenClaw itself waits 15 seconds. */
const TIME = 10_000;

/** The longest answer that is read. */
const LONGEST = 64 << 20;

/** Returns the answer to what is told. `moment` is `--before` or `--after`. */
export function ask(program, moment, told, signal) {
  return new Promise((resolve, reject) => {
    const options = { stdio: ["pipe", "pipe", "pipe"], timeout: TIME, killSignal: "SIGKILL", signal };
    const child = spawn(program, ["hook", "--harness", "openclaw", moment], options);
    const parts = { stdout: [], stderr: [] };
    let length = 0;
    for (const name of ["stdout", "stderr"]) {
      child[name].on("data", (part) => {
        length += part.length;
        if (length > LONGEST) child.kill("SIGKILL");
        else parts[name].push(part);
      });
    }
    child.on("error", reject);
    // A program that ends before it has read everything says why by how it ends.
    child.stdin.on("error", () => {});
    child.on("close", (code, killed) => {
      if (code !== 0) {
        const why = Buffer.concat(parts.stderr).toString().trim();
        reject(new Error(why || `it ended with ${killed ?? code}`));
        return;
      }
      try {
        resolve(decision(JSON.parse(Buffer.concat(parts.stdout).toString())));
      } catch (error) {
        reject(error);
      }
    });
    child.stdin.end(JSON.stringify(told));
  });
}

const DECISIONS = ["allow", "deny", "rewrite", "replace"];

function decision(answer) {
  if (!DECISIONS.includes(answer?.decision)) throw new Error("its answer is none");
  return answer;
}
