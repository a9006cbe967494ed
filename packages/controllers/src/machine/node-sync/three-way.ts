/** Text by key, as labels and annotations are. */
export type Texts = Readonly<Record<string, string>>;

/** A part of a merge patch: null removes. */
export type TextsPatch = Readonly<Record<string, string | null>>;

const has = (texts: Texts, key: string): boolean => Object.hasOwn(texts, key);

/**
 * What to change in `live` so that it holds `desired` and nothing more of what was `applied` before: keys of others are untouched, keys of ours that
 * somebody edited are reverted. `undefined` when there is nothing to change. `isSame` tells values that only look different.
 */
export function threeWayPatch(
  live: Texts | undefined = {},
  applied: Texts | undefined = {},
  desired: Texts | undefined = {},
  isSame: (a: string, b: string) => boolean = (a, b) => a === b,
): TextsPatch | undefined {
  const removed = Object.keys(applied).filter((key) => !has(desired, key) && has(live, key));
  const set = Object.entries(desired).filter(([key, value]) => !has(live, key) || !isSame(live[key] ?? "", value));
  const entries = [...removed.map((key): [string, null] => [key, null]), ...set];
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
