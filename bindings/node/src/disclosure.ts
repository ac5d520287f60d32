/** Disclosures, whose lists are converted when they are read. */
import { camel } from './bridge.js';
import type { NativeDisclosure } from './native.js';
import type { DisclosureData, Rejection } from './types.js';

/** The decision for one message: the text for the prompt, and the skills that it shows and omits. */
export class Disclosure implements DisclosureData {
  readonly #native: NativeDisclosure;
  #data: DisclosureData | undefined;

  /** @internal */
  constructor(disclosure: NativeDisclosure) {
    this.#native = disclosure;
  }

  get tier(): DisclosureData['tier'] {
    return this.#native.tier as DisclosureData['tier'];
  }

  get text(): string {
    return this.#native.text;
  }

  get full(): string[] {
    return this.#native.full;
  }

  get registry(): string[] {
    return this.#native.registry;
  }

  get meta(): DisclosureData['meta'] {
    return this.toJSON().meta;
  }

  get relevant(): DisclosureData['relevant'] {
    return this.toJSON().relevant;
  }

  get hidden(): number {
    return this.toJSON().hidden;
  }

  get belowLimit(): number {
    return this.toJSON().belowLimit;
  }

  get omitted(): Rejection[] {
    return this.toJSON().omitted;
  }

  get failure(): string | null {
    return this.toJSON().failure;
  }

  /** Returns all fields as a plain object, which can be cloned and sent to other threads. */
  toJSON(): DisclosureData {
    return (this.#data ??= camel(JSON.parse(this.#native.json())) as DisclosureData);
  }
}
