// What the client does when all goes well, and when it does not. Runs in a folder where the packages are installed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { after, test } from "node:test";

// This file is run where it stands; the package is where the test was started.
const require = createRequire(join(process.cwd(), "x.cjs"));
const all = require("@stockade/client");
const { Stockade } = all;
const FAKE = process.env.STOCKADE_FAKE ?? fileURLToPath(new URL("../../python/tests/fake_server.py", import.meta.url));
const PYTHON = "/usr/bin/python3";
const folder = realpathSync(mkdtempSync(join(tmpdir(), "stockade-")));
const once = join(folder, "once");
after(() => rmSync(folder, { recursive: true }));

/** How a server misbehaves, and what the call rejects with. */
const BROKEN = {
  garbage: all.ProtocolError,
  binary: all.ProtocolError,
  list: all.ProtocolError,
  neither: all.ProtocolError,
  both: all.ProtocolError,
  "bad-error": all.ProtocolError,
  request: all.ProtocolError,
  unread: all.ServerError,
  die: all.ConnectionLostError,
  half: all.ConnectionLostError,
  slow: all.RequestTimeoutError,
  stuck: all.RequestTimeoutError,
};

function fake(how, version = all.VERSION) {
  rmSync(once, { force: true });
  const program = join(folder, "fake");
  writeFileSync(program, `#!/bin/sh\nexec '${PYTHON}' '${FAKE}' '${how}' '${version}' '${once}'\n`);
  chmodSync(program, 0o755);
  return program;
}

async function within(options, body) {
  const client = new Stockade(options);
  try {
    return await body(client);
  } finally {
    await client.close();
  }
}

async function collect(run) {
  const pieces = [];
  for await (const piece of run) pieces.push(piece);
  return pieces;
}

for (const [how, error] of Object.entries(BROKEN)) {
  test(`a server that breaks by ${how} is an error in time, and the next call works`, { timeout: 20_000 }, () =>
    within({ binary: fake(how) }, async (client) => {
      const began = Date.now();
      await assert.rejects(client.sanitize({ text: "x" }, { timeoutMs: 1500 }), error);
      assert.ok(Date.now() - began < 8000);
      if (how !== "unread" && how !== "slow") assert.deepEqual(await client.sanitize({ text: "x" }), { body: "well" });
    }));
}

test("output that is not whole is an error", { timeout: 20_000 }, async () => {
  for (const how of ["piece", "no-base64", "lost-pieces"]) {
    await within({ binary: fake(how) }, async (client) => {
      await assert.rejects(collect(client.execStream({ command: "x" }, { timeoutMs: 5000 })), all.ProtocolError);
    });
  }
});

test("what cannot be read is not sent", { timeout: 20_000 }, () =>
  within({}, async (client) => {
    const { session } = await client.sessionOpen();
    let deep = {};
    for (let level = 0; level < 200; level++) deep = { deep };
    const circle = [];
    circle.push(circle);
    const values = [
      NaN, -Infinity, 1n, "\ud800", { a: ["\udfff"] }, { "\ud800": 1 }, [undefined], () => 1, Symbol("x"), new Date(), deep, circle,
      Array.from({ length: 100_000 }, () => 1), "x".repeat(5 << 20),
    ];
    for (const x of values) {
      await assert.rejects(client.eval({ expr: "1", vars: { x } }), all.UnsendableError);
    }
    // It is still the same server.
    await client.sessionClose({ session });
  }));

test("a killed server is started again", { timeout: 20_000 }, () =>
  within({ arguments: ["--no-audit"] }, async (client) => {
    for (let round = 0; round < 3; round++) {
      // The command ends the server that runs it.
      await client.ping();
      const pid = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ").map(Number).at(-1);
      process.kill(pid, "SIGKILL");
      await client.ping().catch((error) => assert.ok(error instanceof all.ConnectionLostError, error));
      assert.equal((await client.ping()).ready, true);
    }
  }));

test("a stopped server is ended, and started again", { timeout: 20_000 }, () =>
  within({}, async (client) => {
    await client.ping();
    const pid = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ").map(Number).at(-1);
    process.kill(pid, "SIGSTOP");
    await assert.rejects(client.sanitize({ text: "x".repeat(1_000_000) }, { timeoutMs: 500 }), all.RequestTimeoutError);
    assert.equal((await client.sanitize({ text: "a" })).body, "a");
    assert.throws(() => process.kill(pid, 0));
  }));

test("what is no server is refused", { timeout: 30_000 }, async () => {
  for (const [options, error] of [
    [{ binary: "/bin/cat" }, all.ConnectionLostError],
    [{ binary: "/bin/true" }, all.ConnectionLostError],
    [{ binary: join(folder, "missing") }, all.BinaryNotFoundError],
    [{ binary: fake("well", "9.0.0") }, all.VersionError],
    [{ socketPath: join(folder, "no-socket") }, all.ConnectionLostError],
  ]) {
    await within({ startTimeoutMs: 2000, stderr: "ignore", ...options }, (client) => assert.rejects(client.ping(), error));
  }
});

