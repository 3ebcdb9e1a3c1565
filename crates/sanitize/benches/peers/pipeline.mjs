// The documented pipeline in JavaScript: strip HTML comments, NFKC, strip invisible characters, enforce the size.
// Reads a JSON array of texts from the first line of standard input; for each further line it runs over all of them and
// answers with the microseconds of processor time that this took.

import { createInterface } from "node:readline";

const COMMENT = /<!--[\s\S]*?-->/g;
const INVISIBLE =
  /[\u00AD\u034F\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060\u2066-\u2069\uFEFF]|[\u{E0000}-\u{E007F}]/gu;
const TAG = /[\u{E0000}-\u{E007F}]/u;
const LIMIT = 20000;

function sanitize(text) {
  let htmlCommentsStripped = 0;
  const uncommented = text.replace(COMMENT, () => {
    htmlCommentsStripped++;
    return "";
  });
  const normal = uncommented.normalize("NFKC");
  const tagBlockDetected = TAG.test(normal);
  const visible = normal.replace(INVISIBLE, "");
  const truncated = visible.length > LIMIT;
  const body = truncated ? visible.slice(0, LIMIT) + "\n[TRUNCATED]" : visible;
  return { body, htmlCommentsStripped, truncated, tagBlockDetected };
}

let texts;
createInterface({ input: process.stdin }).on("line", (line) => {
  if (texts === undefined) {
    texts = JSON.parse(line);
    return;
  }
  const start = process.cpuUsage();
  let sum = 0;
  for (const text of texts) sum += sanitize(text).body.length;
  const { user, system } = process.cpuUsage(start);
  console.log(`${user + system} ${sum}`);
});
