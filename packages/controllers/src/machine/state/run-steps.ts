import { phaseOf } from "@millwright/core/machine-api";
import type { Reason } from "../../model/decision.ts";
import type { MachineAction, MachineDecision } from "./decision.ts";
import type { MachineSnapshot } from "./snapshot.ts";

/** One aspect of a machine that has a VM, such as its health or the labels of its node. */
export type Step = (snapshot: MachineSnapshot, now: Date) => MachineDecision;

const isNodeWrite = ({ kind }: MachineAction): boolean => kind === "PatchNode" || kind === "PatchNodeStatus";

/**
 * Merges the decisions of several steps. Each step sees the status as the previous steps leave it. A change of phase ends the run: it is written before
 * anything depends on it, and a failed patch of the node cannot prevent it. A change of the node ends it as well: the next steps
 * would be based on an outdated version; the write enqueues the machine, and they run then.
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
