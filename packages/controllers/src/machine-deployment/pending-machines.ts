import { type MachineDeployment, specValidConditionType } from "@millwright/core";
import { shapeProblemsOf } from "../cluster/readable.ts";
import { findCondition } from "../model/set-condition.ts";
import { templateDifferences } from "../conditions/machine/updating.ts";
import type { SetView } from "./state/set-size.ts";

/**
 * Whether a set may still make machines that nobody sees yet: it is told to have more than there are, or its controller has not seen the size that it is told now, and
 * may just be asking for machines of an earlier one. A set that is refused or cannot be read, or is on its way out, makes none.
 */
function mayMakeMachines({ set, machines }: SetView): boolean {
  const { metadata, spec, status } = set;
  const isRefused =
    shapeProblemsOf(set).length > 0 ||
    findCondition(status?.machineSetCondition, specValidConditionType)?.status === "False";
  if (metadata.deletionTimestamp != null || isRefused) return false;
  return (spec.replicas ?? 0) > machines.length || (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
}

/** Names of the sets of older templates from which machines may still come: as long as there are any, a rollout is not over, whatever machines are there. */
export const pendingSets = (deployment: MachineDeployment, sets: readonly SetView[]): readonly string[] =>
  sets
    .filter((view) => mayMakeMachines(view))
    .filter(({ set }) => templateDifferences(set.spec.template, deployment.spec.template).length > 0)
    .map(({ set }) => set.metadata.name)
    .toSorted();
