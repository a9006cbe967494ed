import { type ControlCaches, isHeld, type Node, type TargetCaches } from "@millwright/controllers";
import type { Clock } from "@millwright/base";
import {
  type Machine,
  type MachineClass,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { type ApiClient, type ApiObject, eventResource, nodeResource, type ReadonlyStore } from "@millwright/kube";
import type { MachineReport } from "../explain/machine-report.ts";
import { createCachedReader } from "../describe/cached-reader.ts";
import { describeDeployment, type DeploymentReport } from "../describe/describe-deployment.ts";
import { describeMachine } from "../describe/describe-machine.ts";
import type { RunningCalls } from "../drivers/running-calls.ts";
import type { EndedCalls } from "./ended-calls.ts";

/** An Event about an object. */
export interface FleetEvent {
  /** RFC 3339; empty when unknown. */
  readonly time: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

/** A call of a driver that runs, or has ended. */
export interface FleetCall {
  /** Method, driver, and what it is about. */
  readonly what: string;
  /** For how long it has run, or did, milliseconds. */
  readonly ms: number;
  /** RFC 3339; absent while it runs. */
  readonly endedAt?: string;
  /** OK, or the error code; absent while it runs. */
  readonly code?: string;
}

type Followed<T extends ApiObject> = Pick<ReadonlyStore<T>, "get" | "list" | "subscribe">;

/** The machines of one namespace as the controllers know them, to be read by others in the same process. Nothing of it writes. */
export interface FleetReader {
  readonly namespace: string;
  readonly machines: Followed<Machine>;
  readonly sets: Followed<MachineSet>;
  readonly deployments: Followed<MachineDeployment>;
  readonly classes: Followed<MachineClass>;
  /** Absent without a target cluster. */
  readonly nodes?: Followed<Node>;
  /** Whether the deletion budget holds the deletion of a machine. */
  readonly isHeld: (machine: Machine) => boolean;
  /** For how long the API server of the machines has been unreachable, milliseconds; 0 while it is reachable. */
  readonly lostForMs: () => number;
  /** Calls of drivers that run, the longest first. */
  readonly runningCalls: () => readonly FleetCall[];
  /** The last calls about a machine that have ended, the oldest first. */
  readonly endedCalls: (uid: string) => readonly FleetCall[];
  /** Reports from the caches. A machine that is being deleted also reads its CRDs. */
  readonly describeMachine: (name: string, signal: AbortSignal) => Promise<MachineReport>;
  readonly describeDeployment: (name: string, signal: AbortSignal) => Promise<DeploymentReport>;
  /** Lists the Events about an object, the newest last. Rejects when they may not be listed. */
  readonly events: (kind: string, name: string, signal: AbortSignal) => Promise<readonly FleetEvent[]>;
}

/** What a reader reads from. */
export interface FleetSources {
  readonly namespace: string;
  readonly caches: ControlCaches;
  readonly targetCaches: TargetCaches | undefined;
  readonly control: ApiClient;
  readonly target: ApiClient | undefined;
  readonly running: RunningCalls;
  readonly ended: EndedCalls;
  readonly clock: Clock;
}

interface EventObject extends ApiObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number | null;
  readonly eventTime?: string | null;
  readonly lastTimestamp?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string } | null;
}

const timeOf = ({ lastTimestamp, series, eventTime, metadata }: EventObject): string =>
  lastTimestamp ?? series?.lastObservedTime ?? eventTime ?? metadata.creationTimestamp ?? "";

/** Events that are shown of one object. */
const MAX_EVENTS = 100;

const eventsReader =
  (control: Pick<ApiClient, "list">, namespace: string): FleetReader["events"] =>
  async (kind, name, signal) => {
    const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
    const { items } = await control.list<EventObject>(eventResource, { namespace, fieldSelector }, { signal });
    return items
      .map((event) => ({
        time: timeOf(event),
        type: event.type ?? "",
        reason: event.reason ?? "",
        message: event.message ?? "",
        count: event.series?.count ?? event.count ?? 1,
      }))
      .toSorted((a, b) => (a.time < b.time ? -1 : 1))
      .slice(-MAX_EVENTS);
  };

/** Makes the reader of one namespace. */
export function createFleetReader(sources: FleetSources): FleetReader {
  const { namespace, caches, targetCaches, control, target, running, ended, clock } = sources;
  const reader = createCachedReader(control, [
    { type: machineResource, store: caches.machines.store },
    { type: machineSetResource, store: caches.sets.store },
    { type: machineDeploymentResource, store: caches.deployments.store },
    { type: machineClassResource, store: caches.classes.store },
  ]);
  const nodes =
    target && targetCaches && createCachedReader(target, [{ type: nodeResource, store: targetCaches.nodes.store }]);
  return {
    namespace,
    machines: caches.machines.store,
    sets: caches.sets.store,
    deployments: caches.deployments.store,
    classes: caches.classes.store,
    ...(targetCaches === undefined ? {} : { nodes: targetCaches.nodes.store }),
    isHeld,
    lostForMs: () => control.connectivity?.lostForMs() ?? 0,
    runningCalls: () => running.list(),
    endedCalls: (uid) =>
      ended.of(uid).map(({ method, driver, code, durationMs, endedAt }) => ({
        what: `${method} of ${driver}`,
        ms: durationMs,
        endedAt: endedAt.toISOString(),
        code,
      })),
    describeMachine: (name, signal) =>
      describeMachine({ control: reader, target: nodes, namespace, name, clock, signal }),
    describeDeployment: (name, signal) =>
      describeDeployment({ control: reader, target: nodes, namespace, name, clock, signal }),
    events: eventsReader(control, namespace),
  };
}
