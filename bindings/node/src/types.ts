/** The types of options and results. */

/** The audience: who asks for a skill, the model or the user. */
export type Audience = 'model' | 'user';
/** A number of characters, or text: `1000t` for tokens, `2%` for a share of the context window, `unlimited`. */
export type Budget = number | string;
/** The format of tool definitions. */
export type ToolFormat = 'openai' | 'anthropic' | 'mcp';
/** A question about the skills themselves. */
export type MetaQuestion = 'registry' | 'show_all';

/** One trigger found in a message, at its first occurrence. */
export interface Hit {
  kind: 'name' | 'keyword' | 'verb' | 'pattern' | 'path';
  /** The trigger as its author wrote it. */
  trigger: string;
  /** The index in the message where the trigger starts, as `String.prototype.slice` takes it. */
  start: number;
  end: number;
  /** The path that matched, if the trigger is a glob for paths. */
  path: string | null;
}

/** A skill that matches a message. Its rank is its position in the returned list. */
export interface Match {
  id: string;
  /** True if the message asks for the skill by its name. */
  explicit: boolean;
  /** The number of words of the longest literal found; 0 if only patterns or paths matched. */
  phraseWords: number;
  hits: Hit[];
}

/** A reason why a skill is shown in less detail than possible. */
export interface Reason {
  /** The code, stable and in kebab-case: `below-limit`, `vetoed`, `in-context` and so on. */
  code: string;
  text: string;
  /** The remedy for the user, the skill's author or the host. */
  help: string;
}

/** A skill that is shown in less detail than possible, or not at all, with the reasons. */
export interface Rejection {
  id: string;
  reason: Reason;
  /** Other reasons that also apply. */
  also: Reason[];
}

/** The decision for one message. */
export interface DisclosureData {
  /** The highest tier in the text: 0 nothing, 1 a count of skills, 2 lines, 3 full instructions. */
  tier: 0 | 1 | 2 | 3;
  meta: MetaQuestion | null;
  /** Skills shown in full, best first. */
  full: string[];
  /** The skill that is shown in full because it is relevant. */
  relevant: { id: string; worth: number; lead: number; words: number; headWords: number } | null;
  /** Skills shown as one line each, in the order of the text. */
  registry: string[];
  /** The number of skills that are only counted. */
  hidden: number;
  /** The number of skills that rank below the limit. */
  belowLimit: number;
  /** Skills shown in less detail than possible, or not at all, with the reasons. */
  omitted: Rejection[];
  /** The failure of the program that `routing.retriever` names, if it failed: skills were ranked by words alone. */
  failure: string | null;
  /** The text for the prompt; may be empty. */
  text: string;
}

/** A word, or two adjacent words, that a skill and a message share. */
export interface WeighedTerm {
  /** The word, as the message has it. */
  term: string;
  /** The fields of the skill that have it, such as `description`. */
  fields: string[];
  /** The share of the skill's `worth` that it adds, about. */
  worth: number;
  /** The start and the end of each place in the message, in UTF-16 code units. */
  places: [number, number][];
}

/** Something that keeps a skill from being shown in full. */
export interface Lack {
  /** The code: `worth`, `lead`, `words` and so on, or that of a reason. */
  code: string;
  /** The lack in words. */
  text: string;
  /** The figure, if the code is `worth`, `lead` or `words`. */
  has?: number;
  /** The figure that is needed. */
  needs?: number;
}

/** A relevant skill, and what decided how much of it is shown. */
export interface Weighed {
  id: string;
  /** The total weight of the words that skill and message share. */
  worth: number;
  /** The lead of `worth` over the next skill. */
  lead: number;
  /** The number of distinct words that skill and message share. */
  words: number;
  /** The number of those words that are in the skill's front matter. */
  headWords: number;
  /** How much of the skill the message brings into the prompt. */
  tier: 1 | 2 | 3;
  /** The words that skill and message share, the heaviest first. */
  terms: WeighedTerm[];
  /** How near the skill is to the message in meaning, and by which words; null if it is not. */
  near: string | null;
  /** The margin that the skill must reach; null if relevance shows no skill in full. */
  needed: { worth: number; lead: number; words: number; evidence: number } | null;
  /** True if its relevance shows the skill in full. */
  isDecisive: boolean;
  /** Everything that keeps the skill from being shown in full; empty if it is. */
  lacking: Lack[];
}

