import type { RestoredObject, RestoreReport } from "@millwright/runtime";
import { plain } from "../terminal/text.ts";

const verbs = {
  create: ["Created", "Would create"],
  replace: ["Created again", "Would create again"],
  own: ["Gave an owner to", "Would give an owner to"],
  scale: ["Scaled", "Would scale"],
  keep: ["Kept", "Would keep"],
  skip: ["Left out", "Would leave out"],
} as const satisfies Readonly<Record<RestoredObject["action"], readonly [string, string]>>;

/** What exists as in the file is counted, everything else is a line. */
function lineOf({ kind, name, action, because, providerId }: RestoredObject, isDryRun: boolean): readonly string[] {
  if (action === "keep" && because === undefined) return [];
  const of = providerId === undefined || action === "skip" ? "" : `, VM ${plain(providerId)}`;
  const why = because === undefined ? "" : `: ${plain(because)}`;
  return [`${verbs[action][isDryRun ? 1 : 0]} ${kind} ${plain(name)}${of}${why}`];
}

/** The report of `millwright restore`, as text. */
export function renderRestore({ objects, isDryRun, notes }: RestoreReport): string {
  const same = objects.filter(({ action, because }) => action === "keep" && because === undefined).length;
  const lines = [
    ...objects.flatMap((object) => lineOf(object, isDryRun)),
    ...(same === 0 ? [] : [`${same} of ${objects.length} objects exist already.`]),
    ...notes.map(plain),
  ];
  return `${lines.join("\n")}\n`;
}
