import type { InstanceResource } from "./instance-resource.ts";

/** States of an instance that the emulator reaches by itself. */
type LifeStatus = "PROVISIONING" | "STAGING" | "RUNNING" | "STOPPING" | "TERMINATED";

/** States of an instance. */
export type InstanceStatus =
  | LifeStatus
  | "DEPROVISIONING"
  | "PENDING"
  | "PENDING_STOP"
  | "REPAIRING"
  | "STOPPED"
  | "SUSPENDED"
  | "SUSPENDING";

/** A disk, whether or not it is attached. */
export interface Disk {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly zone: string;
  readonly type: string;
  readonly sizeGb: number;
  /** Path of its image; empty for none. */
  readonly sourceImage: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly boot: boolean;
  autoDelete: boolean;
  /** ID of the instance that it is attached to; undefined when it is not attached. */
  instanceId: string | undefined;
}

/** An instance. Its status follows from the times of its operations. */
export interface Instance {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly zone: string;
  /** The requested instance. A test may change it, as a user of the console does. */
  resource: InstanceResource;
  readonly createdAtMs: number;
  readonly creationTimestamp: string;
  readonly networkIp: string;
  /** One for each external access configuration. */
  readonly externalIps: readonly string[];
  /** Without capacity: it is PROVISIONING until its operation fails. */
  neverStarts?: boolean;
  /** Start of its deletion. */
  deletingSinceMs?: number;
  stoppedAtMs?: number;
  /** A fixed status until it is deleted. */
  heldStatus?: InstanceStatus;
}

/** Durations, milliseconds. */
export interface LifeTimes {
  /** From the request until its operation is done. */
  readonly operationMs: number;
  readonly provisioningMs: number;
  readonly stagingMs: number;
  readonly stoppingMs: number;
}

/** The status at a time. */
export function statusOf(instance: Instance, times: LifeTimes, nowMs: number): InstanceStatus {
  const { deletingSinceMs, stoppedAtMs, createdAtMs, neverStarts = false, heldStatus } = instance;
  if (deletingSinceMs !== undefined) return "STOPPING";
  if (heldStatus !== undefined) return heldStatus;
  if (stoppedAtMs !== undefined) return nowMs - stoppedAtMs < times.stoppingMs ? "STOPPING" : "TERMINATED";
  const age = nowMs - createdAtMs;
  if (neverStarts || age < times.provisioningMs) return "PROVISIONING";
  return age < times.provisioningMs + times.stagingMs ? "STAGING" : "RUNNING";
}
