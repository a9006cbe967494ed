/** Adds a problem of a part of a spec, under its path. */
export type AddIssue = (path: readonly (string | number)[], message: string) => void;

/** Collects issues: the second argument of zod's `superRefine`. */
export interface Check {
  addIssue(issue: { readonly code: "custom"; readonly path: (string | number)[]; readonly message: string }): void;
}

/** For rules over several fields of a spec: their problems become issues of its schema. */
export const issueCollector =
  (check: Check): AddIssue =>
  (path, message) =>
    check.addIssue({ code: "custom", path: [...path], message });

/**
 * Rejects fallbacks that have none of their keys, or only misspelt ones: they would try again what has no capacity.
 *
 * @param keys all keys of a fallback
 */
export function checkFallbacks<Key extends string>(
  fallbacks: readonly { readonly [Name in Key]?: unknown }[],
  keys: readonly Key[],
  addIssue: AddIssue,
): void {
  for (const [index, fallback] of fallbacks.entries())
    if (keys.every((key) => fallback[key] === undefined))
      addIssue(["fallbacks", index], `must have ${keys.map((key) => `"${key}"`).join(" or ")}, or both`);
}
