import type { Machine, MachineSet } from "@millwright/core/machine-api";
import { withSummaryOfHeld } from "../conditions/group/summary.ts";
import type { Hold } from "../model/hold.ts";
import { reportHold } from "../model/hold-condition.ts";
import { expectedReplicasPatch } from "./expected-replicas.ts";
import type { MachineSetDecision } from "./snapshot.ts";

/**
 * Decides about a set of which everything is held: it records how many machines it has, so that it creates no others for them when they are recreated, and reports why it does
 * nothing. The rest of its status stays as it was.
 */
export function decideHeld(set: MachineSet, owned: readonly Machine[], hold: Hold, now: Date): MachineSetDecision {
  const patch = expectedReplicasPatch(set, owned);
  const stored = set.status?.machineSetCondition;
  const { conditions, because } = reportHold(stored ?? [], hold, { now });
  const options = { now, updateTime: false, generation: set.metadata.generation };
  return {
    actions: patch === undefined ? [] : [{ kind: "PatchSet", patch }],
    status: { ...set.status, machineSetCondition: withSummaryOfHeld(conditions, stored, options) },
    because,
  };
}
