// Skills from objects of the host, what activations tell, and sessions by URL.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Engine, permits, preapproved } from '../dist/index.mjs';
import { GIT } from './support.mjs';

const skill = (name, description, fields = '') => `---\nname: ${name}\ndescription: ${description}\n${fields}---\nDo $ARGUMENTS.\n`;

/** A provider: rows of a database by path, each with a version. Answers later, as a database does. */
class Table {
  rows = new Map([
    ['ship/SKILL.md', [1, skill('ship', 'Ships.')]],
    ['ship/logo.bin', [1, new Uint8Array([255, 0])]],
  ]);
  async list() {
    return [...this.rows].map(([path, [version]]) => [path, version]);
  }
  async read(path) {
    return this.rows.get(path)[1];
  }
}

test('skills come from a provider and from files in memory', async () => {
  const table = new Table();
  let made = 0;
  const files = { 'oncall/SKILL.md': skill('oncall', 'On call.'), 'oncall/now.md': () => `Ana ${++made}` };
  const engine = await Engine.create({ sources: [{ provider: table }, { provider: files }] });
  assert.deepEqual(engine.skills().map(({ id }) => id), ['oncall', 'ship']);
  const session = engine.session('a');
  const activation = await engine.activate('ship', session, { args: 'v2' });
  assert.deepEqual([activation.content, activation.files, activation.scope], ['Do v2.\n', ['logo.bin'], 'memory']);
  const tools = engine.tools(session);
  const read = async (of, path) => await tools.call('read_skill_file', { skill: of, path });
  assert.equal((await read('oncall', 'now.md')).text, 'Ana 1');
  assert.equal((await read('ship', 'logo.bin')).data.content, '/wA=');

  table.rows.set('new/SKILL.md', [1, skill('new', 'd')]);
  table.rows.set('ship/SKILL.md', [2, skill('ship', 'Changed.')]);
  delete files['oncall/SKILL.md'];
  const { added, changed, removed } = await engine.refresh();
  assert.deepEqual([added, changed, removed], [['new'], ['ship'], ['oncall']]);
});

test('an alias tells sources apart', async () => {
  const dirs = ['a', 'my skills'].map((name) => join(mkdtempSync(join(tmpdir(), 'repertoire-')), name));
  for (const dir of dirs) {
    mkdirSync(join(dir, 'git'), { recursive: true });
    writeFileSync(join(dir, 'git', 'SKILL.md'), GIT);
  }
  const url = pathToFileURL(dirs[1]);
  const provider = { 'git/SKILL.md': GIT };
  const engine = new Engine({ sources: [dirs[0], { path: url.href, alias: 'r1' }, { provider, name: 'db', alias: 'r2' }] });
  assert.deepEqual(engine.skills().map((skill) => skill.id), ['commit-message', 'r1/commit-message', 'r2/commit-message']);
  const activation = await engine.activate('/r2:commit-message', engine.session('chat'));
  assert.equal(activation.id, 'r2/commit-message');
});

test('a session store that cannot be written costs no answer', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'repertoire-'));
  writeFileSync(join(dir, 'file'), 'a file');
  for (const place of ['file/x.db', '.', 'file']) {
    const engine = new Engine({ skills: GIT, sessionStore: join(dir, place) });
    const session = engine.session('chat');
    assert.ok((await engine.turn('/commit-message it', session)).activation, place);
    assert.equal((await engine.tools(session).call('find_skills', { query: 'commit' })).status, 'success', place);
    assert.equal((await engine.activate('commit-message', session)).id, 'commit-message', place);
  }
});

test('arguments have the types that hosts write', async () => {
  const engine = new Engine({ skills: skill('ship', 'd') });
  const cases = [['a b', 'a b'], [['a', 7], 'a 7'], [3, '3'], [true, 'true'], [null, ''], [undefined, '']];
  for (const [args, text] of cases) {
    assert.equal((await engine.activate('ship', engine.session('chat'), { args })).content, `Do ${text}.\n`);
  }
  await assert.rejects(engine.activate('ship', engine.session('chat'), { args: { a: 1 } }), /`args` is a string/);
});

test('a provider that fails is a finding, and one that is none an error', async () => {
  const table = new Table();
  const engine = await Engine.create({ sources: { provider: table, name: 'rows', scope: 'user' } });
  table.rows.set('ship/SKILL.md', [2, 7]);
  await engine.refresh();
  assert.deepEqual(engine.skills().map(({ id }) => id), ['ship']);
  const found = engine.diagnostics().find(({ path }) => path === 'rows:/ship/SKILL.md');
  assert.match(found.message, /a string or a Uint8Array, not number/);
  assert.throws(() => new Engine({ sources: [{ provider: null }] }), TypeError);
  assert.throws(() => new Engine({ sources: [{ provider: {}, nmae: 'x' }] }), /no option `nmae`/);
});

test('an activation tells what it requires, and what runs without a question', async () => {
  const ship = skill('ship', 'd', 'requires_skills: [tests, gone]\nallowed-tools: Bash(git:*)\n');
  const engine = new Engine({ skills: [ship, skill('tests', 'Runs tests.')] });
  const activation = await engine.activate('ship', engine.session('a'));
  assert.deepEqual(activation.requiredSkills, [
    { id: 'tests', brief: 'Runs tests.', isMissing: false },
    { id: 'gone', brief: '', isMissing: true },
  ]);
  assert(preapproved(activation, 'Bash(git status)') && !preapproved(activation, 'Bash(rm -r .)'));
  const open = await engine.activate('tests', engine.session('a'));
  assert(permits(open, 'Bash(ls)') && !preapproved(open, 'Bash(ls)'));
});

test('a URL names a session store', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'repertoire-')), 'sessions.db');
  for (const [nth, sessionStore] of [file, `sqlite:${file}`, `sqlite://${file}`, pathToFileURL(file), new URL(`sqlite://${file}`)].entries()) {
    const engine = new Engine({ skills: GIT, sessionStore });
    await engine.turn('the commit message', engine.session(`chat-${nth}`));
    const again = new Engine({ skills: GIT, sessionStore: file });
    assert.equal((await again.session(`chat-${nth}`).state())[0].skill, 'commit-message', String(sessionStore));
  }
  assert.throws(() => new Engine({ sessionStore: new URL('mysql://localhost/acme') }), /unknown kind/);
});
