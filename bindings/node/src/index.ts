/**
 * An embeddable skill engine for LLM agents: for each message of a user, it decides which
 * `SKILL.md` folders matter, and how much of each the model should read.
 *
 * @packageDocumentation
 */
import { join } from 'node:path';
import {
  RepertoireError, addHost, camel, elsewhere, guarded, listen, removeHost, snake, unlisten, unpack,
  type Fault,
} from './bridge.js';
import { native, type NativeDisclosure, type NativeEngine, type NativeGuard } from './native.js';
import type {
  Activation, Audience, CatalogPrompt, Command, ConsentRequest, Diagnostic, DisclosureData, EngineOptions, Envelope,
  Explanation, FoundSkill, Match, MessageOptions, PromptOptions, Refreshed, Rejection, SessionEvent, SkillState, Task,
  ToolFormat, ToolsOptions, TrustRequest,
} from './types.js';

export { RepertoireError } from './bridge.js';
export type * from './types.js';

/** The decision for one message: the text for the prompt, and the skills in it and left out. */
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

  /** All of it as a plain object, which can be cloned and sent to other threads. */
  toJSON(): DisclosureData {
    return (this.#data ??= camel(JSON.parse(this.#native.json())) as DisclosureData);
  }
}

/** A skill of a catalog. */
export class Skill {
  readonly id!: string;
  readonly name!: string;
  readonly description!: string;
  /** The description in one line. */
  readonly brief!: string;
  readonly scope!: 'bundled' | 'user' | 'project' | 'memory';
  readonly status!: 'available' | 'unavailable' | 'shadowed' | 'disabled';
  /** The reason why the model cannot use it, if so. */
  readonly reason!: string | null;
  readonly triggers!: { keywords: string[]; verbs: string[]; patterns: string[]; exclude: string[]; paths: string[] };
  /** The `path:Class` entries of its toolsets. */
  readonly toolsets!: string[];
  readonly path!: string | null;
  readonly dir!: string | null;
  readonly #engine: NativeEngine;

  /** @internal */
  constructor(engine: NativeEngine, fields: object) {
    this.#engine = engine;
    Object.assign(this, fields);
  }

  /** The instructions: the text after the front matter, read when it is first asked for. */
  get body(): string {
    return unpack(this.#engine.call('skill.body', JSON.stringify({ name: this.id }))) as string;
  }
}

type Call = (method: string, args: object) => any;

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

/** The options of a tool's call. */
export interface CallOptions {
  signal?: AbortSignal;
  /** Milliseconds after which the call ends. */
  timeout?: number;
  /** Gets a fraction and the current step. */
  onProgress?: (fraction: number, step: string) => void;
}

/** A tool as a function, for frameworks that take functions. */
export interface ToolFunction {
  name: string;
  description: string;
  /** The JSON Schema of its arguments. */
  parameters: Record<string, unknown>;
  /** Calls it; the answer may be an error, which says to the model what to do. */
  call(args: unknown, options?: CallOptions): Promise<Envelope>;
}

/** The tools of one session's model. The list only grows within a session. */
export class Tools {
  readonly #engine: Engine;
  readonly #session: string;
  readonly #options: ToolsOptions;

  /** @internal */
  constructor(engine: Engine, session: string, options: ToolsOptions) {
    this.#engine = engine;
    this.#session = session;
    this.#options = options;
  }

  /** The definitions as they are now, in the shape of a provider; ask before each request to the model. */
  async definitions(format: ToolFormat = 'openai'): Promise<any[]> {
    return this.#engine.later('tools.definitions', { session: this.#session, tools: this.#options, format });
  }

  /**
   * Answers a call of a model: the name of a tool, and its arguments as an object or as JSON text. A
   * failure is an answer, too. Aborting the signal ends the call, and rejects with its reason.
   */
  async call(name: string, args: unknown = {}, options: CallOptions = {}): Promise<Envelope> {
    const { signal, timeout, onProgress } = options;
    let values = args;
    if (typeof args === 'string') {
      try {
        values = args.trim() === '' ? {} : JSON.parse(args);
      } catch (error) {
        const message = `the arguments are not JSON: ${(error as Error).message}; give an object as the tool's definition describes it`;
        return { status: 'error', error: { code: 'INVALID_PARAM', message } };
      }
    }
    let failure: { error: unknown } | undefined;
    const progress = onProgress && listen(({ fraction, step }) => {
      try {
        if (!failure) onProgress(fraction, step);
      } catch (error) {
        failure = { error };
      }
    });
    try {
      const request = {
        session: this.#session, tools: this.#options, name, arguments: values ?? {}, timeout, progress,
      };
      const answer = await this.#engine.later('tools.call', request, signal);
      if (failure) throw callbackFailed('the callback for progress', failure.error);
      return answer;
    } finally {
      if (progress) unlisten(progress);
    }
  }

