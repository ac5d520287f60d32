/** Sessions: one conversation each. */
import { camel } from './bridge.js';
import type { Engine } from './engine.js';
import type { SkillState } from './types.js';

/** One conversation: which skills it used, and what its user agreed to. */
export class Session {
  /** Its name in the store. */
  readonly id: string;
  readonly #engine: Engine;

  /** @internal */
  constructor(engine: Engine, id: string) {
    this.#engine = engine;
    this.id = id;
  }

  /** Its history, a state for each skill, the last used first. */
  async state(): Promise<SkillState[]> {
    return camel(await this.#call('session.state'));
  }

  /** Notes that a skill was used, now. */
  async recordUse(skill: string): Promise<void> {
    await this.#call('session.recordUse', skill);
  }

  /** Notes that the user agreed to the activation of a skill. */
  async consent(skill: string): Promise<void> {
    await this.#call('session.consent', skill);
  }

  /** Notes that the host made its context shorter: instructions in it are gone. */
  async compacted(): Promise<void> {
    await this.#call('session.compacted');
  }

  /** Forgets the conversation. */
  async end(): Promise<void> {
    await this.#call('session.end');
  }

  #call(method: string, name = ''): Promise<any> {
    return this.#engine.later(method, { session: this.id, name });
  }
}
