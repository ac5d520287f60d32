// Null and undefined for what is optional are as good as nothing, for each option and each argument.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Engine } from '../dist/index.mjs';
import { FORK, GIT } from './support.mjs';

const FILES = { 'tea/SKILL.md': '---\nname: tea\ndescription: Makes tea.\n---\nBoil.\n', 'tea/notes.md': 'one\ntwo\n' };
const SKILLS = [GIT, FORK];
const make = (options = {}) => new Engine({ sources: FILES, skills: SKILLS, taskSpawner: () => 'task-1', ...options });
const types = readFileSync(join(dirname(fileURLToPath(import.meta.url)), '../src/types.ts'), 'utf8');

/** Returns the names of the optional fields of an interface, those of nested objects left out. */
function optional(name) {
  const body = new RegExp(`export interface ${name} \\{\n(.*?)\n\\}`, 's').exec(types)[1];
  return [...body.matchAll(/^ {2}(\w+)\?:/gm)].map((match) => match[1]);
}

/** Asserts that each option that is null or undefined changes nothing, and all of them together neither. */
async function assertIgnored(names, run) {
  assert(names.length > 0);
  const plain = JSON.stringify(await run({}));
  for (const nothing of [null, undefined]) {
    for (const name of names) assert.equal(JSON.stringify(await run({ [name]: nothing })), plain, `${name}: ${nothing}`);
    const all = Object.fromEntries(names.map((name) => [name, nothing]));
    assert.equal(JSON.stringify(await run(all)), plain);
  }
  assert.equal(JSON.stringify(await run(null)), plain, 'null for all options');
}

const ids = (engine) => engine.skills().map(({ id }) => id);

test('options of an engine', async () => {
  await assertIgnored(optional('EngineOptions'), (options) => ids(new Engine(options)));
  await assertIgnored(optional('EngineOptions'), async (options) => ids(await Engine.create(options)));
});

for (const [option, name] of [['disclosure', 'DisclosureOptions'], ['prompt', 'PromptOptions']]) {
  test(`the option ${option} of an engine`, async () => {
    await assertIgnored(optional(name), (options) => make({ [option]: options }).disclose('a commit message'));
  });
}

test('nested options of an engine', async () => {
  const nested = {
    toolsets: ['inProcess', 'policy', 'cache', 'config', 'callTimeout', 'network', 'write'],
    scripts: ['timeout', 'outputBytes', 'env', 'write', 'hidden', 'network'],
  };
  for (const [option, names] of Object.entries(nested)) {
    await assertIgnored(names, (options) => ids(make({ [option]: options })));
  }
  const source = (options) => ids(new Engine({ sources: { path: 'skills', ...options } }));
  await assertIgnored(['scope', 'optional', 'linksOutside', 'alias'], source);
  await assertIgnored(['name', 'scope', 'alias'], (options) => ids(new Engine({ sources: { provider: FILES, ...options } })));
  const config = (options) => ids(new Engine({ config: { project: '.', home: '.', ...options } }));
  await assertIgnored(['workingDir', 'brand'], config);
  const native = (options) => make({ disclosure: { native: { roots: 'skills', ...options } } }).disclose('a commit message');
  await assertIgnored(['howToLoad'], native);
});

test('options of calls', async () => {
  const message = 'a commit message';
  const inSession = (call) => async (options) => {
    const engine = make();
    return call(engine, engine.session('chat-1'), options);
  };
  const calls = [
    [optional('MessageOptions'), async (e, s, options) => (await e.turn(message, s, options)).text],
    [['paths', 'budget', 'options'], (e, s, options) => e.turnSync(message, s, options).text],
    [optional('MessageOptions'), (e, s, options) => e.preview(message, s, options)],
    [optional('DisclosureOptions'), (e, s, options) => e.preview(message, s, { options })],
    [optional('PromptOptions'), (e, s, options) => e.prompt(options)],
    [optional('ActivateOptions'), (e, s, options) => e.activate('commit-message', s, options)],
    [optional('ToolsOptions'), (e, s, options) => e.tools(s, options).definitions()],
    [['signal', 'timeout', 'onProgress'], (e, s, options) => e.tools(s).call('find_skills', { query: 'tea' }, options)],
    [['failed'], async (e, s, options) => {
      await e.tools(s).call('use_skill', { skill: 'research' });
      return e.tools(s).finish('task-1', 'All good.', options);
    }],
  ];
  for (const [names, call] of calls) await assertIgnored(names, inSession(call));
});

