import { annotationKeys, type MachineSet, type MachineDeployment } from "@millwright/core/machine-api";
import type { SetView } from "./set-size.ts";

/** Most revisions that a set remembers of its past; without a bound the annotation would outgrow the object. */
const MAX_HISTORY = 20;

/** A revision as written in an annotation; 0 when there is none that can be read. */
export const revisionOf = (object: {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}): number => {
  const text = object.metadata.annotations?.[annotationKeys.revision] ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
};

/** The revision that the set of the current template has to have: greater than that of all others. */
export const newRevision = (oldSets: readonly MachineSet[]): number => Math.max(0, ...oldSets.map(revisionOf)) + 1;

/** Revision annotations of a set that (again) becomes the newest; the revision it had goes to its history, once. */
export function revisionAnnotations(set: MachineSet | undefined, revision: number): Readonly<Record<string, string>> {
  const current = set === undefined ? 0 : revisionOf(set);
  if (current >= revision) return {};
  const history = (set?.metadata.annotations?.[annotationKeys.revisionHistory] ?? "")
    .split(",")
    .filter((entry) => entry !== "");
  const past = current === 0 ? history : [...history.filter((entry) => entry !== String(current)), String(current)];
  return {
    [annotationKeys.revision]: String(revision),
    ...(past.length > 0 ? { [annotationKeys.revisionHistory]: past.slice(-MAX_HISTORY).join(",") } : {}),
  };
}

/**
 * Old sets that the history limit no longer keeps: those with the lowest revisions, and of these only the ones that are empty and idle
 * (MCM, `pkg/controller/deployment_sync.go` cleanupMachineDeployment, which goes by their creation). Without a limit all are kept.
 *
 * @param proven name of the set that the rollout can return to, which is kept
 */
export function surplusHistory(
  deployment: MachineDeployment,
  oldSets: readonly SetView[],
  proven?: string,
): readonly SetView[] {
  const limit = deployment.spec.revisionHistoryLimit;
  if (limit === undefined) return [];
  const alive = oldSets
    .filter(({ set }) => set.metadata.deletionTimestamp == null)
    .toSorted((a, b) => revisionOf(a.set) - revisionOf(b.set));
  return alive
    .slice(0, Math.max(0, alive.length - limit))
    .filter(
      ({ set, machines }) =>
        set.metadata.name !== proven &&
        machines.length === 0 &&
        (set.spec.replicas ?? 0) === 0 &&
        (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0),
    );
}
