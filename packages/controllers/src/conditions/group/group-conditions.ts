import type { ConditionState } from "@millwright/kube";
import { untilGroupChanges } from "./group-changes.ts";
import type { JudgedMachine } from "./judged-machine.ts";

/** Cluster API's conditions of a set or deployment. */
export interface GroupConditions {
  readonly states: readonly ConditionState[];
  /** When time alone changes one of them, milliseconds from now; absent when only a change of an object can. */
  readonly requeueAfterMs?: number;
}

/** Combines the conditions of one reconcile: all have the same generation. */
export function groupConditions(
  states: readonly ConditionState[],
  machines: readonly JudgedMachine[],
  generation: number | undefined,
  now: Date,
): GroupConditions {
  const requeueAfterMs = untilGroupChanges(machines, now);
  return {
    states: generation === undefined ? states : states.map((state) => ({ ...state, observedGeneration: generation })),
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  };
}
