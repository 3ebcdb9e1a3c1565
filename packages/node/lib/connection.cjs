// One server that runs, over its pipes or a socket.
"use strict";

const { spawn } = require("node:child_process");
const { connect } = require("node:net");
const { BinaryNotFoundError, ConnectionLostError, ProtocolError, StockadeError } = require("./errors.cjs");
const { readLines } = require("./lines.cjs");
const { decode, encode, isObject } = require("./wire.cjs");

/** The longest line that is read from a server, which holds no more than that for a client. */
const MAX_ANSWER = 128 << 20;

/** How long a server that was told to end may take, in milliseconds. */
const ENDING = 5000;

class Connection {
  #to;
  #kill;
  #ended;
  #longest;
  #onNotification;
  #last = 0;
  #waiting = new Map();
  #lost;

  constructor({ command, socketPath, maxRequest, onNotification, cwd, env, stderr }) {
    this.#longest = maxRequest;
    this.#onNotification = onNotification;
    if (socketPath === undefined) this.#start(command, { cwd, env, stdio: ["pipe", "pipe", stderr] });
    else this.#reach(socketPath);
    // What cannot be written any more is told by the end of the server.
    this.#to.on("error", () => {});
  }

  get isLost() {
    return this.#lost !== undefined;
  }

  /** Sends a request: `{ id, answer }`. Nothing here waits for the server. */
  start(method, params, onPiece) {
    if (this.#lost !== undefined) throw this.#lost;
    const id = ++this.#last;
    const line = encode(id, method, params, this.#longest);
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { method, resolve, reject, onPiece, pieces: 0 }));
    // Whoever waits gets the error; nobody else is to end for it.
    answer.catch(() => {});
    this.#to.write(line);
    return { id, answer };
  }

  /** Nobody waits for this answer any more. */
  forget(id) {
    this.#waiting.delete(id);
  }

  /** Gives the server up: whoever waits for it gets the error, and so does whoever asks it anything. */
  lose(error) {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    this.#kill();
    this.#failAll(error);
  }

  /** Lets the server answer what is under way, and end. */
  async close(error) {
    this.#to.end();
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, ENDING);
    });
    await Promise.race([this.#ended, late]);
    clearTimeout(timer);
    this.lose(error);
  }

  #start([program, ...words], options) {
    const child = spawn(program, words, options);
    this.#to = child.stdin;
    this.#kill = () => {
      child.kill("SIGKILL");
      child.stdin.destroy();
    };
    this.#ended = new Promise((resolve) => {
      child.on("error", (error) => {
        this.lose(new BinaryNotFoundError(`\`${program}\` cannot be started: ${error.message}`));
        resolve();
      });
      child.on("close", (code, signal) => {
        this.lose(new ConnectionLostError(`the server has ended with ${signal ?? `exit code ${code}`}`));
        resolve();
      });
    });
    this.#read(child.stdout);
  }

  #reach(path) {
    const socket = connect(path);
    this.#to = socket;
    this.#kill = () => socket.destroy();
    this.#ended = new Promise((resolve) => {
      socket.on("error", (error) => this.lose(new ConnectionLostError(`no server at ${path}: ${error.message}`)));
      socket.on("close", () => {
        this.lose(new ConnectionLostError("the server has ended"));
        resolve();
      });
    });
    this.#read(socket);
  }

  #read(stream) {
    const take = (line) => {
      try {
        this.#take(decode(line));
      } catch (error) {
        this.lose(error instanceof StockadeError ? error : new ProtocolError(String(error)));
      }
      return !this.isLost;
    };
    const tooLong = () => this.lose(new ProtocolError(`the server wrote a line of more than ${MAX_ANSWER} bytes`));
    readLines(stream, MAX_ANSWER, take, tooLong);
  }

  #take({ id, result, error, method, params }) {
    if (method === "exec.output") {
      this.#addPiece(params);
    } else if (method !== undefined) {
      this.#notify(method, params);
    } else if (id === null && error !== undefined) {
      // It could not read the request, so nobody knows which one that was.
      for (const [number, { method }] of this.#failAll(error)) {
        // Nobody waits for its command any more.
        if (method === "exec" && this.#lost === undefined) this.start("cancel", { id: number });
      }
    } else {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error !== undefined) waiting?.reject(error);
      else if (waiting?.onPiece && (!isObject(result) || result.pieces !== waiting.pieces)) {
        waiting.reject(new ProtocolError(`the output of a command is not whole: ${waiting.pieces} pieces came`));
      } else waiting?.resolve(result);
    }
  }

  /** Takes a piece of output; none may be missing, and none may come twice. */
  #addPiece({ id, stream, seq, dataBase64 }) {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    const isNext = waiting.onPiece && seq === waiting.pieces && ["stdout", "stderr"].includes(stream);
    if (!isNext || typeof dataBase64 !== "string" || !/^[A-Za-z0-9+/]*={0,2}$/.test(dataBase64)) {
      throw new ProtocolError(`the output of a command is not what follows: ${stream}, piece ${seq} after ${waiting.pieces}`);
    }
    waiting.pieces += 1;
    waiting.onPiece({ stream, data: Buffer.from(dataBase64, "base64"), seq });
  }

  #notify(method, params) {
    try {
      this.#onNotification?.(method, params);
    } catch (error) {
      process.emitWarning(`the handler of notifications failed at ${method}: ${error}`, "StockadeWarning");
    }
  }

  /** Tells everybody who waits, and returns what they waited for. */
  #failAll(error) {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [, { reject }] of waiting) reject(error);
    return waiting;
  }
}

module.exports = { Connection };
