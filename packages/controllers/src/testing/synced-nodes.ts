import type { Machine } from "@millwright/core/machine-api";
import type { Node } from "../model/node-objects.ts";
import type { MachineDecision } from "../machine/state/decision.ts";
import { decideNodeSync } from "../machine/node-sync/decide-node-sync.ts";
import { aMachine } from "./builders.ts";
import { aSnapshot, itsNode, withVm, type SnapshotChange } from "./snapshots.ts";

/** The finalizer that machines add to their nodes. */
export const nodeFinalizer = "node.machine.sapcloud.io/machine-controller";

/** A machine without node template. */
export const bare = aMachine(withVm);

/** A node that has the finalizer, and nothing from a template. */
export const aHeldNode = (change: Parameters<typeof itsNode>[0] = {}): Node =>
  itsNode({ ...change, metadata: { finalizers: [nodeFinalizer], ...change.metadata } });

/** The decision about the node of a machine. */
export const decideNode = (
  node: Node | undefined,
  machine: Machine = bare,
  change: SnapshotChange = {},
): MachineDecision => decideNodeSync(aSnapshot({ machine, node, ...change }));
