import type { Machine } from "@millwright/core/machine-api";
import { decideCreation } from "../machine/creation/decide-creation.ts";
import type { MachineDecision } from "../machine/state/decision.ts";
import { annotated, type Change } from "./builders.ts";
import { aSnapshot, machineAfter, testNow, type SnapshotChange } from "./snapshots.ts";

const annotation = "machine.millwright.dev/creation-intent";

/** The intent of a machine of class `small`. */
export const intent = { attempt: 1, class: "small", provider: "mock", secretRef: "small" };

/** The patch that writes it down. */
export const recordIntent = (recorded: object = intent) => ({
  kind: "PatchMachine",
  patch: { metadata: { uid: "uid-machine", annotations: { [annotation]: JSON.stringify(recorded) } } },
});

/** It is written down. */
export const withIntent = annotated({ [annotation]: JSON.stringify(intent) });

/** The first call for a VM. */
export const startCreate = {
  kind: "StartOperation",
  operation: "create",
  token: "uid-machine-1",
  launch: { name: "small", isRepeated: false },
};

/** A call for a VM of a machine that has a failure behind it. */
export const startAgain = { ...startCreate, launch: { name: "small", isRepeated: true } };

/** The creation failed the last time. */
export const failedBefore = (errorCode = "Internal"): Change<Machine> => ({
  status: {
    currentStatus: { phase: "CrashLoopBackOff" },
    lastOperation: { type: "Create", state: "Failed", errorCode, description: "no" },
  },
});

/** What a driver answers when the VM is there. */
export const vm = { providerId: "vm-1", nodeName: "node" };

/** What is decided about a machine that is on its way to a VM. */
export const decide = (change: SnapshotChange = {}, now = testNow): MachineDecision =>
  decideCreation(aSnapshot(change), now);

/** The machine when that is written down. */
export function machineThen(change: SnapshotChange, now = testNow): Machine {
  const snapshot = aSnapshot(change);
  return machineAfter(snapshot, decideCreation(snapshot, now));
}
