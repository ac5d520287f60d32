// The examples, each with its SDK and a scripted model. `npm test` compiles them first.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Engine } from '../dist/index.mjs';
import { GIT } from './support.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const OTHER = '---\nname: tea-time\ndescription: Makes tea.\n---\nBoil water first.\n';
const MESSAGES = ['the commit message, please', 'once more the commit message'];

/** Imports a compiled example; skips the test with a message if its SDK is not installed. */
async function example(t, name) {
  try {
    return await import(join(root, `target/examples/${name}.js`));
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    console.error(`SKIPPED: the example ${name}: ${error.message}`);
    t.skip(error.message);
  }
}

/** Asserts that an example uses the catalog, disclosures, tools and the session correctly. */
async function check(answersOf, requests) {
  const answers = await answersOf(new Engine({ skills: [GIT, OTHER] }), MESSAGES);
  assert.deepEqual(answers, ['I read the skill tea-time.', 'I read the skill tea-time.']);
  assert.equal(requests.length, 4);
  const sent = requests.map((request) => JSON.stringify(request));
  // The catalog is in the system prompt; the matching skill comes with the message.
  for (const part of ['Makes tea.', 'imperative', 'use_skill', 'find_skills', 'read_skill_file']) assert(sent[0].includes(part), part);
  // The tool's result reached the model.
  assert(!sent[0].includes('Boil water first.') && sent[1].includes('Boil water first.'));
  // A body is sent once: the model gets the text of the answer, not its data beside it.
  assert.equal(sent[1].split('Boil water first.').length, 2);
  // The second message does not repeat the instructions that are in the context already.
  assert.equal(sent[2].split('imperative').length, 2);
}

test('the Vercel AI SDK', async (t) => {
  const module = await example(t, 'ai-sdk');
  if (!module) return;
  const { MockLanguageModelV4 } = await import('ai/test');
  const requests = [];
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt, tools }) => {
      requests.push({ prompt: structuredClone(prompt), tools });
      const wasCalled = prompt.at(-1).role === 'tool';
      const input = JSON.stringify({ skill: 'tea-time' });
      const content = wasCalled
        ? { type: 'text', text: 'I read the skill tea-time.' }
        : { type: 'tool-call', toolCallId: `call-${requests.length}`, toolName: 'use_skill', input };
      const unified = wasCalled ? 'stop' : 'tool-calls';
      return { content: [content], finishReason: { unified, raw: unified }, usage, warnings: [] };
    },
  });
  await check((engine, messages) => module.answers(model, engine, messages), requests);
});

test('the OpenAI Agents SDK', async (t) => {
  const module = await example(t, 'openai-agents');
  if (!module) return;
  const { setTracingDisabled, Usage } = await import('@openai/agents');
  setTracingDisabled(true);
  const requests = [];
  const model = {
    getResponse: async ({ systemInstructions, input, tools }) => {
      requests.push({ systemInstructions, input: structuredClone(input), tools });
      const wasCalled = input.at(-1).type === 'function_call_result';
      const output = wasCalled
        ? {
            type: 'message', role: 'assistant', status: 'completed',
            content: [{ type: 'output_text', text: 'I read the skill tea-time.' }],
          }
        : {
            type: 'function_call', callId: `call-${requests.length}`, name: 'use_skill', status: 'completed',
            arguments: JSON.stringify({ skill: 'tea-time' }),
          };
      return { usage: new Usage(), output: [output] };
    },
    getStreamedResponse: () => assert.fail('nothing streams here'),
  };
  await check((engine, messages) => module.answers(model, engine, messages), requests);
});
