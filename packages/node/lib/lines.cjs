// Cuts what comes over a stream into lines of a bounded length.
"use strict";

/** Calls `take` with each line, and `tooLong` once where one has no end. */
function readLines(stream, longest, take, tooLong) {
  let parts = [];
  let length = 0;
  let isDone = false;
  stream.on("data", (chunk) => {
    let from = 0;
    while (!isDone) {
      const end = chunk.indexOf(10, from);
      const part = chunk.subarray(from, end < 0 ? undefined : end);
      length += part.length;
      if (length > longest) {
        isDone = true;
        tooLong();
        return;
      }
      parts.push(part);
      if (end < 0) return;
      const line = Buffer.concat(parts).toString();
      [parts, length, from] = [[], 0, end + 1];
      if (take(line) === false) isDone = true;
    }
  });
}

module.exports = { readLines };