  /** The tools as functions. */
  async functions(): Promise<ToolFunction[]> {
    const definitions = await this.definitions('mcp');
    return definitions.map(({ name, description, inputSchema }) => ({
      name,
      description,
      parameters: inputSchema,
      call: (args, options) => this.call(name, args, options),
    }));
  }
}

/** The answer to one message of a conversation. */
export class Turn {
  /** The text for the context with the message; may be empty. */
  readonly text: string;
  /** The skills disclosed and left out; for a command, its skill. */
  readonly disclosure: DisclosureData;
  /** The skill that the message activated, if it is a command. */
  readonly activation: Activation | null;
  /** The error that says why the command of a skill activated nothing, if so. */
  readonly refused: RepertoireError | null;
  /** The model's tools, as of any moment. */
  readonly tools: Tools;

  /** @internal */
  constructor(answer: any, tools: Tools) {
    this.text = answer.text;
    this.disclosure = camel(answer.disclosure);
    this.activation = camel(answer.activation);
    this.refused = answer.refused && new RepertoireError(answer.refused as Fault);
    Object.defineProperty(this, 'tools', { value: tools });
    this.tools = tools;
  }
}

/** Ends what it stands for. */
export interface Guard {
  close(): void;
}

/** Callbacks go with the engine that has them. */
const ended = new FinalizationRegistry<number>((host) => removeHost(host));

/**
 * A catalog of skills and its compiled index. Methods that may take long are asynchronous, and work
 * on a thread of their own.
 */
export class Engine {
  readonly #native: NativeEngine;

  /** Reads the sources and compiles the triggers. `Engine.create` does it without blocking. */
  constructor(options: EngineOptions = {}) {
    if (options.progress) throw new TypeError('progress is reported by `Engine.create`');
    if (built !== undefined) {
      this.#native = built;
      built = undefined;
      return;
    }
    const { text, host } = prepare(options);
    this.#native = guarded(() => new native.NativeEngine(text));
    ended.register(this, host);
  }

  /** Reads the sources and compiles the triggers, on a thread of its own. */
  static async create({ progress, ...options }: EngineOptions = {}, signal?: AbortSignal): Promise<Engine> {
    let failure: { error: unknown } | undefined;
    const listener = progress && listen((at) => {
      try {
        if (!failure) progress(at);
      } catch (error) {
        failure = { error };
      }
    });
    try {
      const { text, host } = prepare(options, listener);
      const number = await elsewhere((call) => native.NativeEngine.create(call, text), signal);
      built = native.NativeEngine.take(number as number);
      const engine = new Engine();
      ended.register(engine, host);
      if (failure) throw callbackFailed('the callback for progress', failure.error);
      return engine;
    } finally {
      if (listener) unlisten(listener);
    }
  }

  /** The session with this id; it begins with its first event. */
  session(id: string): Session {
    return new Session(this, id);
  }

  /** Answers a message of a conversation, and notes in the session what was shown. */
  async turn(message: string, session: Session, { signal, ...rest }: MessageOptions = {}): Promise<Turn> {
    const answer = await this.later('turn', { message, session: session.id, ...rest }, signal);
    return new Turn(answer, this.tools(session));
  }

