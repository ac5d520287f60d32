/**
 * An embeddable skill engine for LLM agents: for each message of a user, it decides which
 * `SKILL.md` folders matter, and how much of each the model should read.
 *
 * @packageDocumentation
 */
import { camel, snake, unpack } from './bridge.js';
import { native } from './native.js';
import type { Activation, SessionEvent, SkillState } from './types.js';

export { RepertoireError } from './bridge.js';
export { Disclosure } from './disclosure.js';
export { Engine, type Guard } from './engine.js';
export { Session } from './session.js';
export { Skill } from './skill.js';
export { Tools, type CallOptions, type ToolFunction } from './tools.js';
export { Turn } from './turn.js';
export type * from './types.js';

/**
 * Returns the state of a skill after an event, for session stores that a host implements. Pass the skill's
 * name instead of a state if the store has none. If `joins` is true, the store must set `joined` to its
 * next number.
 */
export function applyEvent(before: SkillState | string, event: SessionEvent): { joins: boolean; state: SkillState } {
  const state = typeof before === 'string' ? before : snake(before);
  return camel(unpack(native.applyEvent(JSON.stringify(state), JSON.stringify(event))));
}

/**
 * Tells whether the `allowed-tools` of an activated skill permit a tool: a name such as `read_file`, or a call such as
 * `Bash(git status)`. A skill without `allowed-tools` may use every tool.
 */
export function permits({ allowedTools }: Pick<Activation, 'allowedTools'>, tool: string): boolean {
  return allowedTools === null || native.permits(allowedTools, tool);
}

/**
 * Tells whether a skill asks that a tool runs without a question to the user. Grant that only to skills whose author
 * you trust: strangers wrote those of the scopes `project` and `fetched`.
 */
export function preapproved({ allowedTools }: Pick<Activation, 'allowedTools'>, tool: string): boolean {
  return allowedTools !== null && native.permits(allowedTools, tool);
}
