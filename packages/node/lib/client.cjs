// The client: a server that is started when it is needed, and again when it was lost.
"use strict";

const { findBinary } = require("./binary.cjs");
const { Connection } = require("./connection.cjs");
const errors = require("./errors.cjs");
const { METHODS, VERSION } = require("./protocol.cjs");
const { ExecStream } = require("./stream.cjs");

const { AbortedError, ClosedError, ConnectionLostError, ProtocolError, RequestTimeoutError, VersionError } = errors;

/** How long a command runs that says nothing about it, in milliseconds. */
const COMMAND = 120_000;

/** How long a server has for saying that it is there, where it did not answer something else. */
const PROBE = 2000;

/** The longest time that a timer of Node.js knows. */
const LONGEST = 2 ** 31 - 1;

/** A client of `stockade serve`, which is started when it is needed and ends with `close`. */
class Stockade {
  #options;
  #connecting;
  #isClosed = false;

  constructor(options = {}) {
    this.#options = {
      arguments: [],
      timeoutMs: 30_000,
      startTimeoutMs: 10_000,
      maxRequest: 4 << 20,
      stderr: "inherit",
      ...options,
    };
  }

  /** Calls a method by its name on the wire. */
  async call(method, params = {}, options = {}) {
    const limit = this.#limit(method, params, options);
    const connection = await this.#connected();
    const request = connection.start(method, params);
    return waitFor(connection, method, request, limit, options.signal);
  }

  /** Runs a command as `exec` does, and has what it prints while it runs. */
  execStream(params, options = {}) {
    return new ExecStream((onPiece) => {
      let isCancelled = false;
      let stop = () => {
        isCancelled = true;
      };
      const run = async () => {
        const limit = this.#limit("exec", params, options);
        const connection = await this.#connected();
        const request = connection.start("exec", { ...params, stream: true }, onPiece);
        stop = () => cancel(connection, request.id);
        if (isCancelled) stop();
        return waitFor(connection, "exec", request, limit, options.signal);
      };
      const result = run();
      result.catch(() => {});
      return { result, cancel: () => stop() };
    });
  }

  /** Lets the server answer what is under way, and end. */
  async close() {
    this.#isClosed = true;
    const connecting = this.#connecting;
    this.#connecting = undefined;
    const connection = await connecting?.catch(() => undefined);
    await connection?.close(closed());
  }

  async [Symbol.asyncDispose ?? Symbol.for("nodejs.asyncDispose")]() {
    await this.close();
  }

  /** How long to wait for an answer, in milliseconds. */
  #limit(method, params, { timeoutMs }) {
    if (timeoutMs !== undefined) return timeoutMs;
    const command = method === "exec" ? (params?.timeoutMs ?? COMMAND) : 0;
    return this.#options.timeoutMs + command;
  }

  /** Returns the server that runs; starts one where there is none. */
  async #connected() {
    if (this.#isClosed) throw closed();
    const before = this.#connecting;
    if (before !== undefined) {
      const connection = await before.catch(() => undefined);
      if (connection !== undefined && !connection.isLost) return connection;
      if (this.#isClosed) throw closed();
    }
    // Somebody else who waited may have started one by now.
    if (this.#connecting === before) this.#connecting = this.#begin();
    return this.#connecting;
  }

  async #begin() {
    const { binary, arguments: words, maxRequest, socketPath, startTimeoutMs } = this.#options;
    const command = socketPath === undefined ? [binary ?? findBinary(), "serve", "--max-request", `${maxRequest}`, ...words] : [];
    const connection = new Connection({ ...this.#options, command });
    try {
      checkVersion(await waitFor(connection, "version", connection.start("version", {}), startTimeoutMs, undefined, false));
    } catch (error) {
      connection.lose(error);
      throw error;
    }
    return connection;
  }
}

for (const [name, method] of Object.entries(METHODS)) {
  Object.defineProperty(Stockade.prototype, name, {
    configurable: true,
    writable: true,
    value(params, options) {
      return this.call(method, params, options);
    },
  });
}

/** Waits for an answer, and lets no command go on for which nobody waits. */
async function waitFor(connection, method, { id, answer }, limit, signal, probe = true) {
  let timer;
  let onAbort;
  const stopped = new Promise((_, reject) => {
    if (limit <= LONGEST) timer = setTimeout(() => reject(new RequestTimeoutError(`\`${method}\` was not answered in time`)), limit);
    onAbort = () => reject(new AbortedError(`\`${method}\` was given up`, { cause: signal.reason }));
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([answer, stopped]);
  } catch (error) {
    const isOurs = error instanceof RequestTimeoutError || error instanceof AbortedError;
    if (isOurs) {
      connection.forget(id);
      if (method === "exec") cancel(connection, id);
    }
    if (error instanceof RequestTimeoutError) await endIfStuck(connection, probe);
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
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

function cancel(connection, id) {
  try {
    connection.start("cancel", { id });
  } catch {
    // There is no server any more, and no command either.
  }
}

/** Refuses a server that is none of ours, or that speaks another version. */
function checkVersion(answer) {
  if (answer?.name !== "stockade") throw new ProtocolError("what was started is no `stockade serve`");
  const minor = (version) => String(version).split(".", 2).join(".");
  if (minor(answer.version) !== minor(VERSION)) {
    throw new VersionError(
      `the server is of version ${answer.version}, and this package of ${VERSION}; install the same of both`,
    );
  }
}

function closed() {
  return new ClosedError("the client was closed");
}

module.exports = { ExecStream, Stockade };
