"use strict";

const { accessSync, constants, statSync } = require("node:fs");
const { delimiter, join } = require("node:path");
const { BinaryNotFoundError } = require("./errors.cjs");

/** Returns the program that came with this package; else the one that `PATH` leads to. `STOCKADE_BINARY` decides before both. */
function findBinary() {
  const named = process.env.STOCKADE_BINARY;
  if (named) {
    if (isProgram(named)) return named;
    throw new BinaryNotFoundError(`STOCKADE_BINARY is ${named}, which is no program; set it to one, or unset it`);
  }
  const found = ofPlatform() ?? onPath();
  if (found === undefined) {
    throw new BinaryNotFoundError(
      `there is no program \`stockade\` for ${process.platform}-${process.arch}: install @stockade/client without ` +
        "--omit=optional, build it with `cargo install --locked --path crates/cli`, or set STOCKADE_BINARY",
    );
  }
  return found;
}

/** The program in the package for this platform, which npm installs alone of all. */
function ofPlatform() {
  try {
    const program = require.resolve(`@stockade/cli-${process.platform}-${process.arch}/stockade`);
    return isProgram(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

function onPath() {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
  // The command of this package is a script that would look for the program again.
  const programs = folders.filter((folder) => !folder.endsWith("node_modules/.bin")).map((folder) => join(folder, "stockade"));
  return programs.find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

module.exports = { findBinary };
