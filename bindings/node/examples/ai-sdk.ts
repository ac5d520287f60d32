// The Vercel AI SDK, with skills: `npx tsx ai-sdk.ts "review this"`, with AI_GATEWAY_API_KEY set.
import type { LanguageModel } from 'ai';
import { Engine } from 'repertoire';
import { Chat } from 'repertoire/ai-sdk';

/** Answers messages of one conversation, one after the other. */
export async function answers(model: LanguageModel, engine: Engine, messages: string[]): Promise<string[]> {
  const chat = new Chat(engine, model, { instructions: 'You are a helpful assistant.' });
  const texts: string[] = [];
  for (const message of messages) texts.push(await chat.say(message));
  return texts;
}

if (process.argv[2]) console.log(await answers('openai/gpt-5', new Engine({ sources: 'skills' }), process.argv.slice(2)));
