import type { Machine } from "@millwright/core/machine-api";
import type { Node, Pod } from "../model/node-objects.ts";
import { aMachine, beingDeleted, type Change, inPhase } from "./builders.ts";
import { aSnapshot, itsNode, lastly, testNow, withVm, type SnapshotChange } from "./snapshots.ts";
import { decideDeletion } from "../machine/deletion/decide-deletion.ts";

/** A machine whose deletion began just now, with a VM and a node that has joined. */
export const going = (...changes: readonly Change<Machine>[]) =>
  aMachine(withVm, inPhase("Running"), beingDeleted("2026-01-01T00:10:00Z"), ...changes);

/** A machine whose deletion flow is at that description, as MCM or Millwright wrote it. */
export const at = (description: string, ...changes: readonly Change<Machine>[]) =>
  going(inPhase("Terminating"), lastly("Delete", "Processing", description), ...changes);

/** The condition of the node once the drain of its machine has begun. */
export const terminatingCondition = {
  type: "Terminating",
  status: "True",
  reason: "ScaleDown",
  message: "Machine machine is being deleted",
  lastHeartbeatTime: "2026-01-01T00:10:00Z",
  lastTransitionTime: "2026-01-01T00:10:00Z",
};

/** The node once its drain has begun. */
export const cordoned = (change: Parameters<typeof itsNode>[0] = {}): Node =>
  itsNode({
    ...change,
    spec: { unschedulable: true, ...change?.spec },
    status: { conditions: [{ type: "Ready", status: "True" }, terminatingCondition], ...change?.status },
  });

/** A pod on the node. */
export const aPod = (
  name: string,
  change: Partial<Omit<Pod, "metadata">> & { metadata?: Partial<Pod["metadata"]> } = {},
): Pod => ({
  spec: { nodeName: "node" },
  ...change,
  metadata: { name, namespace: "default", uid: `uid-${name}`, ...change.metadata },
});

/** How the message of a drain begins. */
export const begun = "Drain not completed yet (started at 2026-01-01T00:10:00Z):";

/** The marker of each stage, from which the flow continues. */
export const marker = {
  status: "Set machine status to termination. Now, getting VM Status",
  drain: "Initiate node drain",
  attachments: "Delete Volume Attachments",
  vm: "Initiate VM deletion",
  node: "Initiate node object deletion",
  finalizer: "Initiate machine object finalizer removal",
} as const;

/** The decision about a machine that is being deleted. */
export const decide = (change: SnapshotChange, now = testNow) => decideDeletion(aSnapshot(change), now);

/** What its last operation will show. */
export const textOf = (change: SnapshotChange, now = testNow) => {
  const { state, type, description } = decide(change, now).status?.lastOperation ?? {};
  return `${type} ${state}: ${description}`;
};
