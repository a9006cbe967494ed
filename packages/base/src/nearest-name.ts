/** How many letters differ between two texts: inserted, left out, replaced, or two exchanged. */
function distance(a: string, b: string): number {
  let [twoBack, previous] = [[] as number[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isExchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const costs = [(row[j - 1] ?? 0) + 1, (previous[j] ?? 0) + 1, (previous[j - 1] ?? 0) + (isSame ? 0 : 1)];
      row.push(Math.min(...costs, isExchanged ? (twoBack[j - 2] ?? 0) + 1 : Infinity));
    }
    [twoBack, previous] = [previous, row];
  }
  return previous[b.length] ?? 0;
}

/**
 * The name that was probably meant by a misspelt one, ignoring case: one that differs by a third of its letters at most, and by three.
 *
 * @returns `undefined` when none is near, for equal names, and for names longer than 64 characters
 */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > 64) return undefined;
  const near = candidates
    .filter((candidate) => candidate !== name)
    .map((candidate) => ({ candidate, letters: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, letters }) => letters <= Math.min(3, candidate.length / 3))
    .toSorted((a, b) => a.letters - b.letters);
  return near[0]?.candidate;
}
