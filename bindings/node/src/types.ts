/** The types of options and results. */

/** Who asks: the model, or the user. */
export type Audience = 'model' | 'user';
/** A number of characters, or text: `1000t` for tokens, `2%` for a share of the context window, `unlimited`. */
export type Budget = number | string;
/** The shape of tool definitions. */
export type ToolFormat = 'openai' | 'anthropic' | 'mcp';
/** A question about the skills themselves. */
export type MetaQuestion = 'registry' | 'show_all';

/** One trigger found in one message, where it stands first. */
export interface Hit {
  kind: 'name' | 'keyword' | 'verb' | 'pattern' | 'path';
  /** The trigger as its author wrote it. */
  trigger: string;
  /** The place in the message, as `String.prototype.slice` takes it. */
  start: number;
  end: number;
  /** The path a glob was found in. */
  path: string | null;
}

/** A skill that matches a message. Its rank is its place in the list it comes in. */
export interface Match {
  id: string;
  /** True if the message asks for the skill by its name. */
  explicit: boolean;
  /** Words of the longest literal found; 0 if only patterns or paths were. */
  phraseWords: number;
  hits: Hit[];
}

/** A reason why a skill is shown less than it might be. */
export interface Reason {
  /** The code, stable and in kebab-case: `below-limit`, `vetoed`, `in-context` and so on. */
  code: string;
  text: string;
  /** The remedy for the user, the skill's author or the host. */
  help: string;
}

/** A skill that is shown less than it might be, or not at all, and why. */
export interface Rejection {
  id: string;
  reason: Reason;
  /** Further reasons that hold as well. */
  also: Reason[];
}

/** The decision for one message. */
export interface DisclosureData {
  /** The highest tier: 0 nothing, 1 a count of skills, 2 lines, 3 instructions in full. */
  tier: 0 | 1 | 2 | 3;
  meta: MetaQuestion | null;
  /** Skills in full, best first. */
  full: string[];
  /** The skill that is shown in full for its relevance. */
  relevant: { id: string; worth: number; lead: number; words: number; headWords: number } | null;
  /** Skills in a line, in the order of the text. */
  registry: string[];
  /** Number of skills that are only counted. */
  hidden: number;
  /** Number of skills that rank below the limit. */
  belowLimit: number;
  /** Skills that are shown less than they might be, and why. */
  omitted: Rejection[];
  /** The text for the prompt; may be empty. */
  text: string;
}

/** The matches of a message, and why other skills are not among them. */
export interface Explanation {
  matches: Match[];
  rejected: Rejection[];
  nBeyond: number;
  meta: MetaQuestion | null;
}

/** A skill that was found for a query, and why. */
export interface FoundSkill {
  id: string;
  brief: string;
  why: string;
}

/** The list of skills for a system prompt. */
export interface CatalogPrompt {
  included: string[];
  shortened: string[];
  omitted: string[];
  text: string;
}

/** A finding about a skill file or a source. */
export interface Diagnostic {
  code: string;
  severity: 'error' | 'warning' | 'info';
  path: string;
  line: number;
  column: number;
  message: string;
  help: string;
}

/** A slash command of the user. */
export interface Command {
  command: string;
  id: string;
  brief: string;
  argumentHint: string | null;
}

/** The changes that a refresh took up, by the ids of skills. */
export interface Refreshed {
  added: string[];
  changed: string[];
  removed: string[];
  /** Skills whose file no longer loads; they stay as they were. */
  kept: string[];
}

/** A skill loaded by name. */
export interface Activation {
  id: string;
  name: string;
  mode: 'inline' | 'fork';
  /** The body with arguments put in; empty if the instructions went to a task. */
  content: string;
  /** The text for the model: base directory, instructions, and hints at files. */
  text: string;
  baseDir: string | null;
  files: string[];
  moreFiles: number;
  subSkills: { id: string; brief: string }[];
  knowledge: string[];
  /** Tools its author wants to be allowed; `null` stands for all. */
  allowedTools: string[] | null;
  model: string | null;
  agent: string | null;
  risk: 'risky' | 'safe';
  /** The host's name for the task that does it, if the instructions went to one. */
  taskId?: string;
}

/** The information that a user should see before agreeing to an activation. */
export interface ConsentRequest {
  id: string;
  description: string;
  audience: Audience;
  scope: string;
  dir: string | null;
  tree: string;
  toolsets: string[];
  allowedTools: string[] | null;
  scripts: string[];
  risk: 'risky' | 'safe';
}

/** A question to the host about code that wants to run. */
export interface TrustRequest {
  skill: string;
  path: string;
  sha256: string;
  classes: string[];
  verdict: 'untrusted' | 'changed';
  /**
   * The files of the skill that changed since its code was approved; a yes holds for all; as in
   * "`lib/f.sh` (changed)".
   */
  changes: string[];
}

/** A task for a host to spawn: an agent of its own with these instructions. */
export interface Task {
  skill: string;
  session: string;
  prompt: string;
  baseDir: string | null;
  agent: string | null;
  model: string | null;
  allowedTools: string[] | null;
}

/** An event of a session. */
export interface SessionEvent {
  kind:
    | 'used' | 'shown' | 'activated' | 'consented' | 'consent-spent' | 'listed' | 'compacted' | 'restored' | 'postponed';
  /** The skill it is about; `null` if it is about all of them. */
  skill: string | null;
  /** A hash of the instructions that came into the context. */
  body: string | null;
  /** The skill whose instructions asked for an activation. */
  by: string | null;
}

/** The history of one skill in a session. */
export interface SkillState {
  skill: string;
  uses: number;
  activations: number;
  activatedBy: string | null;
  /** True if its instructions stand in the context. */
  inContext: boolean;
  body: string | null;
  /** True if its instructions were lost when the context was made shorter. */
  lost: boolean;
  consented: boolean;
  listed: boolean;
  /** Its place, from 1, in the order in which instructions first came into the context. */
  joined: number | null;
}

