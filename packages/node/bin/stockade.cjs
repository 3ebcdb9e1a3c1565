#!/usr/bin/env node
// The command `stockade`: starts the program of this platform, and ends as it does.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { findBinary } = require("../lib/binary.cjs");

let program;
try {
  program = findBinary();
} catch (error) {
  console.error(`stockade: ${error.message}`);
  // 3 is what the program itself answers where it could not decide.
  process.exit(3);
}
// A second `stockade` on PATH may be this script again, by another name.
if (process.env.STOCKADE_LAUNCHER === String(process.ppid)) {
  console.error(`stockade: ${program} is no program but this command; set STOCKADE_BINARY to the program`);
  process.exit(3);
}
const env = { ...process.env, STOCKADE_LAUNCHER: String(process.pid) };
const child = spawn(program, process.argv.slice(2), { stdio: "inherit", env });
// A terminal sends what its keys say to the program as well, which must not hear it twice.
for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`stockade: ${program} cannot be started: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
