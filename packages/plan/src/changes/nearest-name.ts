/** Longer names are no typing errors, and comparing them costs the product of their lengths. */
const LONGEST = 64;

/**
 * Number of typing errors that turn one name into another: an extra, missing or wrong letter, or two swapped ones (optimal string alignment). The maintained
 * libraries do not count a swap as one error, as in `maxSruge`.
 */
function typosBetween(one: string, other: string): number {
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

/** The known name that was probably meant, if one is near: at most one typing error in three letters, ignoring case. The first of equally near ones. */
export function nearestName(written: string, known: readonly string[]): string | undefined {
  if (written.length > LONGEST) return undefined;
  const typos = known.map((name) => typosBetween(written.toLowerCase(), name.toLowerCase()));
  const fewest = typos.reduce((least, each) => Math.min(least, each), Infinity);
  return fewest * 3 <= written.length ? known[typos.indexOf(fewest)] : undefined;
}
