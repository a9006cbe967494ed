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
