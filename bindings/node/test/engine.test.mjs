// The façade: the result of each call, and its errors.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { Engine, RepertoireError } from '../dist/index.mjs';
import { GIT } from './support.mjs';

const SQL = '---\nname: sql\ndescription: Tunes SQL.\ntriggers: {keywords: [query], exclude: [sparql]}\n---\nB\n';
const make = (options = {}) => new Engine({ skills: [GIT, SQL], ...options });

function temporary(t) {
  const dir = mkdtempSync(join(tmpdir(), 'repertoire-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('what is of another type is told in the words of JavaScript', async () => {
  const skills = join(mkdtempSync(join(tmpdir(), 'repertoire-')), 'skills');
  const engine = new Engine({ sources: new Set([skills]), skills: GIT });
  const session = engine.session('chat');
  const source = 'a source is a path, a file URL';
  const cases = [
    [() => new Engine({ sources: 5 }), `${source}, an object with \`path\` or \`provider\`, a provider, or an object of files by path, not the number 5`],
    [() => new Engine({ sources: Buffer.from(skills) }), source],
    [() => new Engine({ sources: [[skills]] }), source],
    [() => new Engine({ sources: { path: 5 } }), source],
    [() => new Engine({ sources: { pth: skills } }), 'a source has no option `pth`'],
    [() => new Engine({ sources: { path: skills, scop: 'user' } }), 'a source has no option `scop`'],
    [() => new Engine({ sources: { provider: { list: () => [], reed: () => '' } } }), '`read` is missing'],
    [() => new Engine({ sessionStore: new Map() }), 'a session store has the methods record, state, end; `record` is missing'],
    [() => new Engine({ sessionStore: { record() {}, stat() {}, end() {} } }), '`state` is missing'],
    [() => engine.session(), 'the id of a session is a string, not undefined'],
    [() => engine.session(5), 'the id of a session is a string, not the number 5'],
    [() => engine.turn(undefined, session), 'a message is a string, not undefined'],
    [() => engine.turnSync(5, session), 'a message is a string, not the number 5'],
    [() => engine.preview(null, session), 'a message is a string, not null'],
    [() => engine.disclose(Buffer.from('x')), 'a message is a string, not an object of Buffer'],
    [() => engine.matches(['x']), 'a message is a string, not an object of Array'],
    [() => engine.explain(1), 'a message is a string'],
    [() => engine.findSkills({}), 'a query is a string, not an object of Object'],
    [() => engine.userMessage(undefined, session), 'a message is a string'],
    [() => engine.activate(undefined, session), 'the name of a skill is a string, not undefined'],
    [() => engine.skill(5), 'the name of a skill is a string, not the number 5'],
  ];
  for (const [call, says] of cases) {
    await assert.rejects(async () => call(), (error) => {
      assert.ok(error.message.includes(says), `${call}: ${error.message}`);
      return error instanceof TypeError || error.code === 'INVALID_PARAM';
    });
  }
});

test('a turn has text, disclosure and tools', async () => {
  const engine = make();
  const session = engine.session('chat-7');
  const turn = await engine.turn('a commit message, please', session);
  assert.deepEqual([turn.disclosure.full, turn.disclosure.tier], [['commit-message'], 3]);
  assert(turn.text.includes('imperative') && turn.activation === null && turn.refused === null);
  const names = (await turn.tools.definitions('anthropic')).map((tool) => tool.name);
  assert.deepEqual(names, ['use_skill', 'find_skills', 'read_skill_file']);
  const again = engine.turnSync('a commit message, please', session);
  assert.deepEqual(again.disclosure.omitted.map((omitted) => omitted.reason.code), ['in-context']);
  await session.compacted();
  assert.deepEqual((await engine.preview('go on', session)).full, ['commit-message']);
  assert.equal((await session.state())[0].inContext, false);
  await session.end();
  assert.deepEqual(await session.state(), []);
});

test('fetched skills of a configuration are found', (t) => {
  const { XDG_DATA_HOME: before } = process.env;
  delete process.env.XDG_DATA_HOME;
  t.after(() => before === undefined || (process.env.XDG_DATA_HOME = before));
  const home = realpathSync(temporary(t));
  const settings = join(home, '.acme');
  mkdirSync(settings);
  writeFileSync(join(settings, 'config.toml'), '[fetch.team]\nsource = "https://example.org/t/s"\n');
  const config = { project: home, home, brand: 'acme' };
  assert.deepEqual(new Engine({ config }).diagnostics().map(({ code }) => code), ['source-not-fetched']);

  // Write the files that the command line installs.
  const skill = join(home, '.local/share/acme/skills/team/ship');
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: ship\ndescription: d\n---\nB\n');
  const engine = new Engine({ config });
  assert.deepEqual(engine.skills().map(({ id }) => id), ['ship']);
  assert.deepEqual(engine.diagnostics(), []);
});

test('a command activates its skill', async () => {
  const engine = make();
  const turn = await engine.turn('/commit-message for the parser', engine.session('s'));
  assert(turn.activation.content.trimEnd().endsWith('for the parser'));
  assert.deepEqual([turn.activation.baseDir, turn.activation.risk], [null, 'risky']);
  assert.deepEqual(engine.commands().map(({ command }) => command), ['/commit_message', '/sql']);
});

test('places of hits are those of strings', () => {
  const message = 'für die Königin 🙂: ein “commit message” und query';
  const hits = make().matches(message).flatMap((match) => match.hits);
  assert.deepEqual(new Set(hits.map((hit) => message.slice(hit.start, hit.end))), new Set(['commit message', 'query']));
});

test('reasons are told, and results are plain', () => {
  const engine = make();
  const { rejected } = engine.explain('a query in sparql');
  assert.deepEqual(rejected.map(({ id, reason }) => [id, reason.code]), [['sql', 'vetoed']]);
  const disclosure = engine.disclose('what can you do?');
  assert.deepEqual([disclosure.meta, disclosure.tier, disclosure.hidden], ['registry', 2, 0]);
  assert.deepEqual(structuredClone(disclosure.toJSON()), JSON.parse(JSON.stringify(disclosure)));
  assert.equal(disclosure.registry.length, 2);
});

test('relevance is explained with words, places, and what is lacking', async () => {
  const engine = make();
  const message = 'grüß dich 🙂, any tuning?';
  const [weighed] = engine.explain(message).relevant;
  assert.ok(weighed.id === 'sql' && weighed.tier < 3 && !weighed.isDecisive, weighed);
  const places = weighed.terms.flatMap((term) => term.places.map(([start, end]) => message.slice(start, end)));
  assert.deepEqual(places, ['tuning']);
  assert.ok(weighed.needed.worth > 0 && weighed.headWords > 0 && weighed.terms[0].fields.length > 0);
  const [lack] = weighed.lacking;
  assert.ok(['worth', 'lead', 'words'].includes(lack.code) && lack.has < lack.needs, lack.text);
  const session = engine.session('explained');
  await engine.turn('a commit message, please', session);
  const [after] = engine.explain('a commit message, please', 3, [], session).relevant;
  assert.ok(after.id === 'commit-message' && after.tier < 3 && after.lacking.length > 0);
});

test('errors have a code and say what to do', async () => {
  const engine = make();
  const session = engine.session('s');
  const cases = [
    [() => engine.skill('comit-message'), 'NOT_FOUND', 'did you mean `commit-message`?'],
    [() => engine.activate('nothing', session), 'NOT_FOUND', ''],
    [() => engine.skills('robot'), 'INVALID_PARAM', 'choose `model` or `user`'],
    [() => engine.prompt({ budget: 'much' }), 'INVALID_PARAM', ''],
    [() => new Engine({ consent: 'perhaps' }), 'INVALID_PARAM', 'first-use'],
    [() => new Engine({ source: ['skills'] }), 'INVALID_PARAM', 'EngineOptions'],
    [() => new Engine({ skills: ['nothing'] }), 'INVALID_PARAM', ''],
    [() => Engine.create({ sources: [{ path: 'a', scope: 'mine' }] }), 'INVALID_PARAM', 'project'],
    [() => engine.turn('x', session, { options: { maxSkils: 1 } }), 'INVALID_PARAM', ''],
    [() => engine.tools(session).definitions('x'), 'INVALID_PARAM', 'anthropic'],
  ];
  for (const [call, code, help] of cases) {
    await assert.rejects(async () => call(), (error) => {
      assert(error instanceof RepertoireError && error instanceof Error, String(error));
      assert.equal(error.code, code, String(error));
      assert(error.help.includes(help) && error.message.length > 0, error.help);
      return true;
    });
  }
  assert.throws(() => engine.disclose(7), /a message is a string, not the number 7/);
});

test('sources reload, and subscribers hear of it', async (t) => {
  const dir = temporary(t);
  const engine = new Engine({ sources: [{ path: dir, scope: 'project' }], cache: join(dir, 'cache') });
  const heard = [];
  const subscription = engine.subscribe((refreshed) => heard.push(refreshed));
  const watch = engine.watch();
  mkdirSync(join(dir, 'ship'));
  writeFileSync(join(dir, 'ship/SKILL.md'), '---\ndescription: Ships. Fast.\n---\nPush.\n');
  for (let n = 0; n < 200 && heard.length === 0; n += 1) await sleep(50);
  assert.deepEqual(heard[0]?.added, ['ship']);
  watch.close();
  subscription.close();
  const [skill] = engine.skills('model');
  assert.deepEqual([skill.id, skill.body, skill.scope, skill.brief], ['ship', 'Push.\n', 'project', 'Ships.']);
  rmSync(join(dir, 'ship'), { recursive: true });
  assert.deepEqual((await engine.refresh()).removed, ['ship']);
});

test('sessions in a file outlive the engine, and options reach it', async (t) => {
  const sessionStore = join(temporary(t), 'sessions.db');
  const first = make({ sessionStore });
  await first.turn('a commit message', first.session('s'));
  const engine = await Engine.create({ skills: [GIT, SQL], sessionStore });
  assert.deepEqual((await engine.turn('a commit message', engine.session('s'))).disclosure.full, []);
  const shown = await engine.preview('commit message query', engine.session('x'), { options: { maxSkills: 1, format: 'xml' } });
  assert(shown.full.length === 1 && shown.text.startsWith('<'));
  assert.deepEqual((await engine.preview('commit message', engine.session('x'), { budget: 40 })).full, []);
  assert(engine.prompt({ format: 'json' }).text.startsWith('{'));
  assert.equal(engine.countTokens('12345678'), 2);
  assert.equal((await engine.findSkills('tune a query'))[0].id, 'sql');
});

test('a prompt is remembered by its session', async () => {
  const engine = make();
  const session = engine.session('prompt');
  const prompt = engine.prompt({}, session);
  assert(prompt.text.includes('`use_skill`') && prompt.text === engine.prompt().text);
  const listed = (await session.state()).filter((state) => state.listed).map((state) => state.skill);
  assert.deepEqual(listed.sort(), [...prompt.included].sort());
});

test('tools are called, and are functions', async () => {
  const engine = make();
  const tools = engine.tools(engine.session('s'));
  assert.equal((await tools.call('use_skill', { skill: 'sql', args: 'x' })).data.id, 'sql');
  for (const skill of ['sql', '/sql', '$sql', 'toolkit:sql', 'SQL']) {
    assert.equal((await tools.call('use_skill', { skill, args: null })).status, 'success', skill);
  }
  for (const args of [{ skill: 'nothing' }, '{', { skil: 1 }, [1]]) {
    const { status, error, text } = await tools.call('use_skill', args);
    assert(text.startsWith(`${error.code}: `), text);
    assert(status === 'error' && error.message && ['INVALID_PARAM', 'NOT_FOUND'].includes(error.code));
  }
  const [use] = await tools.functions();
  assert.deepEqual([use.name, use.parameters.type], ['use_skill', 'object']);
  assert.equal((await use.call({ skill: 'sql' })).status, 'success');
});

const SLOW = '---\nname: slow\ndescription: Sleeps.\nscripts: [scripts/sleep.sh]\n---\nSleep.\n';

test('a signal ends a call, and its time does', async (t) => {
  const dir = temporary(t);
  mkdirSync(join(dir, 'slow/scripts'), { recursive: true });
  writeFileSync(join(dir, 'slow/SKILL.md'), SLOW);
  writeFileSync(join(dir, 'slow/scripts/sleep.sh'), `#!/bin/sh\nsleep 30\ntouch ${dir}/ran\n`, { mode: 0o755 });
  const engine = new Engine({ sources: [dir], scripts: true, approve: async () => true });
  const tools = engine.tools(engine.session('s'));
  const args = { skill: 'slow', script: 'scripts/sleep.sh' };
  const start = performance.now();
  const timed = await tools.call('run_skill_script', args, { timeout: 200 });
  assert.equal(timed.status, 'error');
  const reason = new Error('no more patience');
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 200);
  let nTicks = 0;
  const ticks = setInterval(() => (nTicks += 1), 5);
  await assert.rejects(tools.call('run_skill_script', args, { signal: controller.signal }), reason);
  clearInterval(ticks);
  assert(nTicks > 10 && performance.now() - start < 10_000);
  await assert.rejects(engine.turn('x', engine.session('s'), { signal: AbortSignal.abort(reason) }), reason);
  assert.equal((await engine.turn('x', engine.session('s'))).refused, null);
});

