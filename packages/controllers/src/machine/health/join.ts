import {
  formatGoDuration,
  joined,
  type Machine,
  machineEventReasons,
  type MachineStatus,
  rejoined,
} from "@millwright/core";
import type { Node } from "../../model/node-objects.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { ageMs } from "../../model/timeouts.ts";
import type { Change } from "./change.ts";

/** Whether the machine has never joined: its creation has not been successful (MCM, `pkg/util/provider/machinecontroller/machine_util.go` reconcileMachineHealth). */
export const isFirstJoin = ({ status }: Machine): boolean =>
  status?.lastOperation?.type === "Create" && status.lastOperation.state !== "Successful";

/** The change to Running: the first join, or a recovery. */
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

/**
 * How long a machine took to join, from its creation. Written with the status that makes the machine Running: MCM adds
 * an annotation to that write, which the API server drops, and a separate patch would cost one more request per machine.
 */
export const withJoinDuration = (status: MachineStatus, machine: Machine, now: Date): MachineStatus =>
  isFirstJoin(machine) ? { ...status, joinDuration: formatGoDuration(Math.max(0, ageMs(machine, now))) } : status;
