/** The engine, which answers messages, synchronously or on another thread. */
import { callbackFailed, camel, elsewhere, guarded, listen, removeHost, unlisten, unpack } from './bridge.js';
import { callable, known, sessionId, several, text, written } from './checked.js';
import { Disclosure } from './disclosure.js';
import { native, type NativeEngine, type NativeGuard } from './native.js';
import { prepare } from './prepare.js';
import { Session } from './session.js';
import { Skill } from './skill.js';
import { Tools } from './tools.js';
import { Turn } from './turn.js';
import type {
  ActivateOptions, Activation, Audience, CatalogPrompt, Command, Diagnostic, DisclosureData, EngineOptions, Explanation, FoundSkill,
  Match, MessageOptions, Paths, PromptOptions, Refreshed, ToolsOptions,
} from './types.js';

/** A handle of a subscription or a watch; `close` ends it. */
export interface Guard {
  close(): void;
}

/** Removes the callbacks of an engine once the engine is garbage-collected. */
const ended = new FinalizationRegistry<number>((host) => removeHost(host));

/**
 * A catalog of skills and its compiled index. Methods that may take long are asynchronous and run on
 * another thread.
 */
export class Engine {
  readonly #native: NativeEngine;

  /** Reads the sources and compiles the triggers. `Engine.create` does the same without blocking. */
  constructor(options?: EngineOptions | null) {
    if (options?.progress) throw new TypeError('progress is reported by `Engine.create`');
    if (built !== undefined) {
      this.#native = built;
      built = undefined;
      return;
    }
    const { text, host } = prepare(options);
    this.#native = guarded(() => new native.NativeEngine(text));
    ended.register(this, host);
  }

