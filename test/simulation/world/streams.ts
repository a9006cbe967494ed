import { type Random, seededRandom } from "@millwright/base";

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}

/** The random source of one part of the world, so that one part that draws more numbers does not change what happens in another. */
export const streamOf = (seed: number, name: string): Random => seededRandom(hash(`${seed}/${name}`));

/** Whole numbers and choices from a random source. */
export function createChoices(random: Random) {
  const below = (count: number): number => Math.floor(random.next() * count);
  return {
    /** From 0, less than `count`. */
    below,
    /** From `low` to `high`, both included. */
    between: (low: number, high: number): number => low + below(high - low + 1),
    /** True in this part of all cases, 0 to 1. */
    chance: (part: number): boolean => random.next() < part,
    oneOf<T>(list: readonly [T, ...T[]]): T {
      return list[below(list.length)] ?? list[0];
    },
    /** Undefined for an empty list. */
    anyOf: <T>(list: readonly T[]): T | undefined => list[below(list.length)],
  };
}

/** What {@link createChoices} gives. */
export type Choices = ReturnType<typeof createChoices>;