/** The matches of a message, and the reasons why other skills are not among them. */
export interface Explanation {
  matches: Match[];
  rejected: Rejection[];
  /** The most relevant skills with the decisions on them, best first. */
  relevant: Weighed[];
  nBeyond: number;
  meta: MetaQuestion | null;
}

/** A skill that was found for a query, with the reason. */
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

/** The changes that a refresh found, as ids of skills. */
export interface Refreshed {
  added: string[];
  changed: string[];
  removed: string[];
  /** Skills whose file no longer loads; their last loaded version stays in use. */
  kept: string[];
}

/** A skill loaded by name. */
export interface Activation {
  id: string;
  name: string;
  mode: 'inline' | 'fork';
  /** The body with arguments filled in; empty if the instructions went to a task. */
  content: string;
  /** The text for the model: base directory, instructions, and hints about files. */
  text: string;
  baseDir: string | null;
  files: string[];
  moreFiles: number;
  subSkills: { id: string; brief: string }[];
  /** Documents for further reading: paths from the skill's directory, or absolute, with their first headings. */
  knowledge: { path: string; title: string | null }[];
  /** The tools that the skill's author wants to allow; `null` allows all. */
  allowedTools: string[] | null;
  model: string | null;
  agent: string | null;
  risk: 'risky' | 'safe';
  /** The host's name for the spawned task, if the instructions went to one. */
  taskId?: string;
  /** The scope of the skill's source: who wrote it. */
  scope: string;
  /** The skills that this one builds on, those that are missing included. */
  requiredSkills: { id: string; brief: string; isMissing: boolean }[];
  /** True if the body has commands whose output other agents insert; they are never run. */
  runsNoCommands: boolean;
}

/** The information that a user should see before agreeing to an activation. */
export interface ConsentRequest {
  id: string;
  /** The id of the session in which the skill is to be activated. */
  session: string;
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

/** A question to the host: may this code run? */
export interface TrustRequest {
  skill: string;
  path: string;
  sha256: string;
  classes: string[];
  /** All that the code may do once it is trusted, such as "reads its skill alone · no network · writes nothing". */
  may: string;
  verdict: 'untrusted' | 'changed';
  /**
   * The files of the skill that changed since its code was approved, such as "`lib/f.sh` (changed)".
   * Approving the code approves all of them.
   */
  changes: string[];
}

/** A task for the host to spawn: a separate agent with these instructions. */
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
    | 'used' | 'shown' | 'activated' | 'consented' | 'consent-spent' | 'listed' | 'compacted' | 'restored' | 'postponed'
    | 'stopped';
  /** The skill that the event is about; `null` if it is about all skills. */
  skill: string | null;
  /** A hash of the instructions that entered the context. */
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
  /** True if the skill's instructions are in the context. */
  inContext: boolean;
  body: string | null;
  /** True if the skill's instructions were lost when the context was compacted. */
  lost: boolean;
  consented: boolean;
  listed: boolean;
  /** The skill's position, from 1, in the order in which skills first entered the context. */
  joined: number | null;
}

/** The result of a tool call. A model gets `text`, of an error as well; most of `data` repeats it. */
export type Envelope =
  | { status: 'success'; data: unknown; text: string }
  | { status: 'error'; error: { code: ErrorCode; message: string }; data?: unknown; text: string };

/** The code of an error. */
export type ErrorCode =
  | 'INVALID_PARAM' | 'NOT_FOUND' | 'PERMISSION_DENIED' | 'CONSENT_REQUIRED' | 'TIMEOUT' | 'EXECUTION_ERROR' | 'INTERNAL_ERROR';

/** A value, or a promise of it if the host called an asynchronous method of the engine. */
export type Awaitable<T> = T | Promise<T>;

/**
 * A session store that a host implements; `applyEvent` implements the rules for states. While a method throws, answers
 * come from memory, and `session.unsaved()` says why.
 */
