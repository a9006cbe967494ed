import {
  joined,
  joinTimedOut,
  labelKeys,
  machineEventReasons,
  type MachineStatus,
  nodeMissing,
  nodeUnhealthy,
  phaseOf,
  rejoined,
  taintEffects,
  taintKeys,
} from "@millwright/core";
import type { Node } from "../../cluster/node-objects.ts";
import type { Reason } from "../../decision.ts";
import { type MachineDecision, nothing } from "../decision.ts";
import { isSameHealth, unhealthyConditions } from "../node-health.ts";
import type { MachineSnapshot } from "../snapshot.ts";
import { type OperationText, statusOf, withOperation, withPhase } from "../status-change.ts";
import { ageMs, creationDeadline, creationTimeoutMs } from "../timeouts.ts";

/** A change of phase with what is said about it. */
interface Change {
  readonly phase: "Running" | "Unknown" | "Failed";
  readonly operation: OperationText;
  readonly because: Reason;
}

/** Phases in which a healthy node makes the machine Running. Those of an in-place update end by its own rules. */
const canBecomeRunning: ReadonlySet<string> = new Set(["Pending", "Unknown", "Failed", "InPlaceUpdateSuccessful"]);

const waitsForCriticalComponents = (node: Node): boolean =>
  node.spec?.taints?.some(
    ({ key, effect }) => key === taintKeys.criticalComponentsNotReady && effect === taintEffects.noSchedule,
  ) === true;

function toRunning({ machine }: MachineSnapshot, node: Node, now: Date): Change | undefined {
  const phase = phaseOf(machine);
  if (phase === undefined || !canBecomeRunning.has(phase)) return undefined;
  if (phase === "Pending" && waitsForCriticalComponents(node)) return undefined;
  const { type, state } = machine.status?.lastOperation ?? {};
  const isJoin = type === "Create" && state !== "Successful";
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

function toUnknown(description: string, reason: string): Change {
  return {
    phase: "Unknown",
    operation: { description, state: "Processing", type: "HealthCheck" },
    because: { type: "Warning", reason, message: description },
  };
}

/** The change of phase that the node calls for, if any. */
function changeOf(snapshot: MachineSnapshot, now: Date): Change | undefined {
  const { machine, node, settings } = snapshot;
  const { name } = machine.metadata;
  const phase = phaseOf(machine);
  if (node === undefined) {
    const hadNode = (machine.status?.conditions ?? []).length > 0;
    const nodeName = machine.metadata.labels?.[labelKeys.node] ?? "";
    return phase === "Running" && hadNode
      ? toUnknown(nodeMissing(name, nodeName), machineEventReasons.nodeMissing)
      : undefined;
  }
  const listed = machine.spec.nodeConditions?.split(",") ?? settings.nodeConditions;
  const bad = unhealthyConditions(node.status?.conditions ?? [], listed);
  if (bad.length === 0) return toRunning(snapshot, node, now);
  return phase === "Running"
    ? toUnknown(nodeUnhealthy(name, bad.join(", ")), machineEventReasons.nodeUnhealthy)
    : undefined;
}

/** A machine whose node did not join in time is given up; its set makes another one. */
function joinTimeout(snapshot: MachineSnapshot, status: MachineStatus, now: Date): MachineDecision {
  const leftMs = creationDeadline(snapshot) - now.getTime();
  if (leftMs >= 0) return { ...nothing, status, wakeAfterMs: leftMs + 1 };
  const message = joinTimedOut(snapshot.machine.metadata.name, creationTimeoutMs(snapshot));
  const operation: OperationText = {
    description: message,
    state: "Failed",
    type: status.lastOperation?.type ?? "Create",
    ...(status.lastOperation?.errorCode === undefined ? {} : { errorCode: status.lastOperation.errorCode }),
  };
  return {
    actions: [],
    status: withPhase(withOperation(status, operation, now), "Failed", now),
    because: [{ type: "Warning", reason: machineEventReasons.joinTimedOut, message }],
  };
}

/**
 * Follows the node of a machine (machine-controller.md, 5.1): its conditions are copied, a healthy node makes the machine Running, an unhealthy or missing
 * one makes a Running machine Unknown, and a node that does not come in time makes it Failed.
 */
export function decideHealth(snapshot: MachineSnapshot, now: Date): MachineDecision {
  const { machine, node, hasTarget } = snapshot;
  if (!hasTarget) return nothing;
  const before = statusOf(machine);
  const conditions = node?.status?.conditions ?? [];
  const isNews = node !== undefined && !isSameHealth(before.conditions ?? [], conditions);
  const status = isNews ? { ...before, conditions } : before;

  const change = changeOf(snapshot, now);
  if (change !== undefined) {
    return {
      actions: [],
      status: withPhase(withOperation(status, change.operation, now), change.phase, now),
      because: [change.because],
    };
  }
  return phaseOf(machine) === "Pending" ? joinTimeout(snapshot, status, now) : { ...nothing, status };
}
