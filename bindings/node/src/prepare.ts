/** The options of an engine, in the form that the native module takes. */
import { join } from 'node:path';
import { addHost, after, camel, snake } from './bridge.js';
import { callable, known, several, withMethods, written } from './checked.js';
import { preparedSources } from './provider.js';
import { retrieverOf } from './retriever.js';
import type { ConsentRequest, EngineOptions, SessionEvent, SessionStore, Task, TrustRequest } from './types.js';

/** The names of all options. */
const NAMES: Record<keyof EngineOptions, true> = {
  sources: true, skills: true, brand: true, allow: true, enable: true, bundledOff: true, environment: true,
  inflect: true, maxQueryBytes: true, metaPhrases: true, meaning: true, disclosure: true,
  prompt: true, config: true, sessionStore: true, consent: true, askConsent: true, tokenCounter: true,
  retriever: true, taskSpawner: true, toolsets: true, scripts: true, trust: true, approve: true, cache: true,
  progress: true,
};

/** Writes the options as JSON and registers the callbacks. */
export function prepare(given: EngineOptions | null | undefined, progress?: number): { text: string; host: number } {
  const options = known(given, Object.keys(NAMES), 'an engine', 'EngineOptions');
  const { sessionStore, askConsent, tokenCounter, retriever, taskSpawner, approve, ...plain } = options;
  for (const [name, value] of Object.entries({ askConsent, tokenCounter, taskSpawner, approve })) callable(value, name);
  const isFile = typeof sessionStore === 'string' || sessionStore instanceof URL;
  // Only the URL of a file is a path.
  const isServer = sessionStore instanceof URL && sessionStore.protocol !== 'file:';
  const sources = preparedSources(several(plain.sources));
  const store = isFile ? undefined : (sessionStore as SessionStore | null | undefined);
  withMethods(store, ['record', 'state', 'end'], 'a session store');
  const ranking = retriever && retrieverOf(retriever);
  const present = { sessionStore: store, askConsent, tokenCounter, retriever, taskSpawner, approve };
  const answers: Record<string, (payload: any) => unknown> = {
    tokenCounter: (text: string) => tokenCounter?.(text),
    prepare: (payload) => ranking?.prepare(payload),
    rank: (payload) => ranking?.rank(payload),
    taskSpawner: (task) => taskSpawner?.(camel(task) as Task),
    askConsent: ({ request, audience }) => askConsent?.({ ...camel(request), audience } as ConsentRequest),
    approve: (request) => approve?.(request as TrustRequest),
    record: ({ session, event }) => mapped(store?.record(session, event as SessionEvent)),
    state: ({ session }) => mapped(store?.state(session)),
    end: ({ session }) => store?.end(session),
    listFiles: sources.listFiles,
    readFile: sources.readFile,
  };
  const host = addHost((kind, payload) => answers[kind]?.(payload));
  const switched = (value: boolean | object | null | undefined) => (value === true ? {} : value || undefined);
  const text = written({
    ...plain,
    sources: sources.written,
    skills: several(plain.skills),
    allow: several(plain.allow),
    enable: several(plain.enable),
    sessions: isServer ? String(sessionStore) : isFile ? sessionStore : undefined,
    toolsets: switched(options.toolsets),
    scripts: switched(options.scripts),
    host,
    callbacks: Object.entries(present).flatMap(([name, callback]) => (callback ? [name] : [])),
    worker: [process.execPath, join(__dirname, 'worker.js')],
    progress,
  });
  return { text, host };
}

/** Converts states from a store to the engine's field names. */
function mapped(value: unknown): unknown {
  return after(value, snake);
}
