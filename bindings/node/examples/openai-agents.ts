// The OpenAI Agents SDK, with skills: `npx tsx openai-agents.ts "review this"`, with OPENAI_API_KEY set.
import type { Model } from '@openai/agents';
import { Engine } from 'repertoire';
import { Chat } from 'repertoire/openai-agents';

/** Answers messages of one conversation, one after the other. */
export async function answers(model: string | Model, engine: Engine, messages: string[]): Promise<string[]> {
  const chat = new Chat(engine, model, { instructions: 'You are a helpful assistant.' });
  const texts: string[] = [];
  for (const message of messages) texts.push(await chat.say(message));
  return texts;
}

if (process.argv[2]) console.log(await answers('gpt-5', new Engine({ sources: 'skills' }), process.argv.slice(2)));
