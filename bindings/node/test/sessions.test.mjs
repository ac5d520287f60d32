// Sessions on servers, by URL; they need `postgres` and `redis-server`.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Engine } from '../dist/index.mjs';
import { GIT } from './support.mjs';

const PASSWORD = 's3cret';
const MESSAGE = 'the commit message, please';

/** Servers refuse to run as root; this is the user `nobody` on all current systems. */
const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** Returns the path of a program, or undefined; fails if it must be there. */
function program(...names) {
  const dirs = process.env.PATH.split(':');
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').sort() : [];
  dirs.push(...versions.map((version) => `/usr/lib/postgresql/${version}/bin`));
  const found = names.flatMap((name) => dirs.map((dir) => join(dir, name))).find(existsSync);
  assert(found || !process.env.REPERTOIRE_SERVERS, `there is no ${names[0]}`);
  return found;
}

/** Returns a port below those that the system gives to whoever asks for any. */
async function freePort() {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    const listener = createServer().listen(port, '127.0.0.1');
    const isFree = await new Promise((resolve) => listener.on('listening', () => resolve(true)).on('error', () => resolve(false)));
    if (isFree) {
      await new Promise((resolve) => listener.close(resolve));
      return port;
    }
  }
}

const kinds = {
  postgres(place, port) {
    const path = program('postgres');
    if (!path) return undefined;
    const [secret, data] = [join(place, 'password'), join(place, 'data')];
    writeFileSync(secret, PASSWORD);
    chmodSync(secret, 0o644);
    const options = ['--no-sync', '--username=ann', '--auth=scram-sha-256', '--locale=C', `--pwfile=${secret}`, `--pgdata=${data}`];
    execFileSync(join(dirname(realpathSync(path)), 'initdb'), options, { cwd: '/', stdio: 'pipe', ...nobody });
    const settings = ['listen_addresses=127.0.0.1', 'fsync=off', `unix_socket_directories=${place}`];
    const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
    return { path, args, signal: 'SIGINT', url: `postgres://ann:${PASSWORD}@127.0.0.1:${port}/postgres` };
  },
  redis(place, port) {
    const path = program('redis-server', 'valkey-server');
    const args = ['--port', String(port), '--dir', place, '--bind', '127.0.0.1', '--requirepass', PASSWORD, '--appendonly', 'yes', '--save', ''];
    return path && { path, args, signal: 'SIGTERM', url: `redis://:${PASSWORD}@127.0.0.1:${port}/1` };
  },
};

/** Prepares a server for a test, which starts and stops it; skips the test if it is not installed. */
async function server(t, kind) {
  const place = mkdtempSync(join(tmpdir(), 'repertoire-'));
  if (nobody.uid) chownSync(place, nobody.uid, nobody.gid);
  const port = await freePort();
  const known = kinds[kind](place, port);
  if (!known) {
    const message = `SKIPPED: there is no ${kind} server on this machine`;
    console.error(message);
    return t.skip(message);
  }
  let running;
  const start = async () => {
    running = spawn(known.path, known.args, { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'], ...nobody });
    let told = '';
    // A server that listens may be starting up still.
    const ready = new Promise((resolve) => {
      for (const stream of [running.stdout, running.stderr]) {
        stream.on('data', (text) => {
          told += text;
          if (told.includes('eady to accept connections')) resolve(true);
        });
      }
      running.on('exit', () => resolve(false));
    });
    assert(await Promise.race([ready, sleep(60_000, false, { ref: false })]), told);
  };
  const stop = async () => {
    if (!running || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.on('exit', resolve));
    running.kill(known.signal);
    await ended;
    running = undefined;
  };
  t.after(async () => {
    await stop();
    rmSync(place, { recursive: true, force: true });
  });
  return { start, stop, url: known.url };
}

for (const kind of Object.keys(kinds)) {
  test(`engines share the sessions of a ${kind} server`, { skip: process.platform === 'win32' }, async (t) => {
    const running = await server(t, kind);
    if (!running) return;
    await running.start();
    const here = new Engine({ skills: GIT, sessionStore: running.url });
    const there = new Engine({ skills: GIT, sessionStore: new URL(running.url) }); // another process, another machine
    assert.deepEqual((await here.turn(MESSAGE, here.session('chat-7'))).disclosure.full, ['commit-message']);
    assert.deepEqual((await there.turn(MESSAGE, there.session('chat-7'))).disclosure.full, []);
    assert((await there.session('chat-7').state())[0].inContext);

    // While the server is away, each answers from memory; afterwards, what it acknowledged is there.
    await running.stop();
    assert.deepEqual((await there.turn(MESSAGE, there.session('chat-8'))).disclosure.full, ['commit-message']);
    await running.start();
    const state = () => there.session('chat-7').state();
    for (let n = 0; n < 150 && (await state()).length === 0; n += 1) await sleep(200); // after a pause
    assert((await state())[0].inContext);
    await there.session('chat-7').end();
    assert.deepEqual(await here.session('chat-7').state(), []);
  });
}

test('a server that is away costs no answer', async () => {
  for (const scheme of ['postgres', 'redis']) {
    const engine = new Engine({ skills: GIT, sessionStore: `${scheme}://ann:${PASSWORD}@127.0.0.1:9/1` });
    const session = engine.session('chat-7');
    assert.deepEqual((await engine.turn(MESSAGE, session)).disclosure.full, ['commit-message']);
    assert.deepEqual((await engine.turn(MESSAGE, session)).disclosure.full, []);
    assert((await session.state())[0].inContext);
  }
});