  /** As `turn`, at once; callbacks must not be asynchronous. */
  turnSync(message: string, session: Session, options: Omit<MessageOptions, 'signal'> = {}): Turn {
    return new Turn(this.#now('turn', { message, session: session.id, ...options }), this.tools(session));
  }

  /** What `turn` would disclose, without noting it. */
  async preview(message: string, session: Session, { signal, ...rest }: MessageOptions = {}): Promise<DisclosureData> {
    return camel(await this.later('preview', { message, session: session.id, ...rest }, signal));
  }

  /** The text for a message outside of any conversation, at once. */
  disclose(message: string, paths?: string[]): Disclosure {
    return new Disclosure(guarded(() => this.#native.disclose(message, paths)));
  }

  /** Every skill that a message matches, best first. */
  matches(message: string, paths: string[] = []): Match[] {
    return camel(this.#now('matches', { message, paths }));
  }

  /** The best `limit` matches, and the reasons why other skills are not among them. */
  explain(message: string, limit = 3, paths: string[] = []): Explanation {
    return camel(this.#now('explain', { message, limit, paths }));
  }

  /** The best `limit` skills for a query, by triggers and by relevance. */
  async findSkills(query: string, limit = 5, signal?: AbortSignal): Promise<FoundSkill[]> {
    return camel(await this.later('findSkills', { message: query, limit }, signal));
  }

  /** The list of skills for the system prompt. */
  prompt(options: PromptOptions = {}): CatalogPrompt {
    return camel(this.#now('prompt', { prompt: options }));
  }

  /** Activates the skill that is meant by an id, a path, or a unique name. */
  async activate(
    name: string,
    session: Session,
    { signal, ...rest }: { args?: string; audience?: Audience; by?: string; inline?: boolean; signal?: AbortSignal } = {},
  ): Promise<Activation> {
    return camel(await this.later('activate', { name, session: session.id, ...rest }, signal));
  }

  /** Activates the skill of a message such as `/review PR 42`; `null` for any other message. */
  async userMessage(message: string, session: Session, signal?: AbortSignal): Promise<Activation | null> {
    return camel(await this.later('userMessage', { message, session: session.id }, signal));
  }

  /** The slash commands that users have. */
  commands(): Command[] {
    return camel(this.#now('commands', {}));
  }

  /** The tools of the model in a session. */
  tools(session: Session, options: ToolsOptions = {}): Tools {
    return new Tools(this, session.id, options);
  }

  /** The skills of the catalog, in the order of ids; those that an audience can use, if it is given. */
  skills(audience?: Audience): Skill[] {
    const skills = this.#now('skill.list', { audience }) as object[];
    return skills.map((skill) => new Skill(this.#native, skill));
  }

  /** The skill that is meant by a name, whatever its status. */
  skill(name: string): Skill {
    return new Skill(this.#native, this.#now('skill.get', { name }));
  }

  /** The problems found in skill files and sources. */
  diagnostics(): Diagnostic[] {
    return camel(this.#now('diagnostics', {}));
  }

  /** The tokens of a text, by the counter that budgets use. */
  countTokens(text: string): number {
    return this.#now('countTokens', { message: text });
  }

  /** Takes up the changes in the sources since they were read last. */
  async refresh(signal?: AbortSignal): Promise<Refreshed> {
    return camel(await this.later('refresh', {}, signal));
  }

  /** Calls a listener after each refresh that found changes, until it is closed. */
  subscribe(listener: (refreshed: Refreshed) => void): Guard {
    const number = listen((refreshed) => listener(camel(refreshed)));
    const guard = guarded(() => this.#native.subscribe(number));
    return { close: () => (unlisten(number), guard.close()) };
  }

  /** Refreshes the engine whenever its sources change, until it is closed. */
  watch(): Guard {
    const guard: NativeGuard = guarded(() => this.#native.watch());
    return { close: () => guard.close() };
  }

  /** @internal */
  later(method: string, args: object, signal?: AbortSignal): Promise<any> {
    const text = JSON.stringify(args);
    return elsewhere((call, cancellation) => this.#native.callElsewhere(call, method, text, cancellation), signal);
  }

  readonly #now: Call = (method, args) => unpack(this.#native.call(method, JSON.stringify(args)));
}

/** An engine that `Engine.create` built, for the constructor to take. */
let built: NativeEngine | undefined;

function callbackFailed(what: string, error: unknown): RepertoireError {
  const message = error instanceof Error ? error.message : String(error);
  const fault: Fault = {
    code: 'EXECUTION_ERROR', message: `${what} failed: ${message}`, help: 'see the cause of this error', remedy: null,
  };
  return new RepertoireError(fault, error);
}

/** Writes the options as JSON, and keeps the callbacks. */
function prepare(options: EngineOptions, progress?: number): { text: string; host: number } {
  const { sessionStore, askConsent, tokenCounter, retriever, taskSpawner, approve, ...plain } = options;
  const store = typeof sessionStore === 'object' ? sessionStore : undefined;
  const rank = typeof retriever === 'function' ? retriever : retriever?.rank.bind(retriever);
  const isSure = typeof retriever === 'object' ? retriever.isSure?.bind(retriever) : undefined;
  const present = { sessionStore: store, askConsent, tokenCounter, retriever, taskSpawner, approve };
  const answers: Record<string, (payload: any) => unknown> = {
    tokenCounter: (text: string) => tokenCounter?.(text),
    retriever: ({ message, candidates }) => rank?.(message, candidates),
    isSure: ({ best, next }) => isSure?.(best, next) ?? false,
    taskSpawner: (task) => taskSpawner?.(camel(task) as Task),
    askConsent: ({ request, audience }) => askConsent?.({ ...camel(request), audience } as ConsentRequest),
    approve: (request) => approve?.(request as TrustRequest),
    record: ({ session, event }) => mapped(store?.record(session, event as SessionEvent)),
    state: ({ session }) => mapped(store?.state(session)),
    end: ({ session }) => store?.end(session),
  };
  const host = addHost((kind, payload) => answers[kind]?.(payload));
  const switched = (value: boolean | object | undefined) => (value === true ? {} : value || undefined);
  const text = JSON.stringify({
    ...plain,
    sessions: typeof sessionStore === 'string' ? sessionStore : undefined,
    toolsets: switched(options.toolsets),
    scripts: switched(options.scripts),
    host,
    callbacks: Object.entries(present).flatMap(([name, callback]) => (callback ? [name] : [])),
    worker: [process.execPath, join(__dirname, 'worker.js')],
    progress,
  });
  return { text, host };
}

/** The states of a store in the names of the engine. */
function mapped(value: unknown): unknown {
  return value instanceof Promise ? value.then(snake) : snake(value);
}

/**
 * The state of a skill after an event, for stores of a host's own. A name instead of a state stands
 * for a skill of which nothing is known. If `joins` is true, the store gives the state the next
 * number in `joined`.
 */
export function applyEvent(before: SkillState | string, event: SessionEvent): { joins: boolean; state: SkillState } {
  const state = typeof before === 'string' ? before : snake(before);
  return camel(unpack(native.applyEvent(JSON.stringify(state), JSON.stringify(event))));
}
