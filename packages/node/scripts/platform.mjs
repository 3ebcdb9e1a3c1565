// Makes the package that holds the program for one platform: node platform.mjs PROGRAM FOLDER
// The programs of remote backends beside it are part of the package, since `stockade` looks for them beside itself.
// What the program runs on is read from the program itself.

import { chmodSync, copyFileSync, mkdirSync, openSync, readFileSync, readSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const PROCESSORS = { elf: { 62: "x64", 183: "arm64" }, mach: { 0x01000007: "x64", 0x0100000c: "arm64" } };

const [program, folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error("usage: node platform.mjs PROGRAM FOLDER");
  process.exit(2);
}
const { os, cpu } = platformOf(program);
const { version, license } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const description = `The program \`stockade\` for ${os}-${cpu}, which @stockade/client starts.`;
const licences = ["LICENSE-MIT", "LICENSE-APACHE"];
const backends = readdirSync(dirname(program)).filter((name) => /^stockade-backend-[a-z0-9]+$/.test(name));
const files = ["stockade", ...backends, ...licences];
const manifest = { name: `@stockade/cli-${os}-${cpu}`, version, description, license, os: [os], cpu: [cpu], files };
mkdirSync(folder, { recursive: true });
copyFileSync(program, join(folder, "stockade"));
chmodSync(join(folder, "stockade"), 0o755);
for (const name of backends) {
  copyFileSync(join(dirname(program), name), join(folder, name));
  chmodSync(join(folder, name), 0o755);
}
for (const name of licences) {
  copyFileSync(new URL(`../../../${name}`, import.meta.url), join(folder, name));
}
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
console.log(`${manifest.name} ${version}`);

function platformOf(path) {
  const head = Buffer.alloc(64);
  readSync(openSync(path, "r"), head);
  if (head.readUInt32BE(0) === 0x7f454c46) return known("linux", PROCESSORS.elf[head.readUInt16LE(18)]);
  if (head.readUInt32LE(0) === 0xfeedfacf) return known("darwin", PROCESSORS.mach[head.readUInt32LE(4)]);
  return known(undefined);
}

function known(os, cpu) {
  if (os !== undefined && cpu !== undefined) return { os, cpu };
  console.error(`${program} is no program for Linux or macOS on a processor that packages are made for`);
  return process.exit(1);
}
