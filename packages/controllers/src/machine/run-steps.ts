import { phaseOf } from "@millwright/core";
import type { Reason } from "../model/decision.ts";
import type { MachineAction, MachineDecision } from "./state/decision.ts";
import type { MachineSnapshot } from "./state/snapshot.ts";

/** One concern of a machine that lives, such as its health or the labels of its node. */
export type Step = (snapshot: MachineSnapshot, now: Date) => MachineDecision;

const isNodeWrite = ({ kind }: MachineAction): boolean => kind === "PatchNode" || kind === "PatchNodeStatus";

/**
 * Makes one decision of several steps. Each sees the status as the steps before it leave it. A change of phase ends the turn: it is written before
 * anything is built on it, and a node that refuses a patch cannot keep the machine from its phase. So does a change of the node: the steps that follow
 * would be built on a version of it that is not there any more; the write wakes the machine, and they have their turn.
 */
export function runSteps(snapshot: MachineSnapshot, now: Date, steps: readonly Step[]): MachineDecision {
  const actions: MachineAction[] = [];
  const because: Reason[] = [];
  let requeueAfterMs = Number.POSITIVE_INFINITY;
  let current = snapshot;
  for (const step of steps) {
    const decision = step(current, now);
    actions.push(...decision.actions);
    because.push(...decision.because);
    requeueAfterMs = Math.min(requeueAfterMs, decision.requeueAfterMs ?? Number.POSITIVE_INFINITY);
    if (decision.status !== undefined)
      current = { ...current, machine: { ...current.machine, status: decision.status } };
    if (phaseOf(current.machine) !== phaseOf(snapshot.machine) || decision.actions.some(isNodeWrite)) break;
  }
  const { status } = current.machine;
  return {
    actions,
    because,
    ...(status === undefined || status === snapshot.machine.status ? {} : { status }),
    ...(Number.isFinite(requeueAfterMs) ? { requeueAfterMs } : {}),
  };
}
