// Callbacks of the host are called, and the errors they throw reach the caller.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Engine, RepertoireError } from '../dist/index.mjs';
import { FORK, GIT, LaterStore } from './support.mjs';

class Boom extends Error {}
const boom = () => {
  throw new Boom('the disk is on fire');
};
const later = async () => boom();
/** A retriever that fails for one message, but not while the engine is built. */
const boomOn = (wanted) => (message, candidates) => (message === wanted ? boom() : candidates.map(() => 0));

test('callbacks are asked, also those that promise', async () => {
  const asked = [];
  const note = (kind, answer) => (...args) => {
    asked.push([kind, ...args]);
    return answer;
  };
  const engine = new Engine({
    skills: [GIT, FORK],
    disclosure: { budget: '1000t' },
    tokenCounter: note('count', 3),
    taskSpawner: note('spawn', Promise.resolve('task-1')),
    consent: 'always',
    askConsent: note('consent', Promise.resolve(true)),
  });
  assert.equal(engine.countTokens('x'), 3);
  const session = engine.session('s');
  assert.equal((await engine.activate('research', session, { args: 'bees' })).taskId, 'task-1');
  const spawned = asked.find(([kind]) => kind === 'spawn')[1];
  assert(spawned.prompt.includes('Look up bees.') && spawned.baseDir === null);
  const request = asked.find(([kind]) => kind === 'consent')[1];
  assert.deepEqual([request.id, request.audience, request.allowedTools], ['research', 'model', null]);
  const progress = [];
  await Engine.create({ skills: [GIT], progress: ({ phase }) => progress.push(phase) });
  assert.deepEqual([...new Set(progress)], ['reading', 'compiling', 'indexing']);
});

test('a store of the host remembers', async () => {
  const store = new LaterStore();
  const engine = new Engine({ skills: [GIT, FORK], sessionStore: store });
  const mirror = new Engine({ skills: [GIT, FORK] });
  const steps = [
    (e) => e.turn('a commit message', e.session('s')),
    (e) => e.session('s').recordUse('research'),
    (e) => e.turn('research bees', e.session('s')),
    (e) => e.session('s').compacted(),
    (e) => e.turn('go on', e.session('s')),
    (e) => e.activate('research', e.session('s'), { inline: true }),
    (e) => e.session('s').consent('research'),
  ];
  for (const [number, step] of steps.entries()) {
    await Promise.all([step(engine), step(mirror)]);
    assert.deepEqual(await engine.session('s').state(), await mirror.session('s').state(), `step ${number}`);
  }
  await engine.session('s').end();
  assert.equal(store.sessions.size, 0);
});

test('what a callback throws reaches the caller', async () => {
  const broken = (method) => Object.assign(new LaterStore(), { [method]: later });
  const cases = [
    [{ tokenCounter: boom }, (e) => e.countTokens('x')],
    [{ tokenCounter: boom, disclosure: { budget: '900t' } }, (e) => e.turn('commit message', e.session('s'))],
    [{ tokenCounter: later, disclosure: { budget: '900t' } }, (e) => e.turn('commit message', e.session('s'))],
    [{ retriever: boomOn('x') }, (e) => e.findSkills('x')],
    [{ retriever: boomOn('some messages') }, (e) => e.disclose('some messages')],
    [{ taskSpawner: later }, (e) => e.activate('research', e.session('s'))],
    [{ consent: 'always', askConsent: later }, (e) => e.activate('commit-message', e.session('s'))],
    [{ sessionStore: broken('record') }, (e) => e.session('s').compacted()],
    [{ sessionStore: broken('state') }, (e) => e.session('s').state()],
    [{ sessionStore: broken('end') }, (e) => e.session('s').end()],
  ];
  for (const [options, call] of cases) {
    const engine = new Engine({ skills: [GIT, FORK], ...options });
    for (let round = 0; round < 2; round += 1) {
      await assert.rejects(async () => call(engine), (error) => {
        assert(error instanceof RepertoireError && error.cause instanceof Boom, `${call}: ${error.stack}`);
        assert(error.message.includes('the disk is on fire') && error.code === 'EXECUTION_ERROR');
        return true;
      });
    }
    assert(engine.skill('commit-message').body);
    if (!options.sessionStore) assert.deepEqual(await engine.session('s').state(), []);
  }
  await assert.rejects(Engine.create({ skills: [GIT], progress: boom }), /the disk is on fire/);
  const engine = new Engine({ skills: [FORK], taskSpawner: boom });
  const answer = await engine.tools(engine.session('s')).call('use_skill', { skill: 'research' });
  assert(answer.error.message.includes('the disk is on fire'));
});

test('an answer of another type, or too late, is an error', async () => {
  for (const wrong of [undefined, 'many', -1, 1.5]) {
    assert.throws(() => new Engine({ tokenCounter: () => wrong }).countTokens('x'), /the token counter failed/);
  }
  assert.throws(() => new Engine({ tokenCounter: later }).countTokens('x'), /returned a promise/);
});

test('a program killed in a callback leaves its sessions whole', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'repertoire-'));
  try {
    const program = `import { Engine } from '${new URL('../dist/index.mjs', import.meta.url)}';
      const tokenCounter = (text) => (process.argv[1] && text.includes('imperative') ? process.kill(process.pid, 'SIGKILL') : text.length);
      const engine = new Engine({ skills: [${JSON.stringify(GIT)}], tokenCounter, disclosure: { budget: '9000t' },
        sessionStore: ${JSON.stringify(join(dir, 'sessions.db'))} });
      await engine.session('s').recordUse('commit-message');
      console.log((await engine.turn('commit message', engine.session('s'))).disclosure.full.join());`;
    const run = (...args) => spawnSync(process.execPath, ['--input-type=module', '-e', program, ...args], { encoding: 'utf8' });
    assert.equal(run('kill').signal, 'SIGKILL');
    assert.equal(run().stdout, 'commit-message\n');
    const engine = new Engine({ skills: [GIT], sessionStore: join(dir, 'sessions.db') });
    assert.equal((await engine.session('s').state())[0].uses, 3);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
