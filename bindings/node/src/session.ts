/** Sessions. A session is one conversation. */
import { camel, told, type RepertoireError } from './bridge.js';
import type { Engine } from './engine.js';
import type { SkillState } from './types.js';

/** One conversation: the skills it used, and what its user agreed to. */
export class Session {
  /** The session's name in the store. */
  readonly id: string;
  readonly #engine: Engine;

  /** @internal */
  constructor(engine: Engine, id: string) {
    this.#engine = engine;
    this.id = id;
  }

  /** Returns the session's history: one state for each skill, most recently used first. */
  async state(): Promise<SkillState[]> {
    return camel(await this.#call('session.state'));
  }

  /** Records that a skill is used now. */
  async recordUse(skill: string): Promise<void> {
    await this.#call('session.recordUse', skill);
  }

  /** Records that the user agreed to activate a skill. */
  async consent(skill: string): Promise<void> {
    await this.#call('session.consent', skill);
  }

  /** Records that the host compacted the context, so that the instructions in it are gone. */
  async compacted(): Promise<void> {
    await this.#call('session.compacted');
  }

  /** Returns the error because of which the session is kept in memory at the moment; null if its store has all of it. */
  async unsaved(): Promise<RepertoireError | null> {
    return told(await this.#call('session.unsaved'));
  }

  /** Forgets the conversation. */
  async end(): Promise<void> {
    await this.#call('session.end');
  }

  #call(method: string, name = ''): Promise<any> {
    return this.#engine.later(method, { session: this.id, name });
  }
}
