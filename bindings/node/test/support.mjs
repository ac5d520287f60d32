// Helpers that the tests share: data from outside the repository, and skills from tables.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Engine, applyEvent } from '../dist/index.mjs';

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

/** A session store in a map, as a host might write it. */
export class MapStore {
  sessions = new Map();

  record(session, event) {
    const skills = this.sessions.get(session) ?? [];
    this.sessions.set(session, skills);
    if (event.skill === null) {
      skills.splice(0, skills.length, ...skills.map((state) => applyEvent(state, event).state));
      return null;
    }
    const place = skills.findIndex((state) => state.skill === event.skill);
    const before = skills[place] ?? null;
    const { joins, state } = applyEvent(before ?? event.skill, event);
    if (joins) state.joined = Math.max(0, ...skills.map((known) => known.joined ?? 0)) + 1;
    const isUse = ['used', 'shown', 'activated'].includes(event.kind);
    if (before) skills.splice(place, 1);
    skills.splice(isUse ? 0 : before ? place : skills.length, 0, state);
    return before;
  }

  state(session) {
    return this.sessions.get(session) ?? [];
  }

  end(session) {
    this.sessions.delete(session);
  }
}

/** The same store, asynchronous as one on a server. */
export class LaterStore extends MapStore {
  async record(session, event) {
    return super.record(session, event);
  }

  async state(session) {
    return super.state(session);
  }

  async end(session) {
    super.end(session);
  }
}

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
