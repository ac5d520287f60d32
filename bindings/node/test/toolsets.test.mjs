// Tools of a compiled toolset, run in another Node process and in this one, and tools of an MCP server.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { Engine } from '../dist/index.mjs';
import { ROOT } from './support.mjs';

const NAMES = ['libhello_toolset.so', 'libhello_toolset.dylib', 'hello_toolset.dll'];

for (const toolsets of [true, { inProcess: true }]) {
  test(`the tools of a toolset are called, with ${JSON.stringify(toolsets)}`, async (t) => {
    const folders = [join(ROOT, 'target'), process.env.CARGO_TARGET_DIR].filter(Boolean);
    const library = folders.flatMap((dir) => NAMES.map((name) => join(dir, 'debug', name))).find(existsSync);
    if (!library) {
      const message = 'SKIPPED: build the library with `cargo build --package hello-toolset`';
      console.error(message);
      return t.skip(message);
    }
    const dir = mkdtempSync(join(tmpdir(), 'repertoire-'));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const skill = join(dir, 'hello-extended');
    cpSync(join(ROOT, 'examples/skills/hello-extended'), skill, { recursive: true });
    mkdirSync(join(skill, 'toolsets'), { recursive: true });
    cpSync(library, join(skill, 'toolsets', basename(library)));
    const asked = [];
    const approve = (request) => asked.push(request) > 0;
    const engine = new Engine({ sources: [{ path: dir, scope: 'project' }], toolsets, approve });
    const { tools } = await engine.turn('say hello to Ana', engine.session('s'));
    const greet = (await tools.functions()).find(({ name }) => name.includes('hello') && name.includes('greet'));
    assert.equal(asked[0].skill, 'hello-extended');
    const answer = await greet.call({ name: 'Ana', language: 'German' });
    assert(answer.status === 'success' && JSON.stringify(answer).includes('Ana'), JSON.stringify(answer));
    const refused = await greet.call({ nobody: 1 });
    assert.equal(refused.error.code, 'INVALID_PARAM');
  });
}

test('the tools of an MCP server in a skill are called', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'repertoire-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, 'words/tools'), { recursive: true });
  const skill = '---\nname: words\ndescription: d\ntriggers: [words]\ntoolsets: ["tools/server.py:mcp"]\n---\nGreet.\n';
  writeFileSync(join(dir, 'words/SKILL.md'), skill);
  // Use the server that `repertoire tool new --lang python` writes.
  cpSync(join(ROOT, 'crates/cli/src/tool/server.py'), join(dir, 'words/tools/server.py'));
  const engine = new Engine({ sources: [dir], toolsets: true, approve: ({ skill }) => skill === 'words' });
  const { tools } = await engine.turn('some words', engine.session('s'));
  const answer = await tools.call('words_greet', { name: 'Ada' });
  assert(answer.status === 'success' && answer.text === 'Hello, Ada!', JSON.stringify(answer));
});