test("errors of the server have their kinds", { timeout: 20_000 }, () =>
  within({}, async (client) => {
    await assert.rejects(client.call("no.such", {}), all.UnknownMethodError);
    await assert.rejects(client.sanitize({ txt: 1 }), all.InvalidParametersError);
    await assert.rejects(client.exec({ command: "rm -rf /" }), (error) => {
      assert.ok(error instanceof all.RefusedByPolicyError && error instanceof all.ServerError);
      assert.equal(error.code, -32001);
      assert.equal(error.name, "RefusedByPolicyError");
      return true;
    });
  }));

test("calls run side by side, and the server starts once", { timeout: 20_000 }, () =>
  within({}, async (client) => {
    const { session } = await client.sessionOpen();
    const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => client.sanitize({ text: `${n}<!-- x -->` })));
    assert.deepEqual(answers.map((one) => Number(one.body)), [...answers.keys()]);
    await client.sessionClose({ session });
  }));

test("a server that was lost is started once for all who wait", { timeout: 20_000 }, () =>
  within({ binary: fake("die") }, async (client) => {
    await assert.rejects(client.sanitize({ text: "x" }), all.ConnectionLostError);
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.sanitize({ text: "x" })));
    assert.equal(answers.length, 20);
    const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
    assert.equal(children.length, 1);
  }));

test("a start that fails fails once for all who wait", { timeout: 20_000 }, () =>
  within({ binary: fake("silent"), startTimeoutMs: 1000 }, async (client) => {
    const began = Date.now();
    const calls = Array.from({ length: 6 }, () => assert.rejects(client.ping(), all.RequestTimeoutError));
    await Promise.all(calls);
    assert.ok(Date.now() - began < 1900);
  }));

test("a start counts as time of the call that waits for it, and ends with the client", { timeout: 20_000 }, async () => {
  const began = Date.now();
  await within({ binary: fake("silent"), startTimeoutMs: 15_000 }, (client) =>
    assert.rejects(client.ping({}, { timeoutMs: 300 }), all.RequestTimeoutError));
  assert.ok(Date.now() - began < 4000);
});

test("nothing waits for ever that was not told to", { timeout: 20_000 }, async () => {
  const delays = [];
  const timer = globalThis.setTimeout;
  globalThis.setTimeout = (act, delay, ...more) => {
    delays.push(Math.round(delay / 1000));
    return timer(act, delay, ...more);
  };
  try {
    const nothing = { timeoutMs: undefined, startTimeoutMs: undefined, maxRequest: undefined, arguments: undefined, stderr: undefined };
    for (const options of [nothing, { timeoutMs: null }]) {
      await within({ binary: fake("slow"), ...options }, async (client) => {
        await client.ping();
        const run = client.exec({ command: "x", timeoutMs: "5" }, { timeoutMs: undefined }).catch(() => {});
        await client.ping({}, { timeoutMs: null });
        await client.close();
        await run;
      });
      for (const seconds of [10, 30, 150]) assert.ok(delays.includes(seconds), `${seconds}: ${delays}`);
      delays.length = 0;
    }
  } finally {
    globalThis.setTimeout = timer;
  }
  for (const time of [NaN, -1, "1", {}]) {
    for (const name of ["timeoutMs", "startTimeoutMs"]) assert.throws(() => new Stockade({ [name]: time }), all.UnsendableError);
    await within({}, (client) => assert.rejects(client.ping({}, { timeoutMs: time }), all.UnsendableError));
  }
});

test("a call that was given up before it was sent is not sent", { timeout: 20_000 }, async () => {
  const asked = join(folder, "asked");
  const given = {
    "aborted before": (client) => client.exec({ command: "x" }, { signal: AbortSignal.abort() }),
    "aborted while the server starts": (client) => {
      const stop = new AbortController();
      const call = client.exec({ command: "x" }, { signal: stop.signal });
      stop.abort();
      return call;
    },
    "cancelled while the server starts": (client) => {
      const run = client.execStream({ command: "x" });
      run.cancel();
      return run.result;
    },
  };
  for (const [why, call] of Object.entries(given)) {
    rmSync(asked, { force: true });
    await within({ binary: fake("well") }, async (client) => {
      await assert.rejects(call(client), all.AbortedError, why);
      await client.ping();
      assert.equal(existsSync(asked), false, why);
    });
  }
});

