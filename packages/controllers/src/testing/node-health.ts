import type { NodeCondition } from "@millwright/core/machine-api";
import type { Node } from "../model/node-objects.ts";
import type { MachineDecision } from "../machine/state/decision.ts";
import { decideHealth } from "../machine/health/decide-health.ts";
import { aSnapshot, itsNode, lastly, testNow, type SnapshotChange } from "./snapshots.ts";

/** Conditions of a node that is well. */
export const healthy: readonly NodeCondition[] = [
  { type: "Ready", status: "True" },
  { type: "DiskPressure", status: "False" },
  { type: "MemoryPressure", status: "False" },
  { type: "NetworkUnavailable", status: "False" },
];

/** Those of one that does not report. */
export const sick: readonly NodeCondition[] = [{ type: "Ready", status: "Unknown" }];

/** The node of a machine, with these conditions. */
export const nodeWith = (conditions: readonly NodeCondition[]): Node => itsNode({ status: { conditions } });

/** The last operation of a machine that waits for its node. */
export const creating = lastly(
  "Create",
  "Processing",
  "Created VM on cloud provider; waiting for its Node to join the cluster",
);

/** The machine saw its node in good health. */
export const joinedBefore = { status: { conditions: healthy } };

/** What is decided about the health of a machine. */
export const decide = (change: SnapshotChange, now = testNow): MachineDecision => decideHealth(aSnapshot(change), now);