test('both kinds of modules give the same, and nothing keeps Node from ending', () => {
  const required = createRequire(import.meta.url)('../dist/index.js');
  assert.equal(required.Engine, Engine);
  const program = `import { Engine } from '${new URL('../dist/index.mjs', import.meta.url)}';
    const engine = new Engine({ tokenCounter: async (text) => text.length });
    engine.subscribe(() => {});
    console.log((await engine.turn('x', engine.session('s'))).disclosure.tier);`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { timeout: 10_000 });
  assert.equal(String(output), '0\n');
});

test('memory does not grow with turns', { skip: process.platform !== 'linux' }, async () => {
  const nTurns = Number(process.env.REPERTOIRE_TURNS ?? 30_000);
  const engine = make({ tokenCounter: (text) => text.length });
  const turns = async (n) => {
    for (let number = 0; number < n; number += 1) {
      const session = engine.session(`s${number % 10}`);
      assert(engine.turnSync('a commit message', session).text);
      assert(engine.disclose('a commit message').text);
      if (number % 10 === 0) await engine.turn('a commit message', session);
      await session.end();
    }
  };
  await turns(nTurns / 3);
  globalThis.gc?.();
  const before = process.memoryUsage();
  await turns((nTurns / 3) * 2);
  globalThis.gc?.();
  const after = process.memoryUsage();
  // The JavaScript heap depends on the garbage collector, so compare only the rest of the memory.
  const native = ({ rss, heapTotal }) => rss - heapTotal;
  assert(native(after) - native(before) < 24 << 20, `${native(before)} to ${native(after)}`);
});

