import { ExecResult, MethodCalls, MethodTypes } from "./protocol.cjs";

/** How a server is reached. */
export interface StockadeOptions {
  /** The program; `findBinary()` by default. */
  binary?: string;
  /** More arguments of `stockade serve`, such as `["--agent", "builder"]`. */
  arguments?: string[];
  /** A server that is there already, in the place of one of its own. */
  socketPath?: string;
  /** How long to wait for an answer where a call says nothing else; 30 seconds by default. Commands have their own time besides. */
  timeoutMs?: number;
  /** How long a server has to start; 10 seconds by default. It counts as time of the call that waits for it. */
  startTimeoutMs?: number;
  /** The longest request in bytes; 4 MiB by default. */
  maxRequest?: number;
  /** Called with each notification, such as `policy.changed`. */
  onNotification?: (method: string, params: Record<string, unknown>) => void;
  /** Where the server starts. */
  cwd?: string;
  /** Its variables; those of this program by default. */
  env?: Record<string, string | undefined>;
  /** What becomes of its standard error; that of this program by default. */
  stderr?: "inherit" | "ignore";
}

/** What holds for one call. */
export interface CallOptions {
  /** How long to wait for the answer; `Infinity` for ever. */
  timeoutMs?: number;
  /** Ends the wait, and the command. */
  signal?: AbortSignal;
}

/** A piece of what a command printed. */
export interface OutputPiece {
  stream: "stdout" | "stderr";
  data: Buffer;
  seq: number;
}

/** A command that runs. Iterate over it for what it prints; a loop that is left early cancels it. */
export class ExecStream implements AsyncIterable<OutputPiece> {
  private constructor();
  /** Settles when the command has ended. What it printed is not in it. */
  readonly result: Promise<ExecResult>;
  /** Ends the command. Its result says so. */
  cancel(): void;
  [Symbol.asyncIterator](): AsyncIterator<OutputPiece>;
}

/**
 * A client of `stockade serve`, which is started when it is needed and ends with `close`.
 *
 * Every method of SERVE.md is a method here: `command.evaluate` is `commandEvaluate({ command: "ls" })`. Each settles within its
 * time, and rejects with a `StockadeError` where it has no result: treat it as a refusal. A server that was lost is started again
 * by the next call; its sessions are gone.
 */
export class Stockade {
  constructor(options?: StockadeOptions);
  /** Calls a method by its name on the wire. */
  call<M extends keyof MethodTypes>(
    method: M,
    params: MethodTypes[M]["params"],
    options?: CallOptions,
  ): Promise<MethodTypes[M]["result"]>;
  /** Lets the server answer what is under way, and end. */
  close(): Promise<void>;
}

export interface Stockade extends MethodCalls {}

/** A request that has no result. Treat every error of this package as a refusal. */
export class StockadeError extends Error {}
/** There is no program `stockade`, or it cannot be started. */
export class BinaryNotFoundError extends StockadeError {}
/** A request that no server can read: NaN, broken text, too long, too deep; or a time that is none. Nothing was sent. */
export class UnsendableError extends StockadeError {}
/** No answer within the time that was given. A command that was under way was cancelled. */
export class RequestTimeoutError extends StockadeError {}
/** The call was given up by its signal, or cancelled. A command that was under way was cancelled; one that was not begins no more. */
export class AbortedError extends StockadeError {}
/** The server has ended, or cannot be reached. The next call starts it again. */
export class ConnectionLostError extends StockadeError {}
/** The server said something that is no answer. It was ended; the next call starts it again. */
export class ProtocolError extends StockadeError {}
/** The server is of another version than this package. */
export class VersionError extends StockadeError {}
/** The client was closed. */
export class ClosedError extends StockadeError {}
/** What the server answered in place of a result, with `code`, `message` and `data` as SERVE.md has them. */
export class ServerError extends StockadeError {
  readonly code: number;
  readonly data: unknown;
}

/** The version of the server that all of this is of. */
export const VERSION: string;

/** Returns the program that came with this package; else the one that `PATH` leads to. */
export function findBinary(): string;
