// Times `engine.disclose` side by side with plain JavaScript, and with the engine in Rust.
//
//     node bench.mjs [PROGRAM OF THE RUST FIGURE]
//
// There are 1,000 skills and messages of about 130 bytes. The baseline is plain code for the matching
// that the first proposal of skills describes: keywords and verbs with word boundaries, and patterns,
// are regular expressions that are created once. All matches are ranked, first by whether the message
// names the skill, then by the longest phrase, and the best three are shown in full.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Engine } from './dist/index.mjs';

const N_SKILLS = 1000;
const WORDS = (
  'amber basil cedar delta ember fjord grove harbor island jungle kernel lantern meadow nectar ' +
  'orchid prairie quartz river summit tundra umber valley willow xenon yonder zephyr'
).split(' ');

const skills = Array.from({ length: N_SKILLS }, (_, number) => {
  const [first, second] = [WORDS[number % 26], WORDS[Math.floor(number / 26) % 26]];
  const name = `${first}-${second}-${number}`;
  return {
    name,
    number,
    keywords: [`${first}${number} report`, `${second} ledger${number}`, `topic${number}`],
    verbs: [`${first}${second}${number}`],
    patterns: [String.raw`ticket${number}-\d+`],
    body: `# ${name}\n\n${'Do the steps in their order, then say so.\n'.repeat(8)}`,
  };
});

const files = skills.map(({ name, keywords, verbs, patterns, body }) =>
  ['---', `name: ${name}`, `description: Reports of ${name}.`, `triggers: ${JSON.stringify({ keywords, verbs, patterns })}`, '---', body].join('\n'),
);

/** The baseline: the matching of the first proposal, in plain JavaScript. */
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const word = (text) => new RegExp(`\\b${escaped(text)}\\b`, 'i');
const plainSkills = skills.map((skill) => ({
  skill,
  name: word(skill.name),
  words: [...skill.keywords, ...skill.verbs].map((text) => [text.split(' ').length, word(text)]),
  patterns: skill.patterns.map((pattern) => new RegExp(pattern, 'i')),
}));

function plain(message) {
  const found = [];
  for (const { skill, name, words, patterns } of plainSkills) {
    const named = name.test(message);
    let phrase = 0;
    for (const [n, regex] of words) if (n > phrase && regex.test(message)) phrase = n;
    if (named || phrase || patterns.some((pattern) => pattern.test(message))) found.push({ named, phrase, skill });
  }
  found.sort((a, b) => b.named - a.named || b.phrase - a.phrase || (a.skill.name < b.skill.name ? -1 : 1));
  const best = found.slice(0, 3).map(({ skill }) => skill);
  return { full: best.map(({ name }) => name), text: best.map(({ name, body }) => `## ${name}\n${body}`).join('\n\n') };
}

/** Messages of about 130 bytes, three quarters of which match one or two skills. */
const messages = Array.from({ length: 64 }, (_, number) => {
  const [one, two] = [skills[(number * 379 + 11) % N_SKILLS], skills[(number * 577 + 401) % N_SKILLS]];
  const part = [
    `please look at the ${one.keywords[0]} of last week`,
    `write the ${one.keywords[2]} and then the ${two.keywords[1]}`,
    `what does ticket${two.number}-4711 say about it`,
    'nothing of this has to do with any of the things you know',
  ][number % 4];
  const text = `Good morning, ${part}; it is needed by noon, and Ana and Bob will both read it`;
  return `${text}, so keep it short and to the point, thanks a lot`.slice(0, 130);
});

/** Returns the microseconds per call in the best round; a round is short enough to run undisturbed. */
function perCall(call, texts, nRounds) {
  let best = Infinity;
  for (let round = 0; round < nRounds; round += 1) {
    const start = performance.now();
    for (const text of texts) call(text);
    best = Math.min(best, performance.now() - start);
  }
  return (best / texts.length) * 1000;
}

// The first proposal does not list relevant skills, so turn that off.
const engine = new Engine({ skills: files, disclosure: { maxLines: 0, relevance: false } });
for (const message of messages) {
  assert.deepEqual([...engine.disclose(message).full].sort(), [...plain(message).full].sort(), message);
}
assert(messages.filter((message) => plain(message).full.length > 0).length >= 48);
const figures = {
  node_us: perCall((text) => engine.disclose(text), messages, 600),
  with_text_us: perCall((text) => engine.disclose(text).text, messages, 600),
  plain_us: perCall((text) => plain(text).text, messages.slice(0, 4), 40),
};
figures.times_plain = figures.plain_us / figures.with_text_us;
if (process.argv[2]) {
  const data = new URL('target/bench.json', import.meta.url);
  mkdirSync(new URL('.', data), { recursive: true });
  writeFileSync(data, JSON.stringify({ skills: files, messages }));
  figures.rust_us = Number(execFileSync(process.argv[2], [data.pathname], { encoding: 'utf8' }));
  figures.over_rust_us = figures.node_us - figures.rust_us;
}
for (const [name, figure] of Object.entries(figures)) console.log(name.padEnd(14), figure.toFixed(2).padStart(10));
