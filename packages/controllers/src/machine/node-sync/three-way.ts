/** Texts by key, such as labels and annotations. */
export type Texts = Readonly<Record<string, string>>;

/** A part of a merge patch: null removes. */
export type TextsPatch = Readonly<Record<string, string | null>>;

const has = (texts: Texts, key: string): boolean => Object.hasOwn(texts, key);

/**
 * What to change in `live` so that it contains `desired` and nothing else of what was `applied` before: keys of others are kept, changed keys of ours
 * are reverted. `undefined` when nothing changes. `isSame` compares values.
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
