import type { ConditionState } from "@millwright/kube";
import { msUntilIssuesChange } from "../machine/machine-conditions.ts";
import type { JudgedMachine } from "./judged-machine.ts";
import { causeOfUnready } from "./machines-ready.ts";
import { untilCounted } from "./machines-up-to-date.ts";

const SECOND = 1000;

/** Cluster API's conditions of a set or deployment. */
export interface GroupConditions {
  readonly states: readonly ConditionState[];
  /** The most frequent reason why machines are not ready. Absent: all are, or none has one. */
  readonly unready?: string;
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
  const unready = causeOfUnready(machines);
  return {
    states: generation === undefined ? states : states.map((state) => ({ ...state, observedGeneration: generation })),
    ...(unready === undefined ? {} : { unready }),
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  };
}

/**
 * Milliseconds until time alone changes the conditions of a set or deployment; `undefined` when only a change of an object can.
 * Rounded up to a whole second, so that machines of the same age cause one reconcile together.
 */
export function untilGroupChanges(machines: readonly JudgedMachine[], now: Date): number | undefined {
  const times = machines
    .flatMap((machine) => [untilCounted(machine, now), msUntilIssuesChange(machine.facts, now) ?? 0])
    .filter((ms) => ms > 0);
  if (times.length === 0) return undefined;
  const time = now.getTime() + times.reduce((a, b) => Math.min(a, b));
  return Math.ceil(time / SECOND) * SECOND - now.getTime();
}