test("a command is ended that an error about some request was taken for", { timeout: 30_000 }, async () => {
  const cancelled = join(folder, "cancelled");
  for (const run of [(client) => client.exec({ command: "x" }), (client) => client.execStream({ command: "x" }).result]) {
    rmSync(cancelled, { force: true });
    await within({ binary: fake("unread") }, async (client) => {
      await assert.rejects(run(client), all.InvalidRequestError);
      for (let tries = 0; tries < 200 && !existsSync(cancelled); tries++) await sleep(20);
      assert.ok(existsSync(cancelled));
    });
  }
});

test("the program hears each signal once", { timeout: 30_000 }, async () => {
  const program = join(folder, "listens");
  writeFileSync(
    program,
    `#!${PYTHON}
import signal, sys, time
heard = []
for name in ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"):
    signal.signal(getattr(signal, name), lambda number, _: heard.append(signal.Signals(number).name))
print("ready", flush=True)
until = time.monotonic() + 1
while time.monotonic() < until:
    time.sleep(0.02)
print(*heard, flush=True)
`,
  );
  chmodSync(program, 0o755);
  const launcher = join(require.resolve("@stockade/client/package.json"), "../bin/stockade.cjs");
  // The keys of a terminal reach the whole group; whoever ends a job tells the launcher alone.
  for (const [signal, isOfGroup] of [["SIGINT", true], ["SIGQUIT", true], ["SIGTERM", false], ["SIGHUP", false]]) {
    const env = { ...process.env, STOCKADE_BINARY: program };
    const child = spawn(process.execPath, [launcher], { detached: true, stdio: ["ignore", "pipe", "inherit"], env });
    let said = "";
    const ended = new Promise((resolve) => child.on("close", resolve));
    for await (const part of child.stdout) {
      if (said === "") process.kill(isOfGroup ? -child.pid : child.pid, signal);
      said += part;
    }
    assert.equal(await ended, 0);
    assert.equal(said, `ready\n${signal}\n`);
  }
});

test("a closed client does nothing", async () => {
  const client = new Stockade();
  await client.ping();
  await client.close();
  await client.close();
  await assert.rejects(client.ping(), all.ClosedError);
});

test("a server is reached over a socket", { timeout: 20_000 }, async () => {
  const socketPath = join(folder, "socket");
  const server = spawn(all.findBinary(), ["serve", "--socket", socketPath], { stdio: "ignore" });
  while (!existsSync(socketPath)) await sleep(50);
  await within({ socketPath }, async (client) => assert.equal((await client.version()).version, all.VERSION));
  server.kill();
});

test("every method is there", () =>
  within({}, async (client) => {
    for (const method of (await client.version()).methods) {
      const name = method.replace(/\.(.)/, (_, letter) => letter.toUpperCase());
      assert.equal(typeof client[name], "function", name);
    }
  }));

test("notifications are heard, and a handler may fail", { timeout: 20_000 }, async () => {
  const heard = [];
  const onNotification = (method) => {
    heard.push(method);
    throw new Error("of the handler");
  };
  const warned = new Promise((resolve) => process.once("warning", resolve));
  await within({ onNotification, arguments: ["--rules", join(folder, "rules.toml")] }, async (client) => {
    await client.sessionOpen({ listen: true });
    await client.policyAdd({ rule: "deny git push" });
    assert.match((await warned).message, /of the handler/);
    assert.equal((await client.ping()).ready, true);
  });
  assert.deepEqual(heard, ["policy.changed"]);
});

test("output comes while the command runs", { timeout: 30_000 }, () =>
  within({}, async (client) => {
    const run = client.execStream({ command: "echo one; echo two >&2; sleep 0.2; echo three", spec: { workspace: folder } });
    const pieces = await collect(run);
    const out = Buffer.concat(pieces.filter((piece) => piece.stream === "stdout").map((piece) => piece.data)).toString();
    assert.equal(out, "one\nthree\n");
    assert.equal((await run.result).exitCode, 0);
  }));

test("a command that nobody waits for is ended", { timeout: 30_000 }, () =>
  within({}, async (client) => {
    const spec = { workspace: folder };
    const command = "while :; do echo tick >> ticks; echo tick; sleep 0.05; done";
    const run = client.execStream({ command, spec });
    for await (const _ of run) break;
    assert.equal((await run.result).end, "cancelled");
    await assert.rejects(client.exec({ command, spec }, { timeoutMs: 500 }), all.RequestTimeoutError);
    await assert.rejects(client.exec({ command, spec }, { signal: AbortSignal.timeout(500) }), all.AbortedError);
    await sleep(500);
    const { size } = statSync(join(folder, "ticks"));
    await sleep(500);
    assert.equal(statSync(join(folder, "ticks")).size, size);
  }));

test("both kinds of modules have the same", async () => {
  const module = await import(require.resolve("@stockade/client").replace("index.cjs", "index.mjs"));
  assert.deepEqual(Object.keys(module).sort(), Object.keys(all).sort());
  assert.equal(module.Stockade, Stockade);
});
