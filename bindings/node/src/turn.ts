/** Answers to messages of a conversation. */
import { RepertoireError, camel, told, type Fault } from './bridge.js';
import type { Tools } from './tools.js';
import type { Activation, DisclosureData } from './types.js';

/** The answer to one message of a conversation. */
export class Turn {
  /** The text to put into the context together with the message; may be empty. */
  readonly text: string;
  /** The skills that were disclosed and omitted; for a command, the command's skill. */
  readonly disclosure: DisclosureData;
  /** The skill that the message activated, if the message is a command. */
  readonly activation: Activation | null;
  /** The error, if the message is a command whose skill could not be activated. */
  readonly refused: RepertoireError | null;
  /** The error of the session's store, if the answer comes from memory or is kept there only. */
  readonly unsaved: RepertoireError | null;
  /** The model's tools, always up to date. */
  readonly tools: Tools;

  /** @internal */
  constructor(answer: any, tools: Tools) {
    this.text = answer.text;
    this.disclosure = camel(answer.disclosure);
    this.activation = camel(answer.activation);
    this.refused = answer.refused && new RepertoireError(answer.refused as Fault);
    this.unsaved = told(answer.unsaved);
    Object.defineProperty(this, 'tools', { value: tools });
    this.tools = tools;
  }
}