/** The answer of a tool. */
export type Envelope =
  | { status: 'success'; data: unknown; text: string }
  | { status: 'error'; error: { code: ErrorCode; message: string }; data?: unknown };

/** The code of an error. */
export type ErrorCode =
  | 'INVALID_PARAM' | 'NOT_FOUND' | 'PERMISSION_DENIED' | 'CONSENT_REQUIRED' | 'TIMEOUT' | 'EXECUTION_ERROR' | 'INTERNAL_ERROR';

/** A value, or a promise of it where the engine is asked by an asynchronous method. */
export type Awaitable<T> = T | Promise<T>;

/** A store of sessions that a host implements; `applyEvent` has the rules. */
export interface SessionStore {
  /** Notes an event, and returns the state that was known of its skill before. */
  record(session: string, event: SessionEvent): Awaitable<SkillState | null>;
  /** The states of a session's skills, the last used first. */
  state(session: string): Awaitable<SkillState[]>;
  /** Forgets a session. */
  end(session: string): Awaitable<void>;
}

/** A candidate for a retriever. */
export interface Candidate {
  id: string;
  description: string;
}

/** A retriever of the host. */
export type Retriever =
  | ((message: string, candidates: Candidate[]) => Awaitable<number[]>)
  | {
      rank(message: string, candidates: Candidate[]): Awaitable<number[]>;
      isSure?(best: number, next: number): Awaitable<boolean>;
    };

/** The options of disclosures. What is not given stays as the engine has it. */
export interface DisclosureOptions {
  format?: 'markdown' | 'xml' | 'json';
  /** Matching skills shown in full, at most. */
  maxSkills?: number;
  maxAllSkills?: number;
  /** Skills listed in a line because they are relevant, at most. */
  maxLines?: number;
  /** False if relevance shows no skill in full. */
  relevance?: boolean;
  budget?: Budget;
  /** Room for the skills that are shown again after the context was made shorter. */
  restore?: Budget;
  /** Size of the context window in tokens. */
  contextWindow?: number;
  /** `file`, `tool:NAME`, or a sentence. */
  howToLoad?: string;
  /** Skills that the host's agent lists and loads by itself. */
  native?: { roots: string[]; howToLoad: string };
}

/** The options of the catalog prompt. */
export interface PromptOptions {
  format?: 'markdown' | 'xml' | 'json';
  budget?: Budget;
  contextWindow?: number;
  /** True if the path of each skill's file is stated. */
  locations?: boolean;
  howToLoad?: string;
  native?: { roots: string[]; howToLoad: string };
}

/** The options of a session's tools. */
export interface ToolsOptions {
  namesChars?: number;
  readBytes?: number;
  outputBytes?: number;
  allToolsets?: boolean;
}

/** A directory of skills; a plain path stands for one of the user. */
export type Source =
  | string
  | { path: string; scope?: 'bundled' | 'user' | 'project'; optional?: boolean; linksOutside?: boolean };

/** The options of an engine. */
export interface EngineOptions {
  /** Directories of skills, lowest precedence first. */
  sources?: Source[];
  /** Texts of `SKILL.md`, which win over all sources. */
  skills?: string[];
  /** The host's brand. */
  brand?: string;
  /** The skills that exist for this agent, by id or name. */
  allow?: string[];
  /** Skills to use although they are disabled. */
  enable?: string[];
  /** The reason why bundled skills that are not enabled are off. */
  bundledOff?: string;
  /** The variables that requirements are checked against. */
  environment?: Record<string, string>;
  inflect?: boolean;
  maskQuoted?: boolean;
  maxQueryBytes?: number;
  /** Phrases that are questions about the skills themselves. */
  metaPhrases?: Record<string, MetaQuestion>;
  disclosure?: DisclosureOptions;
  prompt?: PromptOptions;
  /** The place of `config.toml` and of the standard sources. */
  config?: { project: string; home?: string; workingDir?: string; brand?: string };
  /** The file of sessions, or a store of the host's own; in memory by default. */
  sessionStore?: string | SessionStore;
  /** When activations need consent; never by default. */
  consent?: 'never' | 'first-use' | 'always';
  askConsent?: (request: ConsentRequest) => Awaitable<boolean>;
  tokenCounter?: (text: string) => Awaitable<number>;
  retriever?: Retriever;
  /** Spawns the tasks of skills with `context: fork`, and gives the host's name for one. */
  taskSpawner?: (task: Task) => Awaitable<string>;
  /** Loads toolsets; times are in milliseconds. */
  toolsets?:
    | boolean
    | {
        inProcess?: boolean;
        policy?: 'disclosed' | 'all';
        cache?: string;
        config?: Record<string, unknown>;
        callTimeout?: number;
        network?: boolean;
        write?: string[];
      };
  /** Runs scripts; times are in milliseconds. */
  scripts?:
    | boolean
    | { timeout?: number; outputBytes?: number; env?: string[]; write?: string[]; network?: boolean };
  /** The file of approved code. */
  trust?: string;
  approve?: (request: TrustRequest) => Awaitable<boolean>;
  /** The directory of snapshots. */
  cache?: string;
  /** Gets the progress of building; for `Engine.create`. */
  progress?: (at: { phase: 'reading' | 'compiling' | 'indexing'; done: number; total: number }) => void;
}

/** The options of a message. */
export interface MessageOptions {
  /** Files that the message touches, `/`-separated and relative to the project. */
  paths?: string[];
  budget?: Budget;
  options?: DisclosureOptions;
  signal?: AbortSignal;
}
