/** The part that all adapters share: one conversation of an engine. */
import type { Engine } from './engine.js';
import type { Session } from './session.js';
import type { Tools } from './tools.js';

/** The options of a conversation. */
export interface ChatOptions {
  /** The id of the conversation; `chat-1` by default. */
  chat?: string | null;
  /** The host's own system prompt, in front of the list of skills. */
  instructions?: string | null;
}

/** One conversation: a session of an engine, its tools, and the text for its system prompt. */
export class Conversation {
  readonly session: Session;
  readonly tools: Tools;
  readonly system: string;
  readonly #engine: Engine;

  constructor(engine: Engine, options?: ChatOptions | null) {
    if (typeof engine?.turn !== 'function') throw new TypeError('the first argument of a Chat is an Engine');
    const { chat, instructions } = options ?? {};
    this.#engine = engine;
    this.session = engine.session(chat ?? 'chat-1');
    this.tools = engine.tools(this.session);
    this.system = [instructions, engine.prompt({}, this.session).text].filter(Boolean).join('\n\n');
  }

  /** Returns a message of the user, with what the skills say about it. */
  async content(message: string, signal?: AbortSignal | null): Promise<string> {
    const turn = await this.#engine.turn(message, this.session, { signal });
    return turn.text ? `${message}\n\n${turn.text}` : message;
  }
}

/** Imports an SDK; the error for one that is missing names the package to install. */
export async function sdk<T>(load: () => Promise<T>, name: string): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    if (!isMissing || !message.includes(`'${name}'`)) throw cause;
    throw new Error(`the package ${name} is missing; install it: npm install ${name}`, { cause });
  }
}
