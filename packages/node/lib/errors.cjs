"use strict";

const { ERROR_NAMES } = require("./protocol.cjs");

/** A request that has no result. Treat every error of this package as a refusal. */
class StockadeError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** There is no program `stockade`, or it cannot be started. */
class BinaryNotFoundError extends StockadeError {}
/** A request that no server can read: NaN, broken text, too long, too deep; or a time that is none. Nothing was sent. */
class UnsendableError extends StockadeError {}
/** No answer within the time that was given. A command that was under way was cancelled. */
class RequestTimeoutError extends StockadeError {}
/** The call was given up by its signal, or cancelled. A command that was under way was cancelled; one that was not begins no more. */
class AbortedError extends StockadeError {}
/** The server has ended, or cannot be reached. The next call starts it again. */
class ConnectionLostError extends StockadeError {}
/** The server said something that is no answer. It was ended; the next call starts it again. */
class ProtocolError extends StockadeError {}
/** The server is of another version than this package. */
class VersionError extends StockadeError {}
/** The client was closed. */
class ClosedError extends StockadeError {}

/** What the server answered in place of a result, with `code`, `message` and `data` as SERVE.md has them. */
class ServerError extends StockadeError {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const ofCodes = Object.fromEntries(
  Object.entries(ERROR_NAMES).map(([code, name]) => [code, { [name]: class extends ServerError {} }[name]]),
);

/** Returns the error of a code. */
function serverError(code, message, data) {
  return new (ofCodes[code] ?? ServerError)(code, message, data);
}

module.exports = {
  AbortedError,
  BinaryNotFoundError,
  ClosedError,
  ConnectionLostError,
  ProtocolError,
  RequestTimeoutError,
  ServerError,
  StockadeError,
  UnsendableError,
  VersionError,
  serverError,
  byName: Object.fromEntries(Object.values(ofCodes).map((kind) => [kind.name, kind])),
};
