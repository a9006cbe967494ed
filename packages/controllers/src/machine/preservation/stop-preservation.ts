import { annotationKeys, machineEventReasons } from "@millwright/core";
import { type MachineAction, type MachineDecision, nothing } from "../state/decision.ts";
import { setNodeCondition } from "../../model/node-condition.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { statusOf } from "../../model/status-change.ts";
import { isMarkedPreserved, stoppedState } from "../../model/preserved-condition.ts";
import { markNode, preservedTaint, withScaleDown } from "./preserved-node.ts";

/** Why a preservation ends, and whether its request is removed. */
export interface Stop {
  readonly why: string;
  /** Whether the annotations that request it are removed, so that it does not start again. */
  readonly forget: boolean;
}

/** Removes the preserve annotations of the machine; no action when there are none. */
function forgetOnMachine({ machine }: MachineSnapshot): readonly MachineAction[] {
  const keys = [annotationKeys.preserve, annotationKeys.lastAppliedNodePreserveValue].filter(
    (key) => machine.metadata.annotations?.[key] !== undefined,
  );
  if (keys.length === 0) return [];
  const annotations = Object.fromEntries(keys.map((key) => [key, null]));
  return [{ kind: "PatchMachine", patch: { metadata: { annotations } } }];
}

/** Whether there is something to undo: the expiry is set, or the node is marked, even if another controller removed the expiry. */
const hasTraces = ({ machine, node }: MachineSnapshot): boolean =>
  machine.status?.currentStatus?.preserveExpiryTime != null ||
  isMarkedPreserved(node) ||
  preservedTaint(node) !== undefined;

/**
 * Ends a preservation: the node's annotations and taint, its condition, the annotations of the machine, and last the expiry, so that an
 * interrupted end is repeated (MCM, `pkg/util/provider/machinecontroller/machine.go` manageMachinePreservation). A cordon is kept.
 */
export function stopPreservation(snapshot: MachineSnapshot, { why, forget }: Stop, now: Date): MachineDecision {
  const { machine, node } = snapshot;
  const forgotten = forget ? forgetOnMachine(snapshot) : [];
  if (!hasTraces(snapshot)) return forgotten.length === 0 ? nothing : { actions: forgotten, because: [] };
  const actions: MachineAction[] = [];
  if (node !== undefined) {
    const requestRemoval = forget ? { [annotationKeys.preserve]: null } : {};
    // Taints first: their patch requires the observed version of the node, which the condition changes.
    actions.push(
      ...markNode(node, { annotations: { ...withScaleDown(node), ...requestRemoval }, isTainted: false }, now),
      ...setNodeCondition(node, stoppedState, now),
    );
  }
  actions.push(...forgotten);
  const { currentStatus, ...rest } = statusOf(machine);
  const { preserveExpiryTime: _, ...kept } = currentStatus ?? {};
  return {
    actions,
    ...(currentStatus === undefined ? {} : { status: { ...rest, currentStatus: kept } }),
    because: [
      {
        type: "Normal",
        reason: machineEventReasons.preservationStopped,
        message: `Machine is no longer preserved: ${why}`,
      },
    ],
  };
}
