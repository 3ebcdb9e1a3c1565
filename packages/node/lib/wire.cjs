// Requests as lines, and answers as what they mean.
"use strict";

const { ProtocolError, UnsendableError, serverError } = require("./errors.cjs");

/** How deep a request may go. The server reads 127 levels, of which the request itself takes two. */
const MAX_DEPTH = 120;
/** How many values a line may hold, as the server counts them. */
const MAX_VALUES = 100_000;

/** Returns the line of a request, or throws what is wrong with it. */
function encode(id, method, params, longest) {
  const count = checked(params, "params", MAX_DEPTH, new Set());
  if (count > MAX_VALUES - 10) {
    throw new UnsendableError(
      `${method}: ${count} values are more than one request may hold (${MAX_VALUES}); send them in several`,
    );
  }
  const line = Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  if (line.length > longest) {
    throw new UnsendableError(
      `${method}: the request has ${line.length} bytes, and the server reads ${longest}; raise \`maxRequest\``,
    );
  }
  return line;
}

/** Counts the values in a value, and refuses what JSON has no form for: `JSON.stringify` would write `null` or nothing for it. */
function checked(value, place, depth, within) {
  const refuse = (why) => {
    throw new UnsendableError(`${place} ${why}`);
  };
  if (depth === 0) refuse(`goes deeper than ${MAX_DEPTH} levels`);
  switch (typeof value) {
    case "boolean":
      return 1;
    case "number":
      return Number.isFinite(value) ? 1 : refuse(`is ${value}, which JSON cannot say`);
    case "string":
      return value.isWellFormed() ? 1 : refuse("is no text: it holds half a character; send bytes as Base64");
    case "object":
      break;
    default:
      refuse(`is a ${typeof value}, which JSON cannot say`);
  }
  if (value === null) return 1;
  if (within.has(value)) refuse("holds itself");
  if (typeof value.toJSON === "function") refuse("has a form of its own in JSON; send that");
  within.add(value);
  let count = 2;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      count += 1 + checked(value[index], `${place}[${index}]`, depth - 1, within);
    }
  } else {
    for (const [name, part] of Object.entries(value)) {
      // A field that is not given.
      if (part === undefined) continue;
      count += 1 + checked(name, `a name in ${place}`, depth, within) + checked(part, `${place}.${name}`, depth - 1, within);
    }
  }
  within.delete(value);
  return count;
}

/** Reads a line of the server: `{ id, result }`, `{ id, error }` or `{ method, params }`. */
function decode(line) {
  const strange = (what) => new ProtocolError(`the server wrote a line that is ${what}: ${JSON.stringify(line.slice(0, 60))}`);
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    throw strange("no JSON");
  }
  if (!isObject(message) || message.jsonrpc !== "2.0") throw strange("no message");
  const has = (name) => Object.hasOwn(message, name);
  if (has("method")) {
    if (has("id") || typeof message.method !== "string" || !isObject(message.params)) throw strange("no notification");
    return { method: message.method, params: message.params };
  }
  if (!has("id") || has("result") === has("error")) throw strange("no answer");
  if (has("result")) return { id: message.id, result: message.result };
  const { error } = message;
  if (!isObject(error) || !Number.isInteger(error.code) || typeof error.message !== "string") {
    throw strange("an error without a code or a message");
  }
  return { id: message.id, error: serverError(error.code, error.message, error.data) };
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

module.exports = { decode, encode, isObject };