  /** Reads the sources and compiles the triggers on another thread. */
  static async create(options?: EngineOptions | null, signal?: AbortSignal | null): Promise<Engine> {
    const { progress, ...others } = options ?? {};
    let failure: { error: unknown } | undefined;
    callable(progress, 'progress');
    const listener = progress && listen((at) => {
      try {
        if (!failure) progress(at);
      } catch (error) {
        failure = { error };
      }
    });
    try {
      const { text, host } = prepare(others, listener ?? undefined);
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

  /** Returns the session with this id; it begins with its first event. */
  session(id: string): Session {
    return new Session(this, text(id, 'the id of a session'));
  }

  /** Answers a message of a conversation, and records in the session the skills that were shown. */
  async turn(message: string, session: Session, options?: MessageOptions | null): Promise<Turn> {
    const { signal, ...rest } = options ?? {};
    const answer = await this.later('turn', { message: text(message, 'a message'), ...this.#message(rest), session: sessionId(session) }, signal);
    return new Turn(answer, this.tools(session));
  }

  /** Answers a message as `turn` does, but synchronously; callbacks must not be asynchronous. */
  turnSync(message: string, session: Session, options?: Omit<MessageOptions, 'signal'> | null): Turn {
    return new Turn(this.#now('turn', { message: text(message, 'a message'), ...this.#message(options), session: sessionId(session) }), this.tools(session));
  }

  /** Returns what `turn` would disclose, without recording it in the session. */
  async preview(message: string, session: Session, options?: MessageOptions | null): Promise<DisclosureData> {
    const { signal, ...rest } = options ?? {};
    return camel(await this.later('preview', { message: text(message, 'a message'), ...this.#message(rest), session: sessionId(session) }, signal));
  }

  /** Returns the disclosure for a message outside of any conversation, synchronously. */
  disclose(message: string, paths?: Paths | null): Disclosure {
    const list = several(paths);
    return new Disclosure(guarded(() => this.#native.disclose(text(message, 'a message'), list && [...list])));
  }

  /** Returns every skill that matches a message, best first; in a `session`, skills that it used rank higher. */
  matches(message: string, paths?: Paths | null, session?: Session | null): Match[] {
    return camel(this.#now('matches', { message: text(message, 'a message'), paths: several(paths), session: session && sessionId(session) }));
  }

  /**
   * Returns the best `limit` matches, the reasons why other skills are not among them, and what relevance
   * decided; in a conversation if `session` is given.
   */
  explain(message: string, limit: number | null = 3, paths?: Paths | null, session?: Session | null): Explanation {
    return camel(this.#now('explain', { message: text(message, 'a message'), limit, paths: several(paths), session: session && sessionId(session) }));
  }

  /** Returns the best `limit` skills for a query, by triggers and by relevance. */
  async findSkills(query: string, limit: number | null = 5, signal?: AbortSignal | null): Promise<FoundSkill[]> {
    return camel(await this.later('findSkills', { message: text(query, 'a query'), limit }, signal));
  }

  /**
   * Returns the list of skills for the system prompt. The messages of a `session` that is given do not list
   * the skills again.
   */
  prompt(options?: PromptOptions | null, session?: Session | null): CatalogPrompt {
    const request = { prompt: options };
    return camel(session ? this.#now('sessionPrompt', { ...request, session: sessionId(session) }) : this.#now('prompt', request));
  }

  /** Activates the skill that `name` refers to: an id, a path, or a unique name. */
  async activate(
    name: string,
    session: Session,
    options?: ActivateOptions | null,
  ): Promise<Activation> {
    const { signal, ...rest } = options ?? {};
    const how = known(rest, ['args', 'audience', 'by', 'inline'], '`activate`', 'ActivateOptions');
    return camel(await this.later('activate', { name: text(name, 'the name of a skill'), ...how, session: sessionId(session) }, signal));
  }

  /** Activates the skill of a message such as `/review PR 42`; `null` for any other message. */
  async userMessage(message: string, session: Session, signal?: AbortSignal | null): Promise<Activation | null> {
    return camel(await this.later('userMessage', { message: text(message, 'a message'), session: sessionId(session) }, signal));
  }

  /** Returns the slash commands that users can type. */
  commands(): Command[] {
    return camel(this.#now('commands', {}));
  }

  /** Returns the model's tools in a session. */
  tools(session: Session, options?: ToolsOptions | null): Tools {
    return new Tools(this, sessionId(session), options);
  }

  /** Returns the skills of the catalog, in the order of ids; with an audience, only those that it can use. */
  skills(audience?: Audience | null): Skill[] {
    const skills = this.#now('skill.list', { audience }) as object[];
    return skills.map((skill) => new Skill(this.#native, skill));
  }

  /** Returns the skill that `name` refers to, whatever its status. */
  skill(name: string): Skill {
    return new Skill(this.#native, this.#now('skill.get', { name: text(name, 'the name of a skill') }));
  }

  /** Returns the problems found in skill files and sources. */
  diagnostics(): Diagnostic[] {
    return camel(this.#now('diagnostics', {}));
  }

  /** Returns the number of tokens of a text, as counted for budgets. */
  countTokens(text: string): number {
    return this.#now('countTokens', { message: text });
  }

  /** Applies changes in the sources since they were last read. */
  async refresh(signal?: AbortSignal | null): Promise<Refreshed> {
    return camel(await this.later('refresh', {}, signal));
  }

  /**
   * Returns the engine of a role, for which only the skills of `allow` exist; all if there is no such list. It
   * shares catalog, indexes, sessions, callbacks and the watch with this engine.
   */
  view(allow?: string | readonly string[] | null): Engine {
    const list = several(allow);
    built = guarded(() => this.#native.view(list && [...list]));
    const view = new Engine();
    // The callbacks belong to the first engine, which a view keeps alive.
    kept.set(view, this);
    return view;
  }

  /** Calls a listener after each refresh that found changes, until the guard is closed. */
  subscribe(listener: (refreshed: Refreshed) => void): Guard {
    callable(listener, 'listener');
    const number = listen((refreshed) => listener(camel(refreshed)));
    const guard = guarded(() => this.#native.subscribe(number));
    return { close: () => (unlisten(number), guard.close()) };
  }

  /** Refreshes the engine whenever its sources change, until the guard is closed. */
  watch(): Guard {
    const guard: NativeGuard = guarded(() => this.#native.watch());
    return { close: () => guard.close() };
  }

  /** @internal */
  later(method: string, args: object, signal?: AbortSignal | null): Promise<any> {
    const text = written(args);
    return elsewhere((call, cancellation) => this.#native.callElsewhere(call, method, text, cancellation), signal);
  }

  /** Returns the options of a message that the native module takes. */
  #message(options: Omit<MessageOptions, 'signal'> | null | undefined): object {
    const checked = known(options, ['paths', 'budget', 'options'], 'a message', 'MessageOptions');
    return { ...checked, paths: several(checked.paths) };
  }

  readonly #now = (method: string, args: object): any => unpack(this.#native.call(method, written(args)));
}

/** The engines whose callbacks views use. */
const kept = new WeakMap<Engine, Engine>();

/** The engine that `Engine.create` has just built, which the constructor then takes. */
let built: NativeEngine | undefined;
