// The OpenAI Agents SDK, with skills.
//
// With an API key, use `new Chat('gpt-5', new Engine({ sources: ['skills'] }))`.
import { Agent, run, tool, type AgentInputItem, type FunctionTool, type Model } from '@openai/agents';
import type { Engine, Session, Tools } from 'repertoire';

/** One conversation with a model. */
export class Chat {
  readonly #session: Session;
  readonly #tools: Tools;
  readonly #agent: Agent;
  #items: AgentInputItem[] = [];

  constructor(
    model: string | Model,
    private readonly engine: Engine,
    chat = 'chat-1',
  ) {
    this.#session = engine.session(chat);
    this.#tools = engine.tools(this.#session);
    this.#agent = new Agent({
      name: 'assistant',
      instructions: `You are a helpful assistant.\n\n${engine.prompt({}, this.#session).text}`,
      model,
    });
  }

  /** Answers a message from the user. */
  async say(message: string, signal?: AbortSignal): Promise<string> {
    const turn = await this.engine.turn(message, this.#session, { signal });
    await this.#takeUpTools();
    const content = turn.text ? `${message}\n\n${turn.text}` : message;
    this.#items.push({ role: 'user', content });
    const result = await run(this.#agent, this.#items, { signal });
    this.#items = result.history;
    return String(result.finalOutput);
  }

  /** Offers the current tools: a loaded skill adds its own. */
  async #takeUpTools(): Promise<void> {
    const known = new Set(this.#agent.tools.map(({ name }) => name));
    for (const { name, description, parameters, call } of await this.#tools.functions()) {
      if (known.has(name)) continue;
      const offered = tool({
        name,
        description,
        parameters: parameters as any,
        strict: false,
        execute: async (args: unknown) => {
          const answer = await call(args);
          await this.#takeUpTools();
          return answer.text;
        },
      });
      this.#agent.tools.push(offered as FunctionTool<any, any, any>);
    }
  }
}
