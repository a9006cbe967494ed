import { flattenBody } from "./flatten-body.ts";

/** What a value of the recording is called in the world of the emulator. */
export interface ValueMap {
  /** Learns from two answers to the same request: texts that differ at the same place are the same thing. */
  learn(recorded: string, replayed: string): void;
  /** Learns one value, such as an address in a header. */
  learnValue(recorded: string, replayed: string): void;
  /** A text with the values of the recording replaced by those of the emulator. */
  apply(text: string): string;
}

/** Names that a cloud gives: ids, operations, pages. States and the like have no digits, times are not asked for. */
const isName = (text: string): boolean => text.length >= 8 && /\d/.test(text) && !/^\d{4}-\d\d-\d\dT/.test(text);

/** Creates an empty map. */
export function createValueMap(): ValueMap {
  let pairs: readonly (readonly [recorded: string, replayed: string])[] = [];
  const learnValue = (recorded: string, replayed: string): void => {
    if (recorded === replayed || !isName(recorded) || pairs.some(([known]) => known === recorded)) return;
    // The longest first: an address contains ids.
    pairs = [...pairs, [recorded, replayed] as const].toSorted(([a], [b]) => b.length - a.length);
  };
  return {
    learnValue,
    learn(recorded, replayed) {
      const texts = new Map((flattenBody(replayed) ?? []).map(({ at, text }) => [at, text]));
      for (const { at, text } of flattenBody(recorded) ?? []) {
        const other = texts.get(at);
        if (text !== undefined && other !== undefined) learnValue(text, other);
      }
    },
    apply: (text) => pairs.reduce((mapped, [recorded, replayed]) => mapped.replaceAll(recorded, replayed), text),
  };
}
