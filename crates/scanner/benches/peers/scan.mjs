// Node.js as a peer: `node scan.mjs documented` runs the rules of `documented.mjs`, `node scan.mjs same` the patterns of
// stockade's own table.
//
// The first line of standard input is a JSON object with `texts` and `patterns`; for each further line it goes through all
// texts once and answers with the microseconds of processor time that this took.

import { createInterface } from "node:readline";
import { scan } from "./documented.mjs";

let texts, count;
createInterface({ input: process.stdin }).on("line", (line) => {
  if (texts === undefined) {
    const task = JSON.parse(line);
    texts = task.texts;
    const rules = task.patterns.map(([pattern, flags]) => new RegExp(pattern, flags + "gm"));
    const all = (text) => rules.reduce((sum, rule) => sum + [...text.matchAll(rule)].length, 0);
    count = process.argv[2] === "same" ? all : scan;
    return;
  }
  const start = process.cpuUsage();
  let sum = 0;
  for (const text of texts) sum += count(text);
  const { user, system } = process.cpuUsage(start);
  console.log(`${user + system} ${sum}`);
});
