/** Sources of the host: providers, and files in memory, as the native module asks them. */
import { createHash } from 'node:crypto';
import { after } from './bridge.js';
import { described, known, withMethods } from './checked.js';
import type { Awaitable, Files, Provider, Source } from './types.js';

/** The sources in the form that the native module takes, and the answers of their providers. */
export interface PreparedSources {
  written: unknown[];
  listFiles(payload: { source: number }): Awaitable<[string, string][]>;
  readFile(payload: { source: number; path: string }): Awaitable<string>;
}

/** Takes the providers out of the sources. */
export function preparedSources(sources: readonly Source[] = []): PreparedSources {
  const providers = new Map<number, Provider>();
  const written = sources.map((source, nth) => {
    const own = provided(source);
    if (own === undefined) return directory(source);
    const { provider, name, ...rest } = known(own, ['provider', 'name', 'scope', 'alias'], 'a source', 'Source');
    const isProvider = typeof provider?.list === 'function' || typeof provider?.read === 'function';
    if (isProvider) withMethods(provider, ['list', 'read'], 'a provider');
    providers.set(nth, isProvider ? (provider as Provider) : filesOf(provider as Files));
    return { ...rest, provider: name ?? (isProvider ? provider.constructor?.name : undefined) ?? 'memory' };
  });
  const of = (nth: number) => providers.get(nth) as Provider;
  return {
    written,
    listFiles: ({ source }) => after(of(source).list(), (files) => [...files].map(([path, revision]) => [path, String(revision)])),
    readFile: ({ source, path }) => after(of(source).read(path), bytes),
  };
}

/** Returns a source that is a directory. */
function directory(source: Source): Source {
  const isPath = (path: unknown) => typeof path === 'string' || path instanceof URL;
  if (isPath(source)) return source;
  const isObject = typeof source === 'object' && source !== null && !Array.isArray(source);
  const given = isObject && known(source, ['path', 'scope', 'optional', 'linksOutside', 'alias'], 'a source', 'Source');
  if (given && isPath((given as { path?: unknown }).path)) return source;
  const forms = 'a path, a file URL, an object with `path` or `provider`, a provider, or an object of files by path';
  throw new TypeError(`a source is ${forms}, not ${described(source)}`);
}

type Provided = Extract<Source, { provider: unknown }>;

/** Returns a source that is a provider or files, also without the words around them; undefined for a directory. */
function provided(source: Source): Provided | undefined {
  if (source === null || typeof source !== 'object' || source instanceof URL || 'path' in source) return undefined;
  if ('provider' in source) return source as Provided;
  const isProvider = 'list' in source && 'read' in source;
  const isFiles = Object.keys(source).some((path) => path.includes('/') || path.includes('.'));
  return isProvider || isFiles ? { provider: source as Provider | Files } : undefined;
}

function filesOf(files: Files): Provider {
  if (files === null || typeof files !== 'object') {
    throw new TypeError('a provider is an object with `list` and `read`, or an object of files by path');
  }
  const revision = (content: Files[string]) =>
    typeof content === 'function' ? '' : createHash('sha256').update(content).digest('base64');
  return {
    list: () => Object.entries(files).map(([path, content]) => [path, revision(content)] as const),
    read: (path) => {
      const content = files[path];
      if (content === undefined) throw new Error(`there is no file ${path}`);
      return typeof content === 'function' ? content() : content;
    },
  };
}

/** Writes each byte as the character of its number. */
function bytes(content: string | Uint8Array): string {
  if (typeof content !== 'string' && !(content instanceof Uint8Array)) {
    throw new TypeError(`the content of a file is a string or a Uint8Array, not ${typeof content}`);
  }
  return Buffer.from(content as string).toString('latin1');
}