test('a text in place of a session is refused, everywhere', async () => {
  const engine = make();
  const calls = [
    (session) => engine.turn('x', session),
    (session) => engine.turnSync('x', session),
    (session) => engine.preview('x', session),
    (session) => engine.explain('x', 3, [], session),
    (session) => engine.prompt({}, session),
    (session) => engine.activate('sql', session),
    (session) => engine.userMessage('/sql', session),
    (session) => engine.tools(session),
  ];
  for (const call of calls) {
    for (const session of ['a', 7, { id: 'a' }]) {
      await assert.rejects(async () => call(session), (error) => {
        return error instanceof TypeError && error.message.includes('engine.session(id)');
      });
    }
    await call(engine.session('a'));
  }
  await assert.rejects(async () => engine.turn('x'), TypeError);
});

test('options and callbacks that do not exist are refused', async () => {
  const refused = (hint) => (error) => error.code === 'INVALID_PARAM' && hint.test(`${error.message}; ${error.help}`);
  for (const [options, hint] of [
    [{ askconsent: () => true }, /write `askConsent`/],
    [{ session_store: 'x' }, /write `sessionStore`/],
    [{ onProgress: () => {} }, /no option `onProgress`.*EngineOptions/],
  ]) {
    assert.throws(() => new Engine(options), refused(hint));
    await assert.rejects(Engine.create(options), refused(hint));
  }
  for (const options of [{ askConsent: 'yes' }, { tokenCounter: 4 }, 'skills']) {
    assert.throws(() => new Engine(options), TypeError);
  }
  const engine = make();
  const session = engine.session('a');
  await assert.rejects(engine.turn('x', session, { budgets: 3 }), refused(/a message has no option `budgets`/));
  assert.throws(() => engine.turnSync('x', session, { session: 'b' }), refused(/`session`/));
  assert.throws(() => engine.tools(session, { names_chars: 3 }), refused(/write `namesChars`/));
  await assert.rejects(
    engine.tools(session).call('find_skills', { query: 'x' }, { onprogress() {} }),
    refused(/write `onProgress`/),
  );
  await assert.rejects(engine.activate('sql', session, { arg: 'x' }), refused(/no option `arg`/));
  assert.throws(() => engine.subscribe('x'), TypeError);
});

