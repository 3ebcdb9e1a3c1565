// What the official SDK for JavaScript makes of the server: `sdk.mjs PORT`. It prints `ok`, or fails.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

const port = process.argv[2]
const url = 'http://127.0.0.1:' + port
Object.assign(process.env, { E2B_API_KEY: 'e2b_' + '0'.repeat(40), E2B_API_URL: url, E2B_SANDBOX_URL: url, E2B_HTTP_VERSION: '1.1' })
const { CommandExitError, NotFoundError, Sandbox } = createRequire(process.cwd() + '/')('e2b')

const sandbox = await Sandbox.create('base', { timeoutMs: 60_000, envs: { A: 'b c' }, metadata: { run: '1' }, allowInternetAccess: false })
let pieces = ''
const done = await sandbox.commands.run('echo "$A"; echo two >&2', { onStdout: piece => { pieces += piece }, cwd: '/home/user' })
assert.deepEqual([done.exitCode, done.stdout, done.stderr, pieces], [0, 'b c\n', 'two\n', 'b c\n'])
await assert.rejects(sandbox.commands.run('exit 3'), error => error instanceof CommandExitError && error.exitCode === 3)
const bytes = Uint8Array.from({ length: 256 }, (_, at) => at)
await sandbox.files.write('/home/user/a/b.bin', new Blob([bytes]))
assert.deepEqual(new Uint8Array(await sandbox.files.read('/home/user/a/b.bin', { format: 'bytes' })), bytes)
assert.deepEqual((await sandbox.files.list('/home/user/a')).map(one => one.name), ['b.bin'])
await assert.rejects(sandbox.files.read('/home/user/nothing'), NotFoundError)
await sandbox.setTimeout(120_000)
assert.deepEqual((await sandbox.getInfo()).metadata, { run: '1' })
assert.ok(await sandbox.kill())
console.log('ok')
