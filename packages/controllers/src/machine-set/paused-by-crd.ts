import type { Machine, MachineSet } from "@millwright/core";
import { setPausedCondition } from "../crd-guard/paused-messages.ts";
import type { CrdState } from "../model/crd-state.ts";
import { expectedReplicasPatch } from "./expected-replicas.ts";
import type { MachineSetDecision } from "./snapshot.ts";

/**
 * Decides about a set that a CRD pauses: it records how many machines it has, so that it creates no others for them when they are recreated under the new CRD, and reports why it does
 * nothing. The rest of its status stays as it was.
 */
export function decidePaused(set: MachineSet, owned: readonly Machine[], crd: CrdState, now: Date): MachineSetDecision {
  const patch = expectedReplicasPatch(set, owned);
  const { conditions, because } = setPausedCondition(set.status?.machineSetCondition ?? [], crd, { now });
  return {
    actions: patch === undefined ? [] : [{ kind: "PatchSet", patch }],
    status: { ...set.status, machineSetCondition: conditions },
    because,
  };
}