export interface SessionStore {
  /** Records an event, and returns the state that its skill had before the event. */
  record(session: string, event: SessionEvent): Awaitable<SkillState | null>;
  /** Returns the states of a session's skills, most recently used first. */
  state(session: string): Awaitable<SkillState[]>;
  /** Forgets a session. */
  end(session: string): Awaitable<void>;
}

/** A skill that a retriever may rank. */
export interface Candidate {
  id: string;
  name: string;
  description: string;
  /** Its `when_to_use`; may be empty. */
  whenToUse: string;
  /** The headings of its body, in their order. */
  headings: string[];
  /** Its body; empty if it cannot be read. */
  body: string;
}

/** What the scores of a retriever mean. */
export interface Levels {
  /** The score up to which a skill is near by chance. */
  floor: number;
  /** The score from which nearness is evidence of its own. */
  enough: number;
}

/** Finite numbers, one for each candidate, in their order, on any scale; greater is better. */
export type Scores = readonly number[] | Float32Array | Float64Array;

/** A retriever of the host, as an object. */
export interface ScoringRetriever {
  rank(message: string, candidates: readonly Candidate[]): Awaitable<Scores>;
  /** Called when a catalog is loaded, and again when it changed. */
  prepare?(candidates: readonly Candidate[]): Awaitable<void>;
  /** Read after `prepare`. Without them, the engine measures them by some 100 messages. */
  readonly levels?: Levels | undefined;
}

/** A retriever of the host. */
export type Retriever = ScoringRetriever['rank'] | ScoringRetriever;

/** The options of disclosures. Options that are not given keep the engine's values. */
export interface DisclosureOptions {
  format?: 'markdown' | 'xml' | 'json' | null;
  /** The maximum number of matching skills shown in full. */
  maxSkills?: number | null;
  maxAllSkills?: number | null;
  /** The maximum number of skills that are listed, with one line each, because they are relevant. */
  maxLines?: number | null;
  /** False if relevance alone never shows a skill in full. */
  relevance?: boolean | null;
  budget?: Budget | null;
  /** The budget for the skills that are shown again after the context was compacted. */
  restore?: Budget | null;
  /** The size of the context window in tokens. */
  contextWindow?: number | null;
  /** The way for the model to load a listed skill: `file`, `tool:NAME`, or a sentence. */
  howToLoad?: string | null;
  /** Skills that the host's agent lists and loads by itself: their directories, and how it loads one. */
  native?: { roots: Paths; howToLoad?: string | null } | null;
}

/** The options of the catalog prompt. */
export interface PromptOptions {
  format?: 'markdown' | 'xml' | 'json' | null;
  budget?: Budget | null;
  contextWindow?: number | null;
  /** True if the prompt gives the path of each skill's file. */
  locations?: boolean | null;
  howToLoad?: string | null;
  native?: { roots: Paths; howToLoad?: string | null } | null;
}

/** The options of a session's tools. */
export interface ToolsOptions {
  namesChars?: number | null;
  readBytes?: number | null;
  outputBytes?: number | null;
  allToolsets?: boolean | null;
}

/** A path, or the `file:` URL of one. */
export type Path = string | URL;

/** A path, or several. */
export type Paths = string | readonly string[];

/**
 * A directory of skills, or a provider of them, or their files. A plain path, and a directory without a scope, is one of
 * the project: its code runs only once it is trusted. With the alias `r1`, the ids of the skills begin with `r1/`, so that
 * two sources may have a skill of the same name.
 */
export type Source =
  | Path
  | {
      path: Path;
      scope?: 'bundled' | 'user' | 'project' | null;
      optional?: boolean | null;
      linksOutside?: boolean | null;
      alias?: string | null;
    }
  | {
      provider: Provider | Files;
      name?: string | null;
      scope?: 'bundled' | 'user' | 'project' | 'memory' | null;
      alias?: string | null;
    }
  | Provider
  | Files;

/**
 * A place from which a host serves skills, such as a database. It looks like the directory of a source. A file is
 * read when somebody asks for it; a `SKILL.md` is read again only if its revision changed.
 */
export interface Provider {
  /** Returns the path of each file, such as `review/SKILL.md`, with a revision that changes whenever the content does. */
  list(): Awaitable<Iterable<readonly [path: string, revision: string | number]>>;
  /** Returns the content of a listed file. */
  read(path: string): Awaitable<string | Uint8Array>;
}

