// The Vercel AI SDK, with skills.
//
// With an API key, use `new Chat(openai('gpt-5'), new Engine({ sources: ['skills'] }))`.
import { generateText, jsonSchema, stepCountIs, tool, type LanguageModel, type ModelMessage, type ToolSet } from 'ai';
import type { Engine, Session, Tools } from 'repertoire';

/** One conversation with a model. */
export class Chat {
  readonly #session: Session;
  readonly #tools: Tools;
  readonly #system: string;
  #messages: ModelMessage[] = [];

  constructor(
    private readonly model: LanguageModel,
    private readonly engine: Engine,
    chat = 'chat-1',
  ) {
    this.#session = engine.session(chat);
    this.#tools = engine.tools(this.#session);
    this.#system = `You are a helpful assistant.\n\n${engine.prompt({}, this.#session).text}`;
  }

  /** Answers a message from the user. */
  async say(message: string, signal?: AbortSignal): Promise<string> {
    const turn = await this.engine.turn(message, this.#session, { signal });
    this.#messages.push({ role: 'user', content: turn.text ? `${message}\n\n${turn.text}` : message });
    const tools = await this.#offered();
    const result = await generateText({
      model: this.model,
      system: this.#system,
      messages: this.#messages,
      tools,
      stopWhen: stepCountIs(10),
      abortSignal: signal,
      // A loaded skill adds its tools; offer them from the next step on.
      prepareStep: async () => {
        Object.assign(tools, await this.#offered());
        return {};
      },
    });
    this.#messages.push(...result.response.messages);
    return result.text;
  }

  async #offered(): Promise<ToolSet> {
    const functions = await this.#tools.functions();
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
}
