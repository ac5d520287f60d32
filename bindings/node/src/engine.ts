/** The engine: answers messages, at once or on a thread of its own. */
import { callbackFailed, camel, elsewhere, guarded, listen, removeHost, unlisten, unpack } from './bridge.js';
import { Disclosure } from './disclosure.js';
import { native, type NativeEngine, type NativeGuard } from './native.js';
import { prepare } from './prepare.js';
import { Session } from './session.js';
import { Skill } from './skill.js';
import { Tools } from './tools.js';
import { Turn } from './turn.js';
import type {
  Activation, Audience, CatalogPrompt, Command, Diagnostic, DisclosureData, EngineOptions, Explanation, FoundSkill,
  Match, MessageOptions, PromptOptions, Refreshed, ToolsOptions,
} from './types.js';

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

  readonly #now = (method: string, args: object): any => unpack(this.#native.call(method, JSON.stringify(args)));
}

/** An engine that `Engine.create` built, for the constructor to take. */
let built: NativeEngine | undefined;
