import type { Machine, MachineSet } from "@millwright/core";
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
  const { conditions, because } = reportHold(set.status?.machineSetCondition ?? [], hold, { now });
  return {
    actions: patch === undefined ? [] : [{ kind: "PatchSet", patch }],
    status: { ...set.status, machineSetCondition: conditions },
    because,
  };
}