test('a file URL is its path, and one value stands for several', (t) => {
  const dir = temporary(t);
  mkdirSync(join(dir, 'ein kit'));
  writeFileSync(join(dir, 'ein kit', 'SKILL.md'), '---\nname: kit\ndescription: d\n---\nB\n');
  const url = pathToFileURL(dir);
  for (const sources of [url, [url], { path: url }, dir, [{ path: dir }]]) {
    assert.deepEqual(new Engine({ sources }).skills().map((skill) => skill.id), ['kit']);
  }
  assert.deepEqual(new Engine({ sources: url, skills: SQL, allow: 'sql' }).skills().map((skill) => skill.id), ['sql']);
  const sessionStore = new URL(`${url}/sessions.db`);
  new Engine({ sources: url, sessionStore }).turnSync('use the kit skill', new Engine().session('s'));
  assert(existsSync(join(dir, 'sessions.db')));
  assert.throws(() => new Engine({ sources: new URL('https://example.com/skills') }), TypeError);
});

test('a view is the engine of a role', async () => {
  const engine = make();
  const role = engine.view('s*');
  assert.deepEqual(role.skills().map((skill) => skill.id), ['sql']);
  assert.deepEqual(role.prompt().included, ['sql']);
  const answer = await role.tools(role.session('a')).call('use_skill', { skill: 'commit-message' });
  assert.equal(answer.error.code, 'NOT_FOUND');
  assert.equal(engine.skills().length, 2);
});

test('the host learns the session of a consent, and tells the end of a task', async () => {
  const asked = [];
  const engine = new Engine({
    skills: ['---\nname: big\ndescription: d\ncontext: fork\n---\nB\n'],
    consent: 'first-use',
    askConsent: (request) => asked.push(request.session) > 0,
    taskSpawner: (task) => `task of ${task.session}`,
  });
  const tools = engine.tools(engine.session('chat-7'));
  assert.equal((await tools.call('use_skill', { skill: 'big' })).status, 'success');
  assert.deepEqual(asked, ['chat-7']);
  assert((await tools.finish('task of chat-7', 'All good.')).text.endsWith('All good.'));
  await assert.rejects(tools.finish('task of chat-7', 'again'), (error) => error.code === 'NOT_FOUND');
  await tools.call('use_skill', { skill: 'big' });
  const failed = await tools.finish('task of chat-7', 'no disk', { failed: true });
  assert(failed.error.message.includes('no disk') && failed.text.includes('no disk'));
});
