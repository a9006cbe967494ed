import type { ApiClient, KubeObject } from "@millwright/kube";
import type { MachineTimeline } from "../measure/machine-times.ts";
import type { SubjectProgram } from "../subjects/subject.ts";
import type { WorldAnswer, WorldCommand, WorldOptions } from "../world/world-messages.ts";

/** How large a scenario is. */
export interface Size {
  readonly machines: number;
  /** Duration of a scenario that has a fixed one. */
  readonly minutes?: number;
}

/** What a scenario can do with its cluster, world and controllers. */
export interface Stage {
  readonly api: ApiClient;
  readonly size: Size;
  readonly machines: MachineTimeline;
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  /** Running processes of the controllers. */
  readonly programs: readonly SubjectProgram[];
  /** Sends a command to cloud, nodes and pods. */
  world(command: WorldCommand): Promise<WorldAnswer>;
  /** Starts a replica of the controllers, in namespace `default` unless another one is given. Resolves before it leads. */
  startReplica(namespace?: string): Promise<void>;
  /** Resolves when one replica leads. */
  untilLeading(): Promise<void>;
  /** Ends all processes by a signal. */
  endReplicas(signal: NodeJS.Signals): Promise<void>;
  /** Kills the process that leads. */
  killLeader(): Promise<void>;
  /** Waits until a check of the watched machines holds. */
  until(what: string, check: () => boolean): Promise<void>;
  /** The watched machines. */
  list(): readonly KubeObject[];
  sleep(ms: number): Promise<void>;
}

/** A measurement: what happens before it, and what is measured. */
export interface Scenario {
  readonly name: string;
  /** One sentence: what is measured. */
  readonly measures: string;
  /** Default sizes. */
  readonly short: Size;
  readonly long: Size;
  readonly world?: Partial<Pick<WorldOptions, "cloudLatencyMs" | "withPods">>;
  /** Processes of the controllers at the start. Default 1. */
  readonly replicas?: number;
  /** Whether it ends after a fixed duration: its wall time and quiet time mean nothing. */
  readonly isTimed?: boolean;
  /** Whether MCM cannot be measured in it. Default false. */
  readonly isOnlyMillwright?: boolean;
  /** Whether it has a floor: the requests that no controller can do without. Default false. */
  readonly hasFloor?: boolean;
  /** Whether the requests of Millwright can be made in it without a controller. Default false. */
  readonly hasSameRequests?: boolean;
  /** Not measured. */
  prepare?(stage: Stage): Promise<void>;
  measure(stage: Stage): Promise<void>;
}
