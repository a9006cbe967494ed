import type { XmlGroup } from "./xml.ts";

/** States of an instance, with EC2's codes. */
export const instanceStates = {
  pending: 0,
  running: 16,
  "shutting-down": 32,
  terminated: 48,
  stopping: 64,
  stopped: 80,
} as const;

/** A state of an instance. */
export type InstanceState = keyof typeof instanceStates;

/** A network interface, whether or not it is attached. */
export interface NetworkInterface {
  readonly id: string;
  readonly subnetId: string;
  readonly zone: string;
  readonly groupIds: readonly string[];
  readonly privateIp: string;
  readonly publicIp?: string;
  readonly description: string;
  readonly interfaceType: string;
  readonly deviceIndex: number;
  readonly networkCardIndex: number;
  readonly deleteOnTermination: boolean;
  readonly ipv6Addresses: readonly string[];
  readonly tags: Map<string, string>;
  ipv6Prefixes: readonly string[];
  sourceDestCheck: boolean;
  /** Undefined when it is available. */
  instanceId: string | undefined;
}

/** A volume, whether or not it is attached. */
export interface Volume {
  readonly id: string;
  readonly deviceName: string;
  readonly sizeGiB: number;
  readonly type: string;
  readonly iops?: number;
  readonly throughput?: number;
  readonly encrypted: boolean;
  readonly kmsKeyId?: string;
  readonly deleteOnTermination: boolean;
  readonly tags: Map<string, string>;
  instanceId: string | undefined;
}

/** An instance. Its state follows from the times of its operations. */
export interface Instance {
  /** Instances are listed in this order. */
  readonly sequence: number;
  readonly id: string;
  readonly reservationId: string;
  readonly region: string;
  readonly account: string;
  readonly imageId: string;
  readonly instanceType: string;
  readonly clientToken: string;
  readonly privateDnsName: string;
  readonly userData: string;
  /** Parameters of the request that the emulator only shows in descriptions. */
  readonly shown: XmlGroup;
  readonly lifecycle?: "spot";
  readonly launchedAtMs: number;
  readonly launchTime: string;
  readonly tags: Map<string, string>;
  /** When a description first shows it. */
  visibleAtMs: number;
  stoppedAtMs?: number;
  terminatedAtMs?: number;
  stateReason?: { readonly code: string; readonly message: string };
}

/** Durations, milliseconds. */
export interface LifeTimes {
  /** From the launch to `running`. */
  readonly pendingMs: number;
  /** From the launch until the private name is shown. */
  readonly nameMs: number;
  readonly stoppingMs: number;
  readonly shutdownMs: number;
  /** How long a terminated instance is still shown. */
  readonly remembersMs: number;
}

/** The state at a time; undefined once it is not shown any more. */
export function stateOf(instance: Instance, times: LifeTimes, nowMs: number): InstanceState | undefined {
  const { terminatedAtMs, stoppedAtMs, launchedAtMs } = instance;
  if (terminatedAtMs !== undefined) {
    const since = nowMs - terminatedAtMs;
    if (since < times.shutdownMs) return "shutting-down";
    return since < times.shutdownMs + times.remembersMs ? "terminated" : undefined;
  }
  if (stoppedAtMs !== undefined) return nowMs - stoppedAtMs < times.stoppingMs ? "stopping" : "stopped";
  return nowMs - launchedAtMs < times.pendingMs ? "pending" : "running";
}
