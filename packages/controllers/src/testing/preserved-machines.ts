import { annotationKeys, type Machine, type MachinePhase, taintKeys } from "@millwright/core/machine-api";
import type { Node, Pod } from "../model/node-objects.ts";
import { aMachine, annotated, type Change, inPhase } from "./builders.ts";
import { type LivingMachine, reconcileOnce, untilAtRest } from "./living-machine.ts";
import { itsNode, testNow, withVm } from "./snapshots.ts";
import { decidePreservation } from "../machine/preservation/decide-preservation.ts";

/** Annotations of preserved machines and nodes, by short names: the requested value, and the last one that was copied from the node. */
export const {
  preserve: P,
  lastAppliedNodePreserveValue: L,
  scaleDownDisabled,
  scaleDownDisabledByController,
} = annotationKeys;

/** Annotations that keep the autoscaler away, as the controller writes them. */
export const autoscaler = { [scaleDownDisabled]: "true", [scaleDownDisabledByController]: "true" };

/** Four days after testNow: what a preservation that begins now lasts. */
export const newExpiry = "2026-01-05T00:10:00Z";

/** An expiry that has not come at testNow. */
export const future = "2026-01-03T00:00:00Z";

/** One that has just come. */
export const past = "2026-01-01T00:09:59Z";

/** The taint of preserved nodes. */
export const taint = { key: taintKeys.preserved, effect: "NoSchedule", timeAdded: "2026-01-01T00:08:00Z" };

/** A taint of another client. */
export const foreignTaint = { key: "theirs", effect: "NoExecute" };

const readyConditions = [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }];

/** The condition of a preserved node. */
export const condition = (status: string, message: string, reason = "Preserved by user.") => ({
  type: "Preserved",
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:08:00Z",
});

/** It, of a machine that runs. */
export const plain = (expiry = future) => condition("True", `Machine preserved until ${expiry}.`);

/** It, when the node is empty. */
export const drained = (expiry = future) =>
  condition("True", `Preserved node drained successfully. Machine preserved until ${expiry}.`);

/** It, when the drain failed. */
export const notDrained = (expiry = future) =>
  condition("False", `Preserved node could not be drained. Machine preserved until ${expiry}.`);

/** A preservation that ends then. */
export const until = (preserveExpiryTime: string): Change<Machine> => ({
  status: { currentStatus: { preserveExpiryTime } },
});

/** A machine in a phase. */
export const aMachineIn = (phase: MachinePhase, ...changes: readonly Change<Machine>[]): Machine =>
  aMachine(withVm, inPhase(phase, "2026-01-01T00:07:00Z"), ...changes);

/** What a preservation leaves on a node. */
export interface NodeMarks {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly (typeof taint | typeof foreignTaint)[];
  readonly condition?: ReturnType<typeof condition>;
  readonly unschedulable?: boolean;
  readonly ready?: typeof readyConditions;
}

/** Its node. */
export const aNodeWith = ({
  annotations = {},
  taints = [],
  unschedulable,
  ready = readyConditions,
  ...marks
}: NodeMarks = {}): Node =>
  itsNode({
    metadata: { annotations },
    spec: { taints, ...(unschedulable === undefined ? {} : { unschedulable }) },
    status: { conditions: [...ready, ...(marks.condition === undefined ? [] : [marks.condition])] },
  });

/** A pod on it. */
export const aPod = (name: string, metadata: Partial<Pod["metadata"]> = {}): Pod => ({
  metadata: { name, namespace: "default", uid: name, ...metadata },
  spec: { nodeName: "node" },
});

/** Machine, node and pods. */
export const world = (
  machine: Machine,
  node: Node | undefined = aNodeWith(),
  ...pods: readonly Pod[]
): LivingMachine => ({
  machine,
  node,
  pods,
});

/** A machine without its node. */
export const withoutNode = (machine: Machine): LivingMachine => ({ machine, node: undefined, pods: [] });

/** Reconciles until nothing is left to do. */
export const settle = (start: LivingMachine, now = testNow) => untilAtRest(start, decidePreservation, now);

/** One reconcile. */
export const once = (start: LivingMachine, now = testNow) => reconcileOnce(start, decidePreservation, now);

/** The traces of a preservation, in one line. */
export function marksOf({ machine, node }: LivingMachine): Readonly<Record<string, unknown>> {
  const annotations = node?.metadata.annotations ?? {};
  const preserved = node?.status?.conditions?.find(({ type }) => type === "Preserved");
  return {
    E: machine.status?.currentStatus?.preserveExpiryTime,
    M: machine.metadata.annotations?.[P],
    L: machine.metadata.annotations?.[L],
    N: annotations[P],
    autoscaler: annotations[scaleDownDisabled],
    taint: node?.spec?.taints?.some(({ key }) => key === taintKeys.preserved),
    condition:
      preserved === undefined ? undefined : `${preserved.status} ${preserved.reason} ${preserved.message}`.trim(),
  };
}

/** Marks of a preservation that is over. */
export const unmarked = { autoscaler: undefined, taint: false, condition: "False Preservation stopped." };

/** Marks of one that goes on. */
export const kept = (expiry: string, by = "user") => ({
  E: expiry,
  autoscaler: "true",
  taint: false,
  condition: `True Preserved by ${by}. Machine preserved until ${expiry}.`,
});

/** Marks of one of a Failed machine, whose node is empty. */
export const keptFailed = (expiry: string, by = "user") => ({
  ...kept(expiry, by),
  taint: true,
  condition: `True Preserved by ${by}. Preserved node drained successfully. Machine preserved until ${expiry}.`,
});

/** The value on the node. */
export const N = (value: string) => ({ annotations: { [P]: value } });

/** The value on the machine. */
export const M = (value: string) => annotated({ [P]: value });