test('arguments of calls', async () => {
  const engine = make();
  const session = engine.session('chat-1');
  const tools = engine.tools(session);
  const message = 'a commit message';
  for (const nothing of [null, undefined]) {
    const pairs = [
      [engine.disclose(message, nothing), engine.disclose(message)],
      [engine.matches(message, nothing, nothing), engine.matches(message)],
      [engine.explain(message, nothing, nothing, nothing), engine.explain(message)],
      [await engine.findSkills('tea', nothing, nothing), await engine.findSkills('tea')],
      [engine.prompt(nothing, nothing), engine.prompt()],
      [engine.skills(nothing).length, engine.skills().length],
      [ids(engine.view(nothing)), ids(engine.view())],
      [await engine.refresh(nothing), await engine.refresh()],
      [await engine.userMessage('hello', session, nothing), await engine.userMessage('hello', session)],
      [await tools.definitions(nothing), await tools.definitions()],
      [await tools.call('find_skills', nothing), await tools.call('find_skills')],
    ];
    for (const [given, plain] of pairs) assert.equal(JSON.stringify(given), JSON.stringify(plain));
  }
});

test('arguments of tools', async () => {
  const cases = [
    ['use_skill', { skill: 'tea' }, ['args', 'by']],
    ['find_skills', { query: 'tea' }, ['limit']],
    ['read_skill_file', { skill: 'tea', path: 'notes.md' }, ['offset', 'limit']],
  ];
  for (const [tool, args, names] of cases) {
    const answer = async (given) => {
      const engine = make();
      return engine.tools(engine.session('chat-1')).call(tool, given);
    };
    const plain = await answer(args);
    assert.equal(plain.status, 'success', tool);
    for (const nothing of [null, undefined]) {
      const filled = { ...args, ...Object.fromEntries(names.map((name) => [name, nothing])) };
      assert.deepEqual(await answer(filled), plain);
      assert.deepEqual(await answer(JSON.stringify(filled)), plain);
    }
  }
});

test('sources and paths are one or several', async () => {
  const provider = { list: () => [['tea/SKILL.md', 1]], read: () => FILES['tea/SKILL.md'] };
  for (const sources of [FILES, provider, [FILES], { provider: FILES }, [{ provider }]]) {
    assert.deepEqual(ids(new Engine({ sources })), ['tea']);
  }
  assert.throws(() => new Engine({ sources: { paht: 'skills' } }), { code: 'INVALID_PARAM' });
  const skills = '---\nname: tables\ndescription: Sums.\npaths: "data/*.csv"\n---\nSum.\n';
  const engine = new Engine({ skills });
  for (const paths of ['data/a.csv', ['data/a.csv']]) {
    assert.deepEqual(engine.matches('hello', paths).map(({ id }) => id), ['tables']);
    assert.deepEqual(engine.explain('hello', 3, paths).matches.map(({ id }) => id), ['tables']);
    const disclosed = [engine.disclose('hello', paths), await engine.preview('hello', engine.session('s'), { paths })];
    assert.deepEqual(disclosed.map(({ full }) => full), [['tables'], ['tables']]);
  }
});

test('half of a character is not the end of a message', async () => {
  const engine = make();
  const session = engine.session('chat-1');
  const half = '🙂'.slice(0, 1);
  assert.deepEqual((await engine.turn(`a commit message ${half}`, session)).disclosure.full, ['commit-message']);
  assert.deepEqual(engine.disclose(`a commit message ${half}`).full, ['commit-message']);
  const answer = await engine.tools(session).call('find_skills', { query: `tea ${half}` });
  assert.equal(answer.status, 'success');
  assert.equal(new Engine({ skills: GIT.replace('imperative', half) }).skills().length, 1);
});
