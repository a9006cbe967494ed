/** Longer words are nobody's slip of the pen; comparing them costs the product of their lengths. */
const LONGEST = 64;

/**
 * Slips that turn one word into another: a letter too many, too few or wrong, or two that changed places (optimal string alignment). The libraries that are kept
 * well do not know the last one, which is the slip in `maxSruge`.
 */
function slipsBetween(one: string, other: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current.push(
        Math.min(
          (last[column] ?? Infinity) + 1,
          (current[column - 1] ?? Infinity) + 1,
          (last[column - 1] ?? Infinity) + (isSame ? 0 : 1),
          isSwapped ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? Infinity;
}

/** The known name that somebody meant who wrote another, if one is near: at most a slip in three letters, capitals aside. The first of those that are as near. */
export function nearestName(written: string, known: readonly string[]): string | undefined {
  if (written.length > LONGEST) return undefined;
  const slips = known.map((name) => slipsBetween(written.toLowerCase(), name.toLowerCase()));
  const fewest = slips.reduce((least, each) => Math.min(least, each), Infinity);
  return fewest * 3 <= written.length ? known[slips.indexOf(fewest)] : undefined;
}
