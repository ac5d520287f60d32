// A retriever of the host ranks, on any scale, and its mistakes are errors.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Engine, RepertoireError } from '../dist/index.mjs';

const KEEP = `---
name: keeper
description: We keep things.
when_to_use: Before a flood.
---
# First

## Second
Body
`;
const OTHER = '---\nname: other\ndescription: Others.\n---\nB\n';
const MESSAGE = 'please convert the quarterly numbers';
const skills = [KEEP, OTHER];

/** Scores `other` above `keeper` for one message, from `low` up by `step`. */
class Scale {
  prepared = [];
  ranked = [];

  constructor(low, step) {
    Object.assign(this, { low, step, levels: { floor: low, enough: low + step / 2 } });
  }

  prepare(candidates) {
    this.prepared.push(candidates);
  }

  rank(message, candidates) {
    this.ranked.push(candidates);
    return candidates.map(({ id }) => this.low + (message === MESSAGE && id === 'other' ? this.step : 0));
  }
}

const found = async (engine, message) => (await engine.findSkills(message)).map(({ id }) => id);

test('scores of any scale find a skill', async () => {
  for (const low of [0, -5, 0.8]) {
    for (const step of [1, 12, 400]) {
      const engine = new Engine({ skills, retriever: new Scale(low, step) });
      assert.deepEqual(await found(engine, MESSAGE), ['other'], `${low} ${step}`);
      assert.deepEqual(await found(engine, 'something else'), []);
      assert.equal(engine.disclose(MESSAGE).failure, null);
    }
  }
  class Equal extends Scale {
    rank = (_, candidates) => Float32Array.from(candidates, () => this.low);
  }
  assert.deepEqual(await found(new Engine({ skills, retriever: new Equal(0.5, 1) }), MESSAGE), []);
});

test('levels that are not given are measured', async () => {
  const asked = new Set();
  const retriever = (message, candidates) => {
    asked.add(message);
    return candidates.map(({ id }) => Number(message === MESSAGE && id === 'other'));
  };
  const engine = new Engine({ skills, retriever });
  assert(asked.size > 50);
  assert.deepEqual(await found(engine, MESSAGE), ['other']);
});

test('candidates are converted once, and again when the catalog changed', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'repertoire-'));
  const add = (name, text) => {
    mkdirSync(join(dir, name));
    writeFileSync(join(dir, name, 'SKILL.md'), text);
  };
  try {
    add('keeper', KEEP);
    add('other', OTHER);
    const scale = new Scale(0, 1);
    const engine = new Engine({ sources: [dir], retriever: scale });
    const [prepared] = scale.prepared;
    assert.deepEqual(prepared[0], {
      id: 'keeper', name: 'keeper', description: 'We keep things. Before a flood.', whenToUse: 'Before a flood.',
      headings: ['First', 'Second'], body: '# First\n\n## Second\nBody\n',
    });
    engine.disclose(MESSAGE);
    await engine.turn(MESSAGE, engine.session('s'));
    assert(scale.ranked.length >= 2 && scale.ranked.every((ranked) => ranked === prepared));

    // The thread that watches runs no call of ours, and asks all the same.
    const watch = engine.watch();
    let isChanged = false;
    const subscription = engine.subscribe(() => (isChanged = true));
    add('third', OTHER.replace('other', 'third'));
    for (let round = 0; round < 200 && !isChanged; round += 1) await setTimeout(50);
    for (const guard of [watch, subscription]) guard.close();
    assert.deepEqual(scale.prepared.map((list) => list.length), [2, 3]);
    assert.deepEqual([await found(engine, MESSAGE), engine.disclose(MESSAGE).failure], [['other'], null]);
    assert.equal(scale.ranked.at(-1), scale.prepared[1]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('scores that do not fit are errors', async () => {
  const cases = [
    [[1], RangeError, '1 scores for 2 candidates'],
    [[], RangeError, '0 scores for 2 candidates'],
    [[1, 2, 3], RangeError, '3 scores for 2 candidates'],
    [[1, NaN], RangeError, 'the score of `other` is NaN'],
    [[Infinity, 1], RangeError, 'the score of `keeper` is Infinity'],
    [[1e300, 1], RangeError, 'the score of `keeper` is 1e+300'],
    [[null, 1], RangeError, 'the score of `keeper` is null'],
    [null, TypeError, 'the scores are null, not a list'],
    [undefined, TypeError, 'the scores are undefined, not a list'],
  ];
  for (const [scores, cause, told] of cases) {
    const isTold = (error) => {
      assert(error instanceof RepertoireError && error.cause instanceof cause, String(error.stack));
      assert(error.message.startsWith('the retriever failed: ') && error.message.includes(told), error.message);
      return true;
    };
    const retriever = Object.assign(new Scale(0, 1), { rank: () => scores });
    const engine = new Engine({ skills, retriever });
    assert.throws(() => engine.disclose(MESSAGE), isTold);
    await assert.rejects(engine.findSkills(MESSAGE), isTold);
    // Without levels, the engine asks while it is built.
    assert.throws(() => new Engine({ skills, retriever: () => scores }), isTold);
    await assert.rejects(Engine.create({ skills, retriever: async () => scores }), isTold);
  }
});

test('levels and a preparation that fail are errors while building', async () => {
  for (const levels of [1, {}, { floor: 1 }, { floor: NaN, enough: 1 }, { floor: 'a', enough: 'b' }]) {
    const retriever = Object.assign(new Scale(0, 1), { levels });
    assert.throws(() => new Engine({ skills, retriever }), /`levels` is an object with two finite numbers/);
  }
  const prepare = async () => {
    throw new Error('no weights');
  };
  const retriever = Object.assign(new Scale(0, 1), { prepare });
  await assert.rejects(Engine.create({ skills, retriever }), /no weights/);
  assert.throws(() => new Engine({ skills, retriever }), /use an asynchronous method/);
});

test('meaning is a switch or a path', async () => {
  for (const meaning of [true, false]) {
    assert.deepEqual(new Engine({ skills, meaning }).disclose('keeper').full, ['keeper']);
  }
  const near = 'what should we do when the water rises into our cellar';
  assert.deepEqual(await new Engine({ skills, meaning: false }).findSkills(near), []);
  assert.throws(() => new Engine({ meaning: '/nowhere/x.table' }), { code: 'NOT_FOUND' });
  assert.throws(() => new Engine({ meaning: 3 }), { code: 'INVALID_PARAM' });
});
