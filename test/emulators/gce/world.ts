import { type Clock, type Random, seededRandom, systemClock } from "@millwright/base";
import { type Disk, type Instance, type InstanceStatus, type LifeTimes, statusOf } from "./instance.ts";
import type { Operation } from "./operation.ts";

/** A type of machines. */
export interface MachineType {
  readonly guestCpus: number;
  readonly memoryMb: number;
  readonly architecture: "X86_64" | "ARM64";
  /** Accelerators of the type. */
  readonly accelerators?: readonly { readonly type: string; readonly count: number }[];
  /** Its zones. Default: all. */
  readonly zones?: readonly string[];
}

/** Identity and expiry of an issued token. */
export interface AccessToken {
  readonly user: string;
  readonly expiresAtMs: number;
}

/** Initial state and behavior of the cloud. Everything has a default. */
export interface GceWorldOptions extends Partial<LifeTimes> {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly projects?: readonly string[];
  readonly zones?: readonly string[];
  readonly images?: readonly string[];
  /** Each project has them. */
  readonly networks?: readonly string[];
  /** As `region/name`; each project has them. */
  readonly subnetworks?: readonly string[];
  readonly machineTypes?: Readonly<Record<string, MachineType>>;
  /** Public keys of service accounts, PEM, by email. Absent: any well-formed assertion is accepted. */
  readonly serviceAccounts?: Readonly<Record<string, string>>;
  /** Tokens of workload identities that STS accepts, by audience. */
  readonly workloadIdentities?: Readonly<Record<string, string>>;
  /** Values of the metadata server: the project of the calling VM, and the email of its service account, if it has one. Absent: no metadata server. */
  readonly metadata?: { readonly project: string; readonly serviceAccount?: string };
  /** Lifetime of access tokens, milliseconds. Default 1 hour. */
  readonly tokenMs?: number;
  /** How long `wait` blocks at most, milliseconds. Default 120 000. */
  readonly waitMs?: number;
  /** Quota of CPUs of a region. Default: unlimited. */
  readonly cpuQuota?: number;
  /** Permissions of callers, such as `compute.instances.get`. Default: all. */
  readonly permissions?: readonly string[];
}

/** The state of Compute Engine. Times are those of the clock, in milliseconds. */
export interface GceWorld {
  readonly options: GceWorldOptions;
  readonly clock: Clock;
  readonly random: Random;
  readonly projects: Set<string>;
  readonly zones: Set<string>;
  readonly images: Set<string>;
  readonly networks: Set<string>;
  readonly subnetworks: Set<string>;
  readonly machineTypes: Map<string, MachineType>;
  readonly serviceAccounts: Map<string, string> | undefined;
  readonly workloadIdentities: Map<string, string>;
  readonly accessTokens: Map<string, AccessToken>;
  /** By `project/zone/name`, in the order of their creation. */
  readonly instances: Map<string, Instance>;
  /** By `project/zone/name`. */
  readonly disks: Map<string, Disk>;
  readonly operations: ReadonlyMap<string, Operation>;
  /** ID of the operation of a request ID, by `project/requestId`. */
  readonly requestIds: Map<string, string>;
  /** Remaining capacity, by `type` or `type/zone`. Absent: unlimited. */
  readonly capacity: Map<string, number>;
  times(): LifeTimes;
  nowMs(): number;
  timestamp(): string;
  nextId(): string;
  status(instance: Instance): InstanceStatus;
  begin(operation: Operation): void;
  /** Applies operations that are done. */
  settle(): void;
}

const defaultTypes: Readonly<Record<string, MachineType>> = {
  "n1-standard-2": { guestCpus: 2, memoryMb: 7_680, architecture: "X86_64" },
  "n2-standard-2": { guestCpus: 2, memoryMb: 8_192, architecture: "X86_64" },
  "n2-standard-4": { guestCpus: 4, memoryMb: 16_384, architecture: "X86_64" },
  "t2a-standard-2": { guestCpus: 2, memoryMb: 8_192, architecture: "ARM64", zones: ["europe-west1-b"] },
  "a2-highgpu-1g": {
    guestCpus: 12,
    memoryMb: 87_040,
    architecture: "X86_64",
    accelerators: [{ type: "nvidia-tesla-a100", count: 1 }],
  },
};

/** Creates a world. */
export function createGceWorld(options: GceWorldOptions = {}): GceWorld {
  const { clock = systemClock, random = seededRandom(20_261_121) } = options;
  const { operationMs = 0, provisioningMs = 0, stagingMs = 0, stoppingMs = 0 } = options;
  const times: LifeTimes = { operationMs, provisioningMs, stagingMs, stoppingMs };
  const operations = new Map<string, Operation>();
  const unfinished = new Set<Operation>();
  let sequence = 7_000_000_000_000_000_000n;

  const nowMs = (): number => clock.monotonicMs();

  return {
    options,
    clock,
    random,
    projects: new Set(options.projects ?? ["my-project"]),
    zones: new Set(options.zones ?? ["europe-west1-b", "europe-west1-c", "us-central1-a"]),
    images: new Set(options.images ?? ["projects/images/global/images/node-1", "projects/images/global/images/node-2"]),
    networks: new Set(options.networks ?? ["shoot"]),
    subnetworks: new Set(options.subnetworks ?? ["europe-west1/nodes", "us-central1/nodes"]),
    machineTypes: new Map(Object.entries(options.machineTypes ?? defaultTypes)),
    serviceAccounts:
      options.serviceAccounts === undefined ? undefined : new Map(Object.entries(options.serviceAccounts)),
    workloadIdentities: new Map(Object.entries(options.workloadIdentities ?? {})),
    accessTokens: new Map(),
    instances: new Map(),
    disks: new Map(),
    operations,
    requestIds: new Map(),
    capacity: new Map(),
    times: () => times,
    nowMs,
    timestamp: () => clock.now().toISOString(),
    nextId: () => String(++sequence),
    status: (instance) => statusOf(instance, times, nowMs()),
    begin(operation) {
      operations.set(operation.id, operation);
      unfinished.add(operation);
    },
    settle() {
      const due = [...unfinished].filter(({ doneAtMs }) => doneAtMs <= nowMs());
      for (const operation of due.toSorted((a, b) => a.doneAtMs - b.doneAtMs)) {
        unfinished.delete(operation);
        operation.finish?.();
        delete operation.finish;
      }
    },
  };
}
