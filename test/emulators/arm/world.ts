import { type Clock, type Random, seededRandom, systemClock } from "@millwright/base";
import { createOperations, type OperationFailure, type Operations } from "./operations.ts";
import type { Disk, NetworkInterface, VirtualMachine } from "./resources.ts";

/** An image of the marketplace. */
export interface Image {
  /** The plan whose terms have to be accepted first. */
  readonly plan?: { readonly publisher: string; readonly name: string; readonly product: string };
}

/** A subnet. */
export interface Subnet {
  /** Free addresses at the start. Default: unlimited. */
  readonly addresses?: number;
}

/** A size of VMs. */
export interface VmSize {
  readonly vcpus: number;
  readonly memoryGb: number;
  readonly gpus?: number;
  readonly architecture: "x64" | "Arm64";
  /** Its zones. Default: 1, 2 and 3. */
  readonly zones?: readonly string[];
  /** The quota of its cores besides that of the region. */
  readonly family?: string;
  /** Why the subscription cannot use it, in a zone or (without one) anywhere. */
  readonly restriction?: { readonly reasonCode: string; readonly zone?: string };
}

/** An application that may request tokens, by its client ID. */
export interface Application {
  readonly tenant: string;
  readonly secret?: string;
  /** Its federated token. */
  readonly assertion?: string;
  /** Subscriptions that it may use. Default: all. */
  readonly subscriptions?: readonly string[];
}

/** Initial state and behavior of the cloud. Everything has a default. */
export interface ArmWorldOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly location?: string;
  readonly groups?: readonly string[];
  /** Subnets by `group/network/subnet`. */
  readonly subnets?: Readonly<Record<string, Subnet>>;
  /** Images of the marketplace by `publisher:offer:sku:version`; images with an ID all exist, except for IDs that contain `missing`. */
  readonly images?: Readonly<Record<string, Image>>;
  readonly sizes?: Readonly<Record<string, VmSize>>;
  /** Applications by client ID. Absent: any bearer token is accepted. */
  readonly applications?: Readonly<Record<string, Application>>;
  /** Allowed Azure RBAC actions. Absent: all. */
  readonly actions?: readonly string[];
  /** The supported api-versions, by resource type (`Microsoft.Compute/virtualMachines`). Absent, or a type that is absent: all. */
  readonly apiVersions?: Readonly<Record<string, readonly string[]>>;
  /** Lifetime of tokens, milliseconds. Default 1 hour. */
  readonly tokenMs?: number;
  /** Duration of creations and updates of a VM, milliseconds. Default 0. */
  readonly vmMs?: number;
  /** Duration of deletions of a VM, milliseconds. Default 0. */
  readonly deleteMs?: number;
  /** Duration of creations and deletions of a NIC or a disk, milliseconds. Default 0. */
  readonly partMs?: number;
  /** How long the NIC of a failed VM stays reserved, milliseconds. Default 180 s. */
  readonly reservationMs?: number;
  /** Delay with which Resource Graph shows creations and deletions, milliseconds. Default 0. */
  readonly graphLagMs?: number;
  /** Quota of cores of the subscription. Default: unlimited. */
  readonly coreLimit?: number;
  /** Whether missing capacity is reported at once and leaves no VM. Default false: the operation fails and leaves a failed VM. */
  readonly refusesCapacityAtOnce?: boolean;
  /** Resources in one page of a list. Default 100. */
  readonly pageSize?: number;
  /** Seconds of the `Retry-After` header before the next poll. Absent: no header. */
  readonly pollAfterS?: number;
}

/** An issued token. */
export interface IssuedToken {
  readonly clientId: string;
  readonly expiresAtMs: number;
}

/** The state of ARM. Times are those of the clock, in milliseconds. */
export interface ArmWorld {
  readonly options: ArmWorldOptions;
  readonly random: Random;
  readonly location: string;
  readonly groups: Set<string>;
  readonly subnets: Map<string, Subnet>;
  readonly images: Map<string, Image>;
  readonly sizes: Map<string, VmSize>;
  readonly applications: Map<string, Application> | undefined;
  readonly tokens: Map<string, IssuedToken>;
  /** Requested Azure RBAC actions, allowed or not. */
  readonly askedActions: Set<string>;
  /** Plans whose terms have been accepted, by `publisher/product/name`. */
  readonly acceptedPlans: Set<string>;
  /** Remaining capacity, by `size` or `size/zone`. Absent: unlimited. */
  readonly capacity: Map<string, number>;
  /** Outcome of the next creation of a VM, by its name. Absent: success, if there is capacity. */
  readonly vmFailures: Map<string, OperationFailure>;
  /** Resources by their ID in lower case. */
  readonly vms: Map<string, VirtualMachine>;
  readonly nics: Map<string, NetworkInterface>;
  readonly disks: Map<string, Disk>;
  /** Names that Resource Graph still shows, with the time of their deletion. */
  readonly gone: {
    readonly type: string;
    readonly name: string;
    readonly group: string;
    readonly tags: object;
    readonly goneAtMs: number;
  }[];
  readonly operations: Operations;
  nowMs(): number;
  now(): Date;
  nextSequence(): number;
}

const defaultSizes: Readonly<Record<string, VmSize>> = {
  Standard_D2s_v5: { vcpus: 2, memoryGb: 8, architecture: "x64", family: "standardDSv5Family" },
  Standard_D4s_v5: { vcpus: 4, memoryGb: 16, architecture: "x64" },
  Standard_D2ps_v5: { vcpus: 2, memoryGb: 8, architecture: "Arm64", zones: ["1", "2"] },
  Standard_NC6s_v3: { vcpus: 6, memoryGb: 112, gpus: 1, architecture: "x64" },
};

const defaultImages: Readonly<Record<string, Image>> = {
  "canonical:ubuntu:24_04:latest": {},
  "kinvolk:flatcar:stable:4081.2.0": { plan: { publisher: "kinvolk", name: "stable", product: "flatcar" } },
};

/** Creates a world. */
export function createArmWorld(options: ArmWorldOptions = {}): ArmWorld {
  const { clock = systemClock, random = seededRandom(20_261_121), location = "westeurope" } = options;
  const nowMs = (): number => clock.monotonicMs();
  let sequence = 0;
  return {
    options,
    random,
    location,
    groups: new Set((options.groups ?? ["shoot", "net"]).map((group) => group.toLowerCase())),
    subnets: new Map(Object.entries(options.subnets ?? { "shoot/vnet/nodes": {}, "net/shared/nodes": {} })),
    images: new Map(Object.entries(options.images ?? defaultImages)),
    sizes: new Map(Object.entries(options.sizes ?? defaultSizes)),
    applications: options.applications === undefined ? undefined : new Map(Object.entries(options.applications)),
    tokens: new Map(),
    askedActions: new Set(),
    acceptedPlans: new Set(),
    capacity: new Map(),
    vmFailures: new Map(),
    vms: new Map(),
    nics: new Map(),
    disks: new Map(),
    gone: [],
    operations: createOperations(nowMs, random),
    nowMs,
    now: () => clock.now(),
    nextSequence: () => sequence++,
  };
}
