// A session store of the host that fails costs no answer: memory stands in for it, and the host is told.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Engine, RepertoireError } from '../dist/index.mjs';
import { FORK, GIT, LaterStore, MapStore } from './support.mjs';

const OWN = '---\nname: own\ndescription: d\ndisable-model-invocation: true\n---\nOWN\n';

class Boom extends Error {}
const boom = () => {
  throw new Boom('the disk is on fire');
};
const later = async () => boom();

/** Each fault, and whether the thrown error is the cause of what the host is told. */
const FAULTS = {
  'load throws': [{ state: boom }, true],
  'load rejects': [{ state: later }, true],
  'save throws': [{ record: boom }, true],
  'save rejects': [{ record: later }, true],
  both: [{ state: boom, record: later, end: boom }, true],
  'loads nothing': [{ state: () => undefined }, false],
  'loads a number': [{ state: async () => 7 }, false],
  'loads a text': [{ state: () => 'paint' }, false],
  'loads numbers': [{ state: () => [7] }, false],
  'loads gaps': [{ state: () => [null] }, false],
  'loads an object': [{ state: async () => ({ skill: 'commit-message' }) }, false],
  'saves and returns garbage': [{ record: () => 'ok' }, false],
};

const answer = async (engine, session, tool, args) => {
  const envelope = await engine.tools(session).call(tool, args);
  assert.equal(envelope.status, 'success', JSON.stringify(envelope));
  return envelope.text;
};

/** Everything that answers a user, a model or a host, in an order in which each depends on those before. */
const STEPS = {
  prompt: (e, s) => e.prompt(null, s).text,
  'a message': async (e, s) => (await e.turn('a commit message', s)).text,
  'a message whose skill is in the context': async (e, s) => (await e.turn('a commit message', s)).disclosure,
  'a preview': (e, s) => e.preview('a commit message', s),
  matches: (e, s) => e.matches('a commit message', null, s),
  'an explanation': (e, s) => e.explain('a commit message', 3, null, s),
  use_skill: (e, s) => answer(e, s, 'use_skill', { skill: 'commit-message' }),
  'use_skill with arguments': (e, s) => answer(e, s, 'use_skill', { skill: 'commit-message', args: 'x' }),
  find_skills: (e, s) => answer(e, s, 'find_skills', { query: 'commit message' }),
  'the tools': (e, s) => e.tools(s).definitions(),
  'a command': async (e, s) => (await e.turn('/own', s)).text,
  'a typed message': (e, s) => e.userMessage('/own', s),
  'an activation': (e, s) => e.activate('commit-message', s, { args: 'y' }),
  'a task': (e, s) => answer(e, s, 'use_skill', { skill: 'research' }),
  'the end of a task': async (e, s) => (await e.tools(s).finish('task', 'bees')).text,
};
/** The steps that are synchronous: a store that promises cannot serve them. */
const NOW = ['prompt', 'matches', 'an explanation'];

const engineWith = (sessionStore) => new Engine({ skills: [GIT, FORK, OWN], sessionStore, taskSpawner: () => 'task' });

for (const [fault, [methods, isThrown]] of Object.entries(FAULTS)) {
  const promises = Object.values(methods).some((method) => method.constructor.name === 'AsyncFunction');
  for (const Store of promises ? [LaterStore] : [MapStore, LaterStore]) {
    test(`each answer is that of a store that works: ${fault}, ${Store.name}`, async () => {
      const kept = Object.assign(new Store(), methods);
      const [engine, healthy] = [engineWith(kept), engineWith(undefined)];
      for (const [name, step] of Object.entries(STEPS)) {
        if (Store === LaterStore && NOW.includes(name)) continue;
        const wanted = await step(healthy, healthy.session('s'));
        assert.deepEqual(await step(engine, engine.session('s')), wanted, name);
      }
      const session = engine.session('s');
      const turn = Store === MapStore ? engine.turnSync('hello', session) : await engine.turn('hello', session);
      for (const error of [turn.unsaved, await session.unsaved()]) {
        assert(error instanceof RepertoireError && error.message.includes('the session store failed'), String(error));
        assert.equal(error.cause instanceof Boom, isThrown, fault);
      }
      assert.equal(await engine.session('another').unsaved(), null);
      assert.equal((await healthy.turn('hello', healthy.session('s'))).unsaved, null);
    });
  }
}

test('what a host asks the session itself rejects and is kept for the answers', async () => {
  const session = engineWith(Object.assign(new LaterStore(), { record: boom, end: later })).session('s');
  for (const call of [() => session.compacted(), () => session.end(), () => session.consent('own')]) {
    await assert.rejects(call, (error) => error instanceof RepertoireError && error.cause instanceof Boom);
  }
  assert.deepEqual((await session.state()).map((state) => state.consented), [true]);
});

test('the store counts again once it works', async () => {
  const kept = Object.assign(new LaterStore(), { record: boom });
  const engine = engineWith(kept);
  const session = engine.session('s');
  assert((await engine.turn('a commit message', session)).unsaved);
  delete kept.record;
  assert.equal((await engine.turn('/commit-message', session)).unsaved, null);
  assert.equal(await session.unsaved(), null);
  assert.deepEqual((await session.state()).map((state) => state.skill), ['commit-message']);
});

test('a database that cannot be opened is told as well', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'repertoire-'));
  writeFileSync(join(dir, 'blocked'), 'a file');
  const engine = new Engine({ skills: [GIT], sessionStore: join(dir, 'blocked', 'sessions.db') });
  const turn = await engine.turn('a commit message', engine.session('s'));
  assert(turn.disclosure.full.includes('commit-message') && turn.unsaved instanceof RepertoireError);
  assert((await engine.session('s').unsaved()) instanceof RepertoireError);
  rmSync(dir, { recursive: true });
});

test('mistakes of the caller are still errors', async () => {
  const engine = engineWith(new LaterStore());
  const session = engine.session('s');
  const calls = [
    () => engine.turnSync('hello', session), () => engine.prompt(null, session),
    () => engine.matches('hello', null, session), () => engine.explain('hello', 3, null, session),
  ];
  for (const call of calls) assert.throws(call, /use an asynchronous method/, String(call));
  assert.equal((await engine.turn('a commit message', session)).unsaved, null, 'the store works');
  await assert.rejects(() => engine.turn(7, session), TypeError);
  await assert.rejects(() => engine.turn('hello', 's'), TypeError);
});
