// Helpers that the tests share: data from outside the repository, and skills from tables.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Engine } from '../dist/index.mjs';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');

export const GIT = `---
name: commit-message
description: Writes commit messages.
triggers: [commit message]
---
Subject in the imperative. $ARGUMENTS
`;

export const FORK = `---
name: research
description: Looks things up.
context: fork
---
Look up $ARGUMENTS.
`;

/** Returns a path in the shared test data; skips the test with a message if there is none. */
export function shared(test, relative) {
  const roots = [join(ROOT, '../shared'), process.env.REPERTOIRE_SHARED].filter(Boolean);
  const found = roots.map((root) => join(root, relative)).find(existsSync);
  if (!found) {
    const message = `SKIPPED: no test data \`${relative}\` in ../shared nor in $REPERTOIRE_SHARED`;
    console.error(message);
    test.skip(message);
  }
  return found;
}

export function table(test, name) {
  const path = shared(test, `conformance/${name}.json`);
  return path && JSON.parse(readFileSync(path, 'utf8'));
}

/** Returns a skill of a table as the text of a file. JSON is valid YAML. */
export function skillFile(skill) {
  const keys = ['name', 'description', 'triggers'].filter((key) => key in skill);
  const lines = keys.map((key) => `${key}: ${JSON.stringify(skill[key])}`);
  return ['---', ...lines, '---', skill.body ?? ''].join('\n');
}

export function engineOf(skills, disclosure) {
  return new Engine({ skills: skills.map(skillFile), disclosure });
}
