// Every case of the shared conformance tables, through the package.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Engine } from '../dist/index.mjs';
import { engineOf, shared, table } from './support.mjs';

const KNOWN = new Set(
  ('say query catalog max_skills ordered note tier full registry full_count text contains first full_not lines ' +
    'visible lines_none max_lines text_bytes max_bytes names').split(' '),
);

/** Asserts the expectations of a case about an answer. */
function check(expected, shown) {
  const context = `${JSON.stringify(expected)}\n${JSON.stringify(shown)}`;
  for (const key of Object.keys(expected)) assert(KNOWN.has(key), `unknown expectation ${key}`);
  const order = (ids) => (expected.ordered === false ? [...ids].sort() : ids);
  const seen = [...shown.full, ...shown.registry];
  const { text, tier, full, registry } = shown;
  if ('tier' in expected) assert.equal(tier, expected.tier, context);
  if (expected.full) assert.deepEqual(order(full), order(expected.full), context);
  if (expected.registry) assert.deepEqual(order(registry), order(expected.registry), context);
  if ('full_count' in expected) assert.equal(full.length, expected.full_count, context);
  if ('text' in expected) assert.equal(text, expected.text, context);
  if ('first' in expected) assert.equal(seen[0], expected.first, context);
  for (const part of [...(expected.contains ?? []), ...(expected.names ?? [])]) assert(text.includes(part), context);
  for (const id of expected.full_not ?? []) assert(!full.includes(id), context);
  for (const id of expected.lines ?? []) assert(registry.includes(id), context);
  for (const id of expected.visible ?? []) assert(seen.includes(id), context);
  if (expected.lines_none) assert.deepEqual(registry, [], context);
  assert(registry.length <= (expected.max_lines ?? Infinity), context);
  const nBytes = Buffer.byteLength(text);
  assert(nBytes <= (expected.text_bytes ?? Infinity) && nBytes <= (expected.max_bytes ?? Infinity), context);
}

test('keywords hit where words end', (t) => {
  const cases = table(t, 'boundaries')?.cases ?? [];
  for (const { keyword, query, hit } of cases) {
    const engine = engineOf([{ name: 'x-y-z', description: 'd', triggers: [keyword] }]);
    const found = engine.matches(query);
    assert.equal(found.length > 0, hit, `${keyword} in ${query}`);
    for (const place of found.flatMap((match) => match.hits)) {
      const fold = (text) => text.normalize('NFKC').replaceAll('’', "'").toLowerCase().replaceAll('ß', 'ss').split(/\s+/).join(' ');
      assert.equal(place.trigger, keyword);
      assert.equal(fold(query.slice(place.start, place.end)), fold(keyword));
    }
  }
});

test('disclosures have the tier and the skills of the table', async (t) => {
  const { cases = [], catalogs } = table(t, 'tiers') ?? {};
  for (const expected of cases) {
    const engine = engineOf(catalogs[expected.catalog], { maxSkills: expected.max_skills });
    check(expected, await engine.preview(expected.query, engine.session('t')));
  }
});

test('a message gets the lines of the table', async (t) => {
  const { cases = [], catalogs = {} } = table(t, 'lines') ?? {};
  const engines = Object.fromEntries(Object.entries(catalogs).map(([name, skills]) => [name, engineOf(skills)]));
  for (const [number, expected] of cases.entries()) {
    const engine = engines[expected.catalog];
    const turn = await engine.turn(expected.query, engine.session(String(number)));
    check(expected, { ...turn.disclosure, text: turn.text });
  }
});

test('a conversation is told nothing twice and what it lost once more', async (t) => {
  const { conversations = [], catalog } = table(t, 'conversations') ?? {};
  for (const conversation of conversations) {
    const engine = engineOf(catalog, { maxSkills: conversation.max_skills });
    const session = engine.session('t');
    for (const step of conversation.steps) {
      if (step.use) {
        await engine.activate(step.use, session, { args: step.args });
      } else if (step.event === 'compacted') {
        await session.compacted();
      } else {
        const turn = await engine.turn(step.say, session);
        check(step, { ...turn.disclosure, text: turn.text });
      }
    }
  }
});

test('arguments go where the table says', async (t) => {
  for (const { body, args, out, argument_hint: hint } of table(t, 'arguments')?.cases ?? []) {
    const line = hint === undefined ? '' : `argument-hint: ${hint}\n`;
    const engine = new Engine({ skills: [`---\nname: x\ndescription: d\n${line}---\n${body}`] });
    const session = engine.session('s');
    assert.equal((await engine.activate('x', session, { args })).content, out);
    assert.equal((await engine.userMessage(`/x ${args}`, session)).content, out);
  }
});

test('skill files load as the table says', (t) => {
  for (const expected of table(t, 'frontmatter')?.cases ?? []) {
    const start = performance.now();
    const engine = new Engine({ sources: [join(shared(t, 'conformance'), expected.dir)] });
    const nMs = performance.now() - start;
    const skills = engine.skills();
    const context = JSON.stringify(expected);
    const checks = {
      dir: () => {},
      loads: (wanted) => assert.equal(skills.length === 1, wanted, context),
      name: (wanted) => assert.equal(skills[0].name, wanted, context),
      description: (wanted) => assert.equal(skills[0].description, wanted, context),
      body: (wanted) => assert.equal(skills[0].body, wanted, context),
      description_contains: (wanted) => assert(skills[0].description.includes(wanted), context),
      keywords: (wanted) => assert.deepEqual(skills[0].triggers.keywords, wanted, context),
      diagnostics: (wanted) => assert.equal(engine.diagnostics().length, wanted, context),
      min_diagnostics: (wanted) => assert(engine.diagnostics().length >= wanted, context),
      max_ms: (wanted) => assert(nMs <= wanted, context),
    };
    for (const [key, wanted] of Object.entries(expected)) {
      assert(checks[key], `unknown expectation ${key}`);
      checks[key](wanted);
    }
  }
});
