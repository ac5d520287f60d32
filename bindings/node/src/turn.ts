/** Answers to messages of a conversation. */
import { RepertoireError, camel, type Fault } from './bridge.js';
import type { Tools } from './tools.js';
import type { Activation, DisclosureData } from './types.js';

/** The answer to one message of a conversation. */
export class Turn {
  /** The text for the context with the message; may be empty. */
  readonly text: string;
  /** The skills disclosed and left out; for a command, its skill. */
  readonly disclosure: DisclosureData;
  /** The skill that the message activated, if it is a command. */
  readonly activation: Activation | null;
  /** The error that says why the command of a skill activated nothing, if so. */
  readonly refused: RepertoireError | null;
  /** The model's tools, as of any moment. */
  readonly tools: Tools;

  /** @internal */
  constructor(answer: any, tools: Tools) {
    this.text = answer.text;
    this.disclosure = camel(answer.disclosure);
    this.activation = camel(answer.activation);
    this.refused = answer.refused && new RepertoireError(answer.refused as Fault);
    Object.defineProperty(this, 'tools', { value: tools });
    this.tools = tools;
  }
}
