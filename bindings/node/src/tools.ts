/** The tools of a model. */
import { callbackFailed, listen, unlisten } from './bridge.js';
import { callable, known } from './checked.js';
import type { Engine } from './engine.js';
import type { Envelope, ToolFormat, ToolsOptions } from './types.js';

/** The options of a tool's call. */
export interface CallOptions {
  signal?: AbortSignal | null;
  /** The time limit of the call, in milliseconds. */
  timeout?: number | null;
  /** Receives the fraction done and the current step. */
  onProgress?: ((fraction: number, step: string) => void) | null;
}

/** A tool as a function, for frameworks that take functions. */
export interface ToolFunction {
  name: string;
  description: string;
  /** The JSON Schema of the tool's arguments. */
  parameters: Record<string, unknown>;
  /** Calls the tool. The result may be an error, whose message tells the model what to do. */
  call(args?: unknown, options?: CallOptions | null): Promise<Envelope>;
}

/** The tools for the model of one session. The list only grows within a session. */
export class Tools {
  readonly #engine: Engine;
  readonly #session: string;
  readonly #options: ToolsOptions;

  /** @internal */
  constructor(engine: Engine, session: string, options?: ToolsOptions | null) {
    this.#engine = engine;
    this.#session = session;
    this.#options = known(options, ['namesChars', 'readBytes', 'outputBytes', 'allToolsets'], 'tools', 'ToolsOptions');
  }

  /**
   * Returns the current tool definitions in the format of a provider. Call it before each request to the
   * model, as the list may grow.
   */
  async definitions(format: ToolFormat | null = 'openai'): Promise<any[]> {
    return this.#engine.later('tools.definitions', { session: this.#session, tools: this.#options, format });
  }

  /**
   * Answers a tool call of the model. `args` is an object or JSON text. A failure is returned as an
   * envelope, too. Aborting the signal ends the call, and rejects the promise with the signal's reason.
   */
  async call(name: string, args?: unknown, options?: CallOptions | null): Promise<Envelope> {
    const { signal, timeout, onProgress } = known(options, ['signal', 'timeout', 'onProgress'], 'a call', 'CallOptions');
    callable(onProgress, 'onProgress');
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
        session: this.#session, tools: this.#options, name, arguments: args, timeout, progress,
      };
      const answer = await this.#engine.later('tools.call', request, signal);
      if (failure) throw callbackFailed('the callback for progress', failure.error);
      return answer;
    } finally {
      if (progress) unlisten(progress);
    }
  }

  /**
   * Tells that a task of this session has ended: with its result, or with the reason why it failed. Returns the
   * answer to put into the conversation.
   */
  async finish(taskId: string, result: string, options?: { failed?: boolean | null } | null): Promise<Envelope> {
    const { failed } = known(options, ['failed'], '`finish`', 'Tools.finish');
    const request = { session: this.#session, tools: this.#options, name: taskId, args: result, failed };
    return this.#engine.later('tools.finish', request);
  }

  /** Returns the tools as functions. */
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
