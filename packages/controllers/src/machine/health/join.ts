import {
  annotationKeys,
  formatGoDuration,
  joined,
  type Machine,
  machineEventReasons,
  phaseOf,
  rejoined,
} from "@millwright/core";
import type { Node } from "../../cluster/node-objects.ts";
import type { MachineSnapshot } from "../snapshot.ts";
import { ageMs } from "../timeouts.ts";
import type { Change } from "./change.ts";

/** Whether the machine has never joined: its creation has not been told to be successful (machine-controller.md, 5.1). */
export const isFirstJoin = ({ status }: Machine): boolean =>
  status?.lastOperation?.type === "Create" && status.lastOperation.state !== "Successful";

/** The change to Running: a join, or a return. */
export function toRunning({ machine }: MachineSnapshot, node: Node, now: Date): Change {
  const isJoin = isFirstJoin(machine);
  const description = isJoin ? joined(machine.metadata.name, ageMs(machine, now)) : rejoined(machine.metadata.name);
  return {
    phase: "Running",
    operation: { description, state: "Successful", type: isJoin ? "Create" : "HealthCheck" },
    because: {
      type: "Normal",
      reason: isJoin ? machineEventReasons.nodeJoined : machineEventReasons.nodeHealthy,
      message: `Node ${node.metadata.name} is ready`,
    },
  };
}

/** A join that is longer ago is history: a takeover does not write to every machine there is. */
const recentMs = 10 * 60_000;

/**
 * How long the machine took to join, as an annotation, where that has just happened and is not written yet. A patch of its own, after the phase: what the Go
 * implementation adds to its write of the status is dropped by the API server (machine-controller.md, F4).
 */
export function joinDurationOf(machine: Machine, now: Date): Readonly<Record<string, string>> | undefined {
  const { lastOperation } = machine.status ?? {};
  const isJoined = lastOperation?.type === "Create" && lastOperation.state === "Successful";
  if (phaseOf(machine) !== "Running" || !isJoined) return undefined;
  if (machine.metadata.annotations?.[annotationKeys.machineJoinDuration] !== undefined) return undefined;
  const joinedAt = new Date(lastOperation.lastUpdateTime ?? "");
  // Also false for a time that cannot be read.
  if (!(now.getTime() - joinedAt.getTime() <= recentMs)) return undefined;
  return { [annotationKeys.machineJoinDuration]: formatGoDuration(Math.max(0, ageMs(machine, joinedAt))) };
}
