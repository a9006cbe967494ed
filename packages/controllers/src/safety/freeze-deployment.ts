import {
  annotationKeys,
  trueLabel,
  labelKeys,
  legacyConditionTypes,
  legacyReasons,
  type MachineDeployment,
  type MachineSet,
} from "@millwright/core/machine-api";
import type { ConditionState } from "@millwright/kube";
import { holdsOfSets } from "../model/hold-condition.ts";
import { hasFreezeLabel, isUnfreezeRequested, thawPatch } from "./freeze-set.ts";

/** Frozen sets, without those that are about to be unfrozen. */
const frozenAmong = (sets: readonly MachineSet[]): readonly MachineSet[] =>
  sets.filter((set) => hasFreezeLabel(set) && !isUnfreezeRequested(set));

/** The condition `Frozen` of a deployment with these sets, `undefined` when none is frozen: that of the first frozen set, or that one has the label. */
export function frozenState(sets: readonly MachineSet[]): ConditionState | undefined {
  const frozen = frozenAmong(sets);
  if (frozen.length === 0) return undefined;
  const { frozen: type } = legacyConditionTypes;
  return (
    holdsOfSets(frozen).find((state) => state.type === type) ?? {
      type,
      status: "True",
      reason: legacyReasons.machineDeploymentStateSync,
      message: "MachineDeployment State was inconsistent, hence safety controller has fixed this and frozen it",
    }
  );
}

/** Merge patches that synchronize the freeze of a deployment and its sets. */
export interface DeploymentFreeze {
  /** Patches by name of the set. They come before the deployment's own: it keeps the request until all sets have it. */
  readonly sets: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  readonly deployment: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Synchronizes the label of a deployment with its sets, and propagates a request to unfreeze to them (MCM, `pkg/controller/machine_safety.go`). All based on the objects:
 * what cannot be read does not count as "not frozen".
 */
export function planDeploymentFreeze(deployment: MachineDeployment, sets: readonly MachineSet[]): DeploymentFreeze {
  const frozen = frozenAmong(sets);
  if (isUnfreezeRequested(deployment)) {
    const request = { metadata: { annotations: { [annotationKeys.unfreeze]: trueLabel } } };
    return {
      sets: new Map(frozen.map(({ metadata }) => [metadata.name, request])),
      deployment: thawPatch(deployment).patch,
    };
  }
  if (frozen.length === 0) return { sets: new Map(), deployment: thawPatch(deployment).patch };
  return {
    sets: new Map(),
    deployment: hasFreezeLabel(deployment) ? undefined : { metadata: { labels: { [labelKeys.freeze]: trueLabel } } },
  };
}
