/** The native module, from this package's directory or from the package for this platform. */
import { join } from 'node:path';

export interface NativeDisclosure {
  readonly tier: number;
  readonly text: string;
  readonly full: string[];
  readonly registry: string[];
  json(): string;
}

export interface NativeCancellation {
  cancel(): void;
}

export interface NativeGuard {
  close(): void;
}

export interface NativeEngine {
  disclose(message: string, paths?: string[]): NativeDisclosure;
  call(method: string, args: string): string;
  callElsewhere(call: number, method: string, args: string, cancellation?: NativeCancellation): void;
  subscribe(listener: number): NativeGuard;
  watch(): NativeGuard;
  view(allow?: string[]): NativeEngine;
}

interface Native {
  init(
    dispatch: (question: string) => string,
    deliver: (number: number, kind: string, payload: string) => void,
  ): void;
  reply(question: number, answer: string): void;
  applyEvent(state: string, event: string): string;
  permits(allowed: string[], tool: string): boolean;
  runWorker(): void;
  Cancellation: new () => NativeCancellation;
  NativeEngine: {
    new (options: string): NativeEngine;
    create(call: number, options: string): void;
    take(number: number): NativeEngine;
  };
}

function load(): Native {
  const { platformName } = require('./platform.cjs') as { platformName(): string };
  const name = platformName();
  const beside = join(__dirname, '..', `repertoire.${name}.node`);
  try {
    return require(beside) as Native;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
  }
  try {
    return require(`repertoire-${name}`) as Native;
  } catch (cause) {
    throw new Error(
      `there is no native module for ${name}: install the package repertoire-${name}, or build it with \`npm run build:native\``,
      { cause },
    );
  }
}

export const native = load();
