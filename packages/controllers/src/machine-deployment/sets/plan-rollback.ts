import {
  annotationsNotInheritedBySets,
  eventReasons,
  labelKeys,
  type MachineDeployment,
  type MachineSet,
} from "@millwright/core/machine-api";
import { createMergePatch } from "@millwright/kube";
import type { Reason } from "../../model/decision.ts";
import { findNewSet } from "../state/sets.ts";
import { revisionOf } from "../state/revision.ts";
import { isSameTemplate } from "../../model/template-hash.ts";

/** How a rollback changes the deployment; `spec.rollbackTo` is cleared in any case: it is a request for one rollback. */
export interface RollbackPlan {
  readonly patch: Readonly<Record<string, unknown>>;
  readonly because: Reason;
}

const clear = (because: Reason): RollbackPlan => ({ patch: { spec: { rollbackTo: null } }, because });

const warning = (reason: string, message: string): Reason => ({ type: "Warning", reason, message });

/** Maximum number of existing revisions in the message about an unknown one. */
const MOST_REVISIONS = 10;

function notFound(revision: number, sets: readonly MachineSet[]): string {
  const newest = sets.map(revisionOf).toSorted((a, b) => b - a);
  const known = newest.length === 0 ? "there are none" : `the newest are ${newest.slice(0, MOST_REVISIONS).join(", ")}`;
  return `Unable to find the revision to rollback to: no machine set has revision ${revision}, ${known}`;
}

/** The requested revision; 0 requests that of the proven template during a rollout, and otherwise the newest one that is not of the current template, whether that was rolled out or not. */
function targetRevision(
  asked: number,
  deployment: MachineDeployment,
  sets: readonly MachineSet[],
  proven: string | undefined,
): number | undefined {
  if (asked !== 0) return asked;
  const current = findNewSet(deployment, sets);
  const known = sets.find((set) => set !== current && set.metadata.name === proven);
  if (known !== undefined) return revisionOf(known);
  return Math.max(0, ...sets.filter((set) => set !== current).map(revisionOf)) || undefined;
}

/**
 * Turns `spec.rollbackTo` into a change of the template (MCM, `pkg/controller/deployment_rollback.go` rollback). Looks the revision up among the sets that exist and
 * creates none for the template that is being rolled back.
 */
export function planRollback(
  deployment: MachineDeployment,
  sets: readonly MachineSet[],
  proven?: string,
): RollbackPlan | undefined {
  const { rollbackTo, template } = deployment.spec;
  if (rollbackTo === undefined) return undefined;
  const revision = targetRevision(rollbackTo.revision ?? 0, deployment, sets, proven);
  if (revision === undefined)
    return clear(warning(eventReasons.rollbackRevisionNotFound, "Unable to find last revision."));
  const target = sets.find((set) => revisionOf(set) === revision);
  if (target === undefined) {
    return clear(warning(eventReasons.rollbackRevisionNotFound, notFound(revision, sets)));
  }
  if (isSameTemplate(template, target.spec.template, labelKeys.machineTemplateHash)) {
    const name = deployment.metadata.name;
    return clear(
      warning(
        eventReasons.rollbackTemplateUnchanged,
        `The rollback revision contains the same template as current deployment "${name}"`,
      ),
    );
  }
  const { [labelKeys.machineTemplateHash]: _, ...labels } = target.spec.template.metadata?.labels ?? {};
  const wanted = { ...target.spec.template, metadata: { ...target.spec.template.metadata, labels } };
  const ownAnnotations = Object.entries({ ...deployment.metadata.annotations }).filter(([key]) =>
    annotationsNotInheritedBySets.has(key),
  );
  const itsAnnotations = Object.entries({ ...target.metadata.annotations }).filter(
    ([key]) => !annotationsNotInheritedBySets.has(key),
  );
  const before = { metadata: { annotations: { ...deployment.metadata.annotations } }, spec: { rollbackTo, template } };
  const after = {
    metadata: { annotations: Object.fromEntries([...ownAnnotations, ...itsAnnotations]) },
    spec: { template: wanted },
  };
  return {
    patch: { ...createMergePatch(before, after) },
    because: {
      type: "Normal",
      reason: eventReasons.deploymentRollback,
      message: `Rolled back deployment "${deployment.metadata.name}" to revision ${revision}`,
    },
  };
}
