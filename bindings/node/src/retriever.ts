/** The retriever of a host, as the native module asks it. */
import { after } from './bridge.js';
import type { Awaitable, Candidate, Levels, Retriever, Scores } from './types.js';

/** The questions of the native module: to prepare, and to rank the candidates of a number, or those it brings. */
interface Questions {
  prepare(payload: { number: number; candidates: Candidate[] }): Awaitable<Levels | undefined>;
  rank(payload: { message: string; number?: number; candidates?: Candidate[] }): Awaitable<number[]>;
}

/** Returns the answers of a retriever, which keep the candidates from one message to the next. */
export function retrieverOf(retriever: Retriever): Questions {
  const object = typeof retriever === 'function' ? { rank: retriever } : retriever;
  const prepared = new Map<number, Candidate[]>();
  return {
    prepare: ({ number, candidates }) =>
      after(object.prepare?.(candidates), () => {
        // A call on another thread may still ask by the number before.
        prepared.delete(number - 2);
        prepared.set(number, candidates);
        return checkedLevels(object.levels);
      }),
    rank: ({ message, number, candidates }) => {
      const ranked = candidates ?? prepared.get(number ?? 0) ?? [];
      return after(object.rank(message, ranked), (scores) => checkedScores(scores, ranked));
    },
  };
}

function checkedLevels(levels: Levels | null | undefined): Levels | undefined {
  if (levels === null || levels === undefined) return undefined;
  const { floor, enough } = levels;
  if (![floor, enough].every(isFinite32)) {
    throw new TypeError(`\`levels\` is an object with two finite numbers, floor and enough, not ${JSON.stringify(levels)}`);
  }
  return { floor, enough };
}

function checkedScores(scores: Scores, candidates: Candidate[]): number[] {
  const wanted = 'return a finite number for each candidate, in their order';
  if (!Array.isArray(scores) && !ArrayBuffer.isView(scores)) {
    throw new TypeError(`the scores are ${String(scores)}, not a list: ${wanted}`);
  }
  const list = Array.from(scores as ArrayLike<number>);
  if (list.length !== candidates.length) {
    throw new RangeError(`${list.length} scores for ${candidates.length} candidates: ${wanted}`);
  }
  const wrong = list.findIndex((score) => !isFinite32(score));
  if (wrong >= 0) throw new RangeError(`the score of \`${candidates[wrong]?.id}\` is ${String(list[wrong])}: ${wanted}`);
  return list;
}

/** Tells whether a value is a number that the engine can hold. */
function isFinite32(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(Math.fround(value));
}
