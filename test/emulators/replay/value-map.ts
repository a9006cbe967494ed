import { flattenBody } from "./flatten-body.ts";

/** Maps values of the recording to values of the emulator. */
export interface ValueMap {
  /** Learns from two responses to the same request: texts that differ at the same path correspond. */
  learn(recorded: string, replayed: string): void;
  /** Learns one value, such as a URL in a header. */
  learnValue(recorded: string, replayed: string): void;
  /** A text with the values of the recording replaced by those of the emulator. */
  apply(text: string): string;
}

/** Generated names: IDs, operations, page tokens. States have no digits, and times are not mapped. */
const isName = (text: string): boolean => text.length >= 8 && /\d/.test(text) && !/^\d{4}-\d\d-\d\dT/.test(text);

/** Creates an empty map. */
export function createValueMap(): ValueMap {
  let pairs: readonly (readonly [recorded: string, replayed: string])[] = [];
  const learnValue = (recorded: string, replayed: string): void => {
    if (recorded === replayed || !isName(recorded) || pairs.some(([known]) => known === recorded)) return;
    // The longest first: a URL contains IDs.
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
