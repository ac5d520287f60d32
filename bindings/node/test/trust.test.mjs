// Code of a bare path and of a project runs only after a yes.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Engine } from '../dist/index.mjs';
import { ROOT } from './support.mjs';

const SKILL = `---
name: trio
description: Has a script and a server.
triggers: [trio]
toolsets: ["tools/server.py:mcp"]
scripts: [scripts/say.sh]
---
Body
`;

const SOURCES = [
  [(path) => path, false],
  [(path) => `${path}/../skills`, false],
  [(path) => relative(process.cwd(), path), false],
  [(path) => ({ path }), false],
  [(path) => ({ path, scope: 'project' }), false],
  [(path) => ({ path, scope: 'user' }), true],
  [(path) => ({ path, scope: 'bundled' }), true],
];

function skills(t) {
  const dir = mkdtempSync(join(tmpdir(), 'repertoire-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  for (const name of ['tools', 'scripts']) mkdirSync(join(dir, 'skills/trio', name), { recursive: true });
  writeFileSync(join(dir, 'skills/trio/SKILL.md'), SKILL);
  writeFileSync(join(dir, 'skills/trio/scripts/say.sh'), '#!/bin/sh\necho ran\n');
  cpSync(join(ROOT, 'crates/cli/src/tool/server.py'), join(dir, 'skills/trio/tools/server.py'));
  return dir;
}

// The kinds of code that ran.
async function ran(options) {
  const engine = new Engine({ toolsets: true, scripts: true, ...options });
  const { tools } = await engine.turn('/trio', engine.session('s'));
  const say = await tools.call('run_skill_script', { skill: 'trio', script: 'scripts/say.sh' });
  const greet = await tools.call('trio_greet', { name: 'Ada' });
  return Object.entries({ say, greet }).flatMap(([kind, { status }]) => (status === 'success' ? [kind] : []));
}

test('a bare path is a project\'s', async (t) => {
  const path = join(skills(t), 'skills');
  for (const [source, isTrusted] of SOURCES) {
    const sources = [source(path)];
    const wanted = isTrusted ? ['say', 'greet'] : [];
    assert.deepEqual(await ran({ sources }), wanted, JSON.stringify(sources));
    assert.deepEqual(await ran({ sources, approve: () => false }), wanted, JSON.stringify(sources));
    assert.deepEqual(await ran({ sources, approve: async () => true }), ['say', 'greet']);
  }
});

test('a fetched skill is none of the user\'s own, wherever an agent lists it', async (t) => {
  const dir = skills(t);
  const sources = [{ path: join(dir, 'own'), scope: 'user' }];
  mkdirSync(join(dir, 'own'));
  writeFileSync(join(dir, 'skills/.config-dir'), '/home/ann/.acme');
  symlinkSync(join(dir, 'skills/trio'), join(dir, 'own/trio'));
  assert.deepEqual(await ran({ sources }), []);
  rmSync(join(dir, 'own/trio'));
  cpSync(join(dir, 'skills/trio'), join(dir, 'own/trio'), { recursive: true });
  writeFileSync(join(dir, 'own/trio/.fetched'), '');
  assert.deepEqual(await ran({ sources }), []);
  rmSync(join(dir, 'own/trio/.fetched'));
  assert.deepEqual(await ran({ sources }), ['say', 'greet']);
});

test('a URL is no path', async (t) => {
  const path = pathToFileURL(join(skills(t), 'skills'));
  for (const source of [path, path.href]) assert.deepEqual(await ran({ sources: [source] }), []);
});

test('a no is remembered, and no answer is not', async (t) => {
  const dir = skills(t);
  const asked = [];
  const counts = [];
  for (const answer of [null, null, false, false, true]) {
    const approve = (request) => (asked.push(request.may), answer);
    const options = { sources: [join(dir, 'skills')], trust: join(dir, 'trust.json'), approve };
    assert.deepEqual(await ran(options), []);
    counts.push(asked.length);
  }
  const [once, twice, no, again, yes] = counts;
  assert(once > 0 && twice > once && no > twice && again === no && yes === no, counts.join());
  const questions = new Set(asked);
  assert(questions.has('reads its skill and the project in which it runs · no network · writes nothing'), asked.join());
  assert(questions.has('reads its skill alone · no network · writes nothing'), asked.join());
});

test('only true is a yes', async (t) => {
  const sources = [join(skills(t), 'skills')];
  const says = [undefined, null, false, 0, 1, '', 'no', 'yes', [], {}, { approved: false }];
  const answers = [...says.flatMap((said) => [() => said, async () => said]), () => { throw new Error('no'); }];
  for (const approve of answers) {
    const which = `${approve}`;
    // A wrong answer, or none, may also be an error of the call.
    assert.deepEqual(await ran({ sources, approve }).catch(() => []), [], which);
  }
});
