// How long anybody waits, and what becomes of what nobody waits for any more.
"use strict";

const { AbortedError, ConnectionLostError, RequestTimeoutError } = require("./errors.cjs");

/** How long a server has for saying that it is there, where it did not answer something else. */
const PROBE = 2000;

/** The longest time that a timer of Node.js knows. */
const LONGEST = 2 ** 31 - 1;

/** Settles as a promise does, or rejects once the time of a call is over or its signal ends it: `{ method, ends, signal }`. */
async function inTime(promise, { method, ends, signal }) {
  let timer;
  let onAbort;
  const stopped = new Promise((_, reject) => {
    const left = Math.max(0, ends - performance.now());
    if (left <= LONGEST) timer = setTimeout(() => reject(new RequestTimeoutError(`\`${method}\` was not answered in time`)), left);
    onAbort = () => reject(givenUp(method, signal));
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Waits for an answer, and lets no command go on for which nobody waits. */
async function waitFor(connection, { id, answer }, wait, probe = true) {
  try {
    return await inTime(answer, wait);
  } catch (error) {
    const isOurs = error instanceof RequestTimeoutError || error instanceof AbortedError;
    if (isOurs) {
      connection.forget(id);
      if (wait.method === "exec") cancel(connection, id);
    }
    if (error instanceof RequestTimeoutError) await endIfStuck(connection, probe);
    throw error;
  }
}

/** Ends a server that says nothing at all, so that the next call has a new one. */
async function endIfStuck(connection, probe) {
  const stuck = () => connection.lose(new ConnectionLostError("the server did not answer, and was ended"));
  if (!probe) return stuck();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(reject, PROBE);
  });
  try {
    await Promise.race([connection.start("ping", {}).answer, late]);
  } catch {
    stuck();
  } finally {
    clearTimeout(timer);
  }
}

/** Refuses a call that nobody wants any more. */
function checkWanted({ method, signal }) {
  if (signal?.aborted) throw givenUp(method, signal);
}

function givenUp(method, signal) {
  return new AbortedError(`\`${method}\` was given up`, { cause: signal?.reason });
}

function cancel(connection, id) {
  try {
    connection.start("cancel", { id });
  } catch {
    // There is no server any more, and no command either.
  }
}

module.exports = { cancel, checkWanted, givenUp, inTime, waitFor };
