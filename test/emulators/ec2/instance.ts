import type { XmlGroup } from "./xml.ts";

/** States of an instance, with the codes that EC2 gives them. */
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

/** An instance. Its state follows from the times at which things happened to it. */
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
  /** Parameters of the request that nothing in the emulator depends on; what a description shows of them. */
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

/** How long things take, milliseconds. */
export interface LifeTimes {
  /** From the launch to `running`. */
  readonly pendingMs: number;
  /** From the launch until the private name is known. */
  readonly nameMs: number;
  readonly stoppingMs: number;
  readonly shutdownMs: number;
  /** How long a terminated instance can still be seen. */
  readonly remembersMs: number;
}

/** The state at a time; undefined once nothing is left of it. */
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
