/** Calls to the native module: errors, callbacks, and answers from other threads. */
import { native, type NativeCancellation } from './native.js';
import type { Awaitable, ErrorCode } from './types.js';

/** An error of the engine. If a callback of the host threw, `cause` is the thrown value. */
export class RepertoireError extends Error {
  override readonly name = 'RepertoireError';
  /** The code, for programs. */
  readonly code: ErrorCode;
  /** The advice on what to do, fit for a model; may be empty. */
  readonly help: string;
  /** The remedy for the user, if there is one: its kind, and its object. */
  readonly remedy: { kind: string; of?: string } | null;

  /** @internal */
  constructor(fault: Fault, cause?: unknown) {
    super(fault.message, cause === undefined ? undefined : { cause });
    this.code = fault.code;
    this.help = fault.help;
    this.remedy = fault.remedy;
  }
}

export interface Fault {
  code: ErrorCode;
  message: string;
  help: string;
  remedy: { kind: string; of?: string } | null;
}

/** Returns the error for a callback that returns nothing, such as the one for progress. */
export function callbackFailed(what: string, error: unknown): RepertoireError {
  const message = error instanceof Error ? error.message : String(error);
  const fault: Fault = {
    code: 'EXECUTION_ERROR', message: `${what} failed: ${message}`, help: 'see the cause of this error', remedy: null,
  };
  return new RepertoireError(fault, error);
}

type Answer = { ok: unknown } | { error: Fault; thrown?: number };
type Ask = (kind: string, payload: any) => unknown;

const hosts = new Map<number, Ask>();
const listeners = new Map<number, (told: any) => void>();
const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
/** The values that callbacks threw, by number, until the call that they belong to ends. */
const thrown = new Map<number, unknown>();
let last = 0;
let keepAlive: NodeJS.Timeout | undefined;

/** Converts the names of fields to camel case, as JavaScript writes them. */
export function camel(value: any): any {
  if (Array.isArray(value)) return value.map(camel);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camel(field),
    ]),
  );
}

/** Converts the names of fields to snake case, as the engine writes them. */
export function snake(value: any): any {
  if (Array.isArray(value)) return value.map(snake);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snake(field),
    ]),
  );
}

function failed(error: unknown, promised?: true): string {
  const number = ++last;
  thrown.set(number, error);
  // If a failure is only reported in a tool's result, nobody fetches the thrown value, so drop the oldest.
  for (const oldest of thrown.keys()) {
    if (thrown.size <= 64) break;
    thrown.delete(oldest);
  }
  const message = error instanceof Error ? error.message : String(error);
  return JSON.stringify({ message, thrown: number, promised });
}

function answered(value: unknown): string {
  return JSON.stringify({ ok: value ?? null });
}

function ask(question: string): unknown {
  const { host, kind, payload } = JSON.parse(question);
  const callbacks = hosts.get(host);
  if (!callbacks) throw new Error('the engine of this callback is gone');
  return callbacks(kind, payload);
}

/** Answers a callback during a synchronous call. */
function dispatch(question: string): string {
  try {
    const answer = ask(question);
    if (answer instanceof Promise) {
      answer.catch(() => {});
      return failed(new TypeError('a callback returned a promise: use an asynchronous method'), true);
    }
    return answered(answer);
  } catch (error) {
    return failed(error);
  }
}

/** Receives a question, an answer, or a notification from another thread. */
function deliver(number: number, kind: string, payload: string): void {
  if (kind === 'ask') {
    new Promise((resolve) => resolve(ask(payload)))
      .then(answered, (error) => failed(error))
      .then((answer) => native.reply(number, answer));
  } else if (kind === 'tell') {
    listeners.get(number)?.(JSON.parse(payload));
  } else {
    const call = waiting.get(number);
    waiting.delete(number);
    if (waiting.size === 0 && keepAlive) {
      clearInterval(keepAlive);
      keepAlive = undefined;
    }
    try {
      call?.resolve(unpack(payload));
    } catch (error) {
      call?.reject(error);
    }
  }
}

native.init(dispatch, deliver);

/** Returns an error that is told and not thrown, or null if there is none. */
export function told(error: { error: Fault; thrown?: number } | null): RepertoireError | null {
  return error && new RepertoireError(error.error, error.thrown === undefined ? undefined : thrown.get(error.thrown));
}

/** Throws an error that the native module returned as JSON. */
export function raise(error: { error: Fault; thrown?: number }): never {
  const cause = error.thrown === undefined ? undefined : thrown.get(error.thrown);
  if (error.thrown !== undefined) thrown.delete(error.thrown);
  throw new RepertoireError(error.error, cause);
}

/** Returns the value of an answer, or throws its error. */
export function unpack(payload: string): unknown {
  const answer = JSON.parse(payload) as Answer;
  if ('error' in answer) raise(answer);
  return answer.ok;
}

/** Runs a native function that throws errors as JSON. */
export function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    const message = (error as Error).message;
    if (!message.startsWith('{')) throw error;
    return raise(JSON.parse(message));
  }
}

/** Waits for an answer from another thread. Aborting the signal ends the call. */
export function elsewhere(
  start: (call: number, cancellation: NativeCancellation | undefined) => void,
  signal?: AbortSignal | null,
): Promise<unknown> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  const call = ++last;
  const cancellation = signal ? new native.Cancellation() : undefined;
  const { promise, resolve, reject } = withResolvers();
  waiting.set(call, { resolve, reject });
  keepAlive ??= setInterval(() => {}, 2 ** 30);
  const abort = () => {
    cancellation?.cancel();
    reject(signal?.reason);
  };
  signal?.addEventListener('abort', abort, { once: true });
  try {
    start(call, cancellation);
  } catch (error) {
    reject(error);
    deliver(call, 'done', '{"ok":null}');
  }
  return promise.finally(() => signal?.removeEventListener('abort', abort));
}

function withResolvers() {
  let resolve!: (value: unknown) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise((ok, no) => ([resolve, reject] = [ok, no]));
  return { promise, resolve, reject };
}

/** Keeps callbacks until they are removed, and returns their number. */
export function addHost(callbacks: Ask): number {
  hosts.set(++last, callbacks);
  return last;
}

export const removeHost = (number: number): boolean => hosts.delete(number);

/** Keeps a listener until it is removed, and returns its number. */
export function listen(listener: (told: any) => void): number {
  listeners.set(++last, listener);
  return last;
}

export const unlisten = (number: number): boolean => listeners.delete(number);

/** Goes on with a value, or with that of a promise once it is there. */
export function after<T, U>(value: Awaitable<T>, then: (value: T) => U): Awaitable<U> {
  return value instanceof Promise ? value.then(then) : then(value);
}
