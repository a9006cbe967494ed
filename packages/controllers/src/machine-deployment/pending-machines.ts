import { type MachineDeployment, specValidConditionType } from "@millwright/core/machine-api";
import { shapeProblemsOf } from "../cluster/readable.ts";
import { findCondition } from "@millwright/kube";
import { templateDifferences } from "../conditions/machine/updating.ts";
import type { SetView } from "./state/set-size.ts";

/**
 * Whether a set may still create machines: `spec.replicas` exceeds its machines, or its controller has not observed the current size and
 * may be creating machines for an earlier one. An invalid set creates none, nor does a terminating one.
 */
function mayMakeMachines({ set, machines }: SetView): boolean {
  const { metadata, spec, status } = set;
  const isCreationRejected =
    shapeProblemsOf(set).length > 0 ||
    findCondition(status?.machineSetCondition, specValidConditionType)?.status === "False";
  if (metadata.deletionTimestamp != null || isCreationRejected) return false;
  return (spec.replicas ?? 0) > machines.length || (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
}

/** Names of the sets of older templates that may still create machines: while there are any, the rollout is not complete. */
export const pendingSets = (deployment: MachineDeployment, sets: readonly SetView[]): readonly string[] =>
  sets
    .filter((view) => mayMakeMachines(view))
    .filter(({ set }) => templateDifferences(set.spec.template, deployment.spec.template).length > 0)
    .map(({ set }) => set.metadata.name)
    .toSorted();
