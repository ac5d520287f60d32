/** Checks of what a host passes, with errors in the words of JavaScript. */
import { fileURLToPath } from 'node:url';
import { RepertoireError } from './bridge.js';
import { Session } from './session.js';

/** Returns the id of a session. A text in its place is refused: it would not say which conversation is meant. */
export function sessionId(session: Session): string {
  if (session instanceof Session) return session.id;
  const given = typeof session === 'string' ? `the string ${JSON.stringify(session)}` : described(session);
  throw new TypeError(`a Session is needed, not ${given}: pass \`engine.session(id)\``);
}

/**
 * Refuses options with names that do not exist, which would vanish otherwise. `type` is their type. Options that
 * are null or undefined are not given.
 */
export function known<T extends object>(given: T | null | undefined, names: readonly string[], of: string, type: string): T {
  const options = given ?? ({} as T);
  if (typeof options !== 'object') {
    throw new TypeError(`the options of ${of} are an object, not ${described(options)}`);
  }
  const wrong = Object.keys(options).find((name) => !names.includes(name));
  if (wrong !== undefined) {
    const alike = names.find((name) => name.toLowerCase().replace(/_/g, '') === wrong.toLowerCase().replace(/_/g, ''));
    const message = `${of} has no option \`${wrong}\``;
    const help = `${alike ? `write \`${alike}\`; ` : ''}the type \`${type}\` has all options`;
    throw new RepertoireError({ code: 'INVALID_PARAM', message, help, remedy: null });
  }
  return options;
}

/** Returns a text. Anything else is refused: undefined would be an empty message, and a number another session. */
export function text(value: string, name: string): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`${name} is a string, not ${described(value)}`);
}

/** Refuses an object without all of these methods: a misspelt one would vanish. */
export function withMethods(value: object | null | undefined, methods: readonly string[], of: string): void {
  if (value === undefined || value === null) return;
  const missing = methods.find((name) => typeof (value as Record<string, unknown>)[name] !== 'function');
  if (missing !== undefined) throw new TypeError(`${of} has the methods ${methods.join(', ')}; \`${missing}\` is missing`);
}

/** Refuses a callback that is given and is not a function. */
export function callable(value: unknown, name: string): void {
  if (value !== undefined && value !== null && typeof value !== 'function') {
    throw new TypeError(`\`${name}\` is a function, not ${described(value)}`);
  }
}

/** Writes values as JSON, with a `URL` of a file as its path. */
export function written(values: object): string {
  return JSON.stringify(values, function (this: any, key, value) {
    const given = this[key];
    return given instanceof URL ? fileURLToPath(given) : value;
  });
}

/** Returns one value, or several in anything that can be iterated, as a list; undefined if there is none. */
export function several<T>(values: T | Iterable<T> | null | undefined): readonly T[] | undefined {
  if (values === undefined || values === null) return undefined;
  const isList = typeof values === 'object' && Symbol.iterator in values;
  return isList ? [...(values as Iterable<T>)] : [values as T];
}

export function described(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? `an object of ${value.constructor?.name ?? 'no class'}` : `the ${typeof value} ${String(value)}`;
}
