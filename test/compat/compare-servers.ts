import { describeDifference, type Difference, differences } from "./differences.ts";
import type { KnownDifference } from "./known-differences.ts";
import { createNormalizer } from "./normalize.ts";
import { allSteps, type Subject } from "./request-script.ts";
import { sharedPart } from "./shared-part.ts";
import { type Answer, runSubject } from "./run-subject.ts";
import type { Target } from "./target.ts";

/** The result of one step on both servers. */
export interface ComparedStep {
  readonly name: string;
  /** Differences that are not listed. */
  readonly unlisted: readonly Difference[];
  /** The IDs of the listed differences that were observed. */
  readonly listed: readonly string[];
}

/** Runs a subject on both servers and compares the answers step by step. */
export async function compareServers(
  subject: Subject,
  real: Target,
  ours: Target,
  known: readonly KnownDifference[],
): Promise<readonly ComparedStep[]> {
  const [fromReal, fromOurs] = await Promise.all([answersOf(subject, real), answersOf(subject, ours)]);
  return allSteps(subject.steps).map(({ name }) => {
    const a = fromReal.get(name);
    const b = fromOurs.get(name);
    if (a === undefined || b === undefined) throw new Error(`${subject.name}: step "${name}" has not been run`);
    const unlisted: Difference[] = [];
    const listed = new Set<string>();
    const [left, right] = subject.sharedOnly === true ? sharedPart(a.body, b.body) : [a.body, b.body];
    for (const difference of differences({ ...a, body: left }, { ...b, body: right })) {
      const why = known.find(({ covers }) => covers(subject.name, name, difference));
      if (why === undefined) unlisted.push(difference);
      else listed.add(why.id);
    }
    return { name, unlisted, listed: [...listed] };
  });
}

async function answersOf(subject: Subject, target: Target): Promise<ReadonlyMap<string, Answer>> {
  const answers = await runSubject(subject, target);
  const normalize = createNormalizer();
  return new Map([...answers].map(([name, answer]) => [name, normalize(answer)]));
}

/** The text of a failed check: every place where the answers differ. */
export function describeStep({ unlisted }: ComparedStep): string {
  return unlisted.map(describeDifference).join("\n");
}
