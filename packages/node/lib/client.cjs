// The client: a server that is started when it is needed, and again when it was lost.
"use strict";

const { findBinary } = require("./binary.cjs");
const { Connection } = require("./connection.cjs");
const errors = require("./errors.cjs");
const { METHODS, VERSION } = require("./protocol.cjs");
const { ExecStream } = require("./stream.cjs");
const { cancel, checkWanted, givenUp, inTime, waitFor } = require("./waits.cjs");

const { ClosedError, ProtocolError, UnsendableError, VersionError } = errors;

/** How long a command runs that says nothing about it, in milliseconds. */
const COMMAND = 120_000;

/** What holds where nothing else is said. */
const DEFAULTS = { arguments: [], timeoutMs: 30_000, startTimeoutMs: 10_000, maxRequest: 4 << 20, stderr: "inherit" };

/** A client of `stockade serve`, which is started when it is needed and ends with `close`. */
class Stockade {
  #options;
  #connection;
  #starting;
  #isClosed = false;

  constructor(options = {}) {
    // What is nothing is what it is by default, and never without a limit.
    const given = Object.entries(options).filter(([, value]) => value !== undefined && value !== null);
    this.#options = { ...DEFAULTS, ...Object.fromEntries(given) };
    for (const name of ["timeoutMs", "startTimeoutMs"]) checkTime(name, this.#options[name]);
  }

  /** Calls a method by its name on the wire. */
  async call(method, params = {}, options = {}) {
    return this.#send(method, params, options, () => {});
  }

  /** Runs a command as `exec` does, and has what it prints while it runs. */
  execStream(params, options = {}) {
    return new ExecStream((onPiece) => {
      let isCancelled = false;
      let stop = () => {
        isCancelled = true;
      };
      const begun = (connection, id) => {
        stop = () => cancel(connection, id);
      };
      const check = () => {
        if (isCancelled) throw givenUp("exec");
      };
      const result = this.#send("exec", { ...params, stream: true }, options, begun, check, onPiece);
      result.catch(() => {});
      return { result, cancel: () => stop() };
    });
  }

  /** Lets the server answer what is under way, and end. One that is not there yet is given up. */
  async close() {
    this.#isClosed = true;
    if (this.#starting !== undefined) this.#connection?.lose(closed());
    await this.#connection?.close(closed());
  }

  async [Symbol.asyncDispose ?? Symbol.for("nodejs.asyncDispose")]() {
    await this.close();
  }

  /** Sends a request once there is a server, if it is still wanted then, and waits for the answer. */
  async #send(method, params, options, begun, check = () => {}, onPiece = undefined) {
    const wait = { method, ends: performance.now() + this.#limit(method, params, options), signal: options.signal };
    checkWanted(wait);
    const connection = await inTime(this.#connected(), wait);
    checkWanted(wait);
    check();
    if (this.#isClosed) throw closed();
    const request = connection.start(method, params, onPiece);
    begun(connection, request.id);
    return waitFor(connection, request, wait);
  }

  /** How long to wait for an answer, in milliseconds. */
  #limit(method, params, { timeoutMs }) {
    if (timeoutMs !== undefined && timeoutMs !== null) return checkTime("timeoutMs", timeoutMs);
    if (method !== "exec") return this.#options.timeoutMs;
    // What is no time is refused when it is sent, or by the server.
    const given = params?.timeoutMs;
    return this.#options.timeoutMs + (Number.isFinite(given) && given >= 0 ? given : COMMAND);
  }

  /** Returns the server that runs; starts one where there is none, once for all who wait. */
  async #connected() {
    if (this.#isClosed) throw closed();
    if (this.#starting === undefined) {
      if (this.#connection !== undefined && !this.#connection.isLost) return this.#connection;
      this.#starting = this.#begin().finally(() => {
        this.#starting = undefined;
      });
    }
    return this.#starting;
  }

  async #begin() {
    const { binary, arguments: words, maxRequest, socketPath, startTimeoutMs } = this.#options;
    const command = socketPath === undefined ? [binary ?? findBinary(), "serve", "--max-request", `${maxRequest}`, ...words] : [];
    const connection = new Connection({ ...this.#options, command });
    this.#connection = connection;
    const wait = { method: "version", ends: performance.now() + startTimeoutMs };
    try {
      checkVersion(await waitFor(connection, connection.start("version", {}), wait, false));
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

/** Refuses what is no time: a timer would take it for none at all, or for at once. */
function checkTime(name, time) {
  if (typeof time === "number" && time >= 0) return time;
  throw new UnsendableError(`${name} is ${String(time)}, which is no time; give milliseconds, or \`Infinity\` for ever`);
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
