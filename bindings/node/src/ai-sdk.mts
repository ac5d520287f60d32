/**
 * Skills for the Vercel AI SDK: `await new Chat(engine, model).say(message)`, or `skillTools(tools)`.
 *
 * @packageDocumentation
 */
import type { LanguageModel, ModelMessage, ToolSet } from 'ai';
import { Conversation, sdk, type ChatOptions } from './adapters.js';
import type { Engine } from './engine.js';
import type { Tools } from './tools.js';

type Sdk = typeof import('ai');
const ai = () => sdk<Sdk>(() => import('ai'), 'ai');

/** Returns the tools of a session for `generateText` and its siblings. A loaded skill adds its own later. */
export async function skillTools(tools: Tools): Promise<ToolSet> {
  const { jsonSchema, tool } = await ai();
  const functions = await tools.functions();
  const entries = functions.map(({ name, description, parameters, call }) => [
    name,
    tool({
      description,
      inputSchema: jsonSchema<Record<string, unknown>>(parameters),
      execute: async (args, { abortSignal }) => (await call(args, { signal: abortSignal })).text,
    }),
  ]);
  return Object.fromEntries(entries) as ToolSet;
}

/** One conversation with a model. */
export class Chat extends Conversation {
  /** The messages so far. */
  readonly messages: ModelMessage[] = [];
  readonly #model: LanguageModel;
  readonly #maxSteps: number;

  constructor(engine: Engine, model: LanguageModel, options?: (ChatOptions & { maxSteps?: number | null }) | null) {
    super(engine, options);
    this.#model = model;
    this.#maxSteps = options?.maxSteps ?? 10;
  }

  /** Answers a message from the user. */
  async say(message: string, signal?: AbortSignal | null): Promise<string> {
    const { generateText, isStepCount } = await ai();
    this.messages.push({ role: 'user', content: await this.content(message, signal) });
    const tools = await skillTools(this.tools);
    const result = await generateText({
      model: this.#model,
      system: this.system,
      messages: this.messages,
      tools,
      stopWhen: isStepCount(this.#maxSteps),
      abortSignal: signal ?? undefined,
      // A loaded skill adds its tools; offer them from the next step on.
      prepareStep: async () => {
        Object.assign(tools, await skillTools(this.tools));
        return {};
      },
    });
    this.messages.push(...result.response.messages);
    return result.text;
  }
}
