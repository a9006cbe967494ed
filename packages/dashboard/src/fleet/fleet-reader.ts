import type { Machine, MachineClass, MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import type { ApiObject, ReadonlyStore } from "@millwright/kube";

/** A cache that is followed and never changed. */
export type FollowedStore<T extends ApiObject> = Pick<ReadonlyStore<T>, "get" | "list" | "subscribe">;

/** An Event about an object. */
export interface ReportedEvent {
  /** RFC 3339; empty when unknown. */
  readonly time: string;
  /** Normal or Warning. */
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** How often it was recorded. */
  readonly count: number;
}

/** A call of a driver that runs, or has ended. */
export interface ReportedCall {
  /** Method, driver, and what it is about. */
  readonly what: string;
  /** For how long it has run, or did, milliseconds. */
  readonly ms: number;
  /** RFC 3339: when it ended; absent while it runs. */
  readonly endedAt?: string;
  /** OK, or the error code; absent while it runs. */
  readonly code?: string;
}

/** What the page shows of the machines of one namespace: the caches and reports of the controllers, read-only. */
export interface FleetReader {
  readonly namespace: string;
  readonly machines: FollowedStore<Machine>;
  readonly sets: FollowedStore<MachineSet>;
  readonly deployments: FollowedStore<MachineDeployment>;
  readonly classes: FollowedStore<MachineClass>;
  /** Absent without a target cluster. */
  readonly nodes?: FollowedStore<ApiObject>;
  /** Whether a hold keeps the VM of a terminating machine in service. */
  readonly isHeld: (machine: Machine) => boolean;
  /** For how long the API server of the machines has been unreachable, milliseconds; 0 while it is reachable. */
  readonly lostForMs: () => number;
  /** Calls of drivers that run, the longest first. */
  readonly runningCalls: () => readonly ReportedCall[];
  /** Calls about a machine that have ended, the oldest first; only the last ones. */
  readonly endedCalls: (uid: string) => readonly ReportedCall[];
  /** The report of `millwright describe machine`. Rejects when there is no such machine. */
  readonly describeMachine: (name: string, signal: AbortSignal) => Promise<object>;
  /** The report of `millwright describe deployment`. Rejects when there is no such deployment. */
  readonly describeDeployment: (name: string, signal: AbortSignal) => Promise<object>;
  /** Events about an object, the newest last. Rejects when they may not be listed. */
  readonly events: (kind: string, name: string, signal: AbortSignal) => Promise<readonly ReportedEvent[]>;
}
