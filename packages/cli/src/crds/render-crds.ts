import type { CrdReport } from "@millwright/runtime";
import { plain } from "../terminal/text.ts";

const verbs = {
  diff: { same: "same", missing: "missing", different: "different", terminating: "is being deleted" },
  apply: { same: "unchanged", missing: "created", different: "updated", terminating: "is being deleted" },
} as const;

/** Paths that are shown of one CustomResourceDefinition. */
const SHOWN = 10;

/** What was compared or applied, as text: a line each, and the paths of the fields that differ. */
export function renderCrds(action: "diff" | "apply", reports: readonly CrdReport[]): string {
  return reports
    .flatMap(({ name, state, paths }) => [
      `${name} ${verbs[action][state]}`,
      ...paths.slice(0, SHOWN).map((path) => `  ${plain(path)}`),
      ...(paths.length > SHOWN ? [`  and ${paths.length - SHOWN} more`] : []),
    ])
    .map((line) => `${line}\n`)
    .join("");
}