/** Files by path: their contents, or functions that make a file when it is read. */
export type Files = Record<string, string | Uint8Array | (() => Awaitable<string | Uint8Array>)>;

/** The options of an engine. */
export interface EngineOptions {
  /** A directory of skills, or several, lowest precedence first. */
  sources?: Source | Iterable<Source> | null;
  /** Texts of `SKILL.md`, which win over all sources. */
  skills?: string | readonly string[] | null;
  /** The host's brand. */
  brand?: string | null;
  /** The only skills that exist for this agent, by id or name; all by default. */
  allow?: string | readonly string[] | null;
  /** Skills to use even though they are disabled. */
  enable?: string | readonly string[] | null;
  /** If given, bundled skills that are not enabled are off, for this reason. */
  bundledOff?: string | null;
  /** The variables that requirements are checked against. */
  environment?: Record<string, string> | null;
  inflect?: boolean | null;
  maxQueryBytes?: number | null;
  /** Phrases that ask about the skills themselves. */
  metaPhrases?: Record<string, MetaQuestion> | null;
  /** False to rank by words alone, or the path of a model of meaning; true by default. */
  meaning?: boolean | Path | null;
  disclosure?: DisclosureOptions | null;
  prompt?: PromptOptions | null;
  /** The directories in which `config.toml` and the standard sources are found. */
  config?: { project: Path; home?: Path | null; workingDir?: Path | null; brand?: string | null } | null;
  /**
   * The file of the session database, a URL (`sqlite:`, `postgres:`, `redis:`, `rediss:`), or a store that the host
   * implements; in memory by default.
   */
  sessionStore?: Path | SessionStore | null;
  /** The consent policy: when activations need consent; never by default. */
  consent?: 'never' | 'first-use' | 'always' | null;
  askConsent?: ((request: ConsentRequest) => Awaitable<boolean>) | null;
  tokenCounter?: ((text: string) => Awaitable<number>) | null;
  retriever?: Retriever | null;
  /** Spawns the tasks of skills with `context: fork`, and returns the host's name for the task. */
  taskSpawner?: ((task: Task) => Awaitable<string>) | null;
  /** Loads toolsets; times are in milliseconds. */
  toolsets?:
    | boolean
    | {
        inProcess?: boolean | null;
        policy?: 'disclosed' | 'all' | null;
        cache?: Path | null;
        config?: Record<string, unknown> | null;
        callTimeout?: number | null;
        network?: boolean | readonly string[] | null;
        write?: Path | readonly Path[] | null;
      }
    | null;
  /** Runs scripts; times are in milliseconds. */
  scripts?:
    | boolean
    | {
        timeout?: number | null;
        outputBytes?: number | null;
        env?: string | readonly string[] | null;
        write?: Path | readonly Path[] | null;
        hidden?: Path | readonly Path[] | null;
        network?: boolean | null;
      }
    | null;
  /** The file that lists approved code. */
  trust?: Path | null;
  approve?: ((request: TrustRequest) => Awaitable<boolean | null>) | null;
  /** The directory for snapshots. */
  cache?: Path | null;
  /** Receives the progress of building; only for `Engine.create`. */
  progress?: ((at: { phase: 'reading' | 'compiling' | 'indexing'; done: number; total: number }) => void) | null;
}

/** The options of a message. */
export interface MessageOptions {
  /** Files that the message concerns, `/`-separated and relative to the project. */
  paths?: Paths | null;
  budget?: Budget | null;
  options?: DisclosureOptions | null;
  signal?: AbortSignal | null;
}

/** The options of an activation. */
export interface ActivateOptions {
  /** The arguments, as after a slash command; of an array, one after the other. */
  args?: string | number | boolean | readonly (string | number | boolean)[] | null;
  /** Who asks: the model, unless it is the user. */
  audience?: Audience | null;
  /** The skill whose instructions asked for this one. */
  by?: string | null;
  /** True to give the instructions of a skill with `context: fork` as well, instead of spawning a task. */
  inline?: boolean | null;
  signal?: AbortSignal | null;
}
