/** Skills, whose instructions are read on first use. */
import { unpack } from './bridge.js';
import type { NativeEngine } from './native.js';

/** A skill of a catalog. */
export class Skill {
  readonly id!: string;
  readonly name!: string;
  readonly description!: string;
  /** The description in one line. */
  readonly brief!: string;
  readonly scope!: 'bundled' | 'user' | 'project' | 'memory';
  readonly status!: 'available' | 'unavailable' | 'shadowed' | 'disabled';
  /** The reason why the model cannot use the skill; `null` if it can. */
  readonly reason!: string | null;
  readonly triggers!: { keywords: string[]; verbs: string[]; patterns: string[]; exclude: string[]; paths: string[] };
  /** The `path:Class` entries of the skill's toolsets. */
  readonly toolsets!: string[];
  readonly path!: string | null;
  readonly dir!: string | null;
  readonly #engine: NativeEngine;

  /** @internal */
  constructor(engine: NativeEngine, fields: object) {
    this.#engine = engine;
    Object.assign(this, fields);
  }

  /** The instructions: the text after the front matter. It is read on first use. */
  get body(): string {
    return unpack(this.#engine.call('skill.body', JSON.stringify({ name: this.id }))) as string;
  }
}
