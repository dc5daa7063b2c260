import assert from 'node:assert'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { Worker } from 'node:worker_threads'

// listening resolves when a server listens, and rejects when it cannot.
const listening = (server, ...where) => new Promise((resolve, reject) => server.on('error', reject).listen(...where, resolve))

test('loopback HTTP', async () => {
  const server = http.createServer((_, res) => res.end('hello'))
  await listening(server, 0, '127.0.0.1')
  try {
    const res = await fetch(`http://127.0.0.1:${server.address().port}/`)
    assert.equal(await res.text(), 'hello')
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('worker', async () => {
  const worker = new Worker('require("node:worker_threads").parentPort.postMessage(42)', { eval: true })
  assert.equal(await new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject)), 42)
})

test('child process', () => {
  const child = spawnSync(process.execPath, ['-p', '6*7'], { encoding: 'utf8' })
  assert.equal(child.stdout, '42\n', child.stderr)
})

// The path is relative: TMPDIR can be longer than that of a socket may be.
test('unix socket', async () => {
  const dir = mkdtempSync(join(tmpdir(), 's'))
  process.chdir(dir)
  const server = net.createServer((c) => c.end('hello'))
  try {
    await listening(server, './s')
    const text = await new Promise((resolve, reject) => net.connect('./s').on('data', resolve).on('error', reject))
    assert.equal(String(text), 'hello')
  } finally {
    server.close()
    process.chdir(tmpdir())
    rmSync(dir, { recursive: true })
  }
})
