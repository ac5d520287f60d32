/**
 * Skills for the OpenAI Agents SDK: `await new Chat(engine, model).say(message)`.
 *
 * @packageDocumentation
 */
import type { Agent, AgentInputItem, FunctionTool, Model } from '@openai/agents';
import { Conversation, sdk, type ChatOptions } from './adapters.js';
import type { Engine } from './engine.js';

type Sdk = typeof import('@openai/agents');

/** One conversation with an agent. */
export class Chat extends Conversation {
  /** The conversation so far. */
  items: AgentInputItem[] = [];
  readonly #model: string | Model;
  #agent: Agent | undefined;

  constructor(engine: Engine, model: string | Model, options?: ChatOptions | null) {
    super(engine, options);
    this.#model = model;
  }

  /** Answers a message from the user. */
  async say(message: string, signal?: AbortSignal | null): Promise<string> {
    const agents = await sdk<Sdk>(() => import('@openai/agents'), '@openai/agents');
    const content = await this.content(message, signal);
    this.#agent ??= new agents.Agent({ name: 'assistant', instructions: this.system, model: this.#model });
    await this.#takeUpTools(agents, this.#agent);
    this.items.push({ role: 'user', content });
    const result = await agents.run(this.#agent, this.items, { signal: signal ?? undefined });
    this.items = result.history;
    return String(result.finalOutput);
  }

  /** Offers the current tools: a loaded skill adds its own. */
  async #takeUpTools(agents: Sdk, agent: Agent): Promise<void> {
    const known = new Set(agent.tools.map(({ name }) => name));
    for (const { name, description, parameters, call } of await this.tools.functions()) {
      if (known.has(name)) continue;
      const offered = agents.tool({
        name,
        description,
        parameters: parameters as any,
        strict: false,
        execute: async (args: unknown) => {
          const answer = await call(args);
          await this.#takeUpTools(agents, agent);
          return answer.text;
        },
      });
      agent.tools.push(offered as FunctionTool<any, any, any>);
    }
  }
}
