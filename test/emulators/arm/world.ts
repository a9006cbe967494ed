import { type Clock, type Random, seededRandom, systemClock } from "@millwright/core";
import { createOperations, type OperationFailure, type Operations } from "./operations.ts";
import type { Disk, NetworkInterface, VirtualMachine } from "./resources.ts";

/** An image of the marketplace. */
export interface Image {
  /** Whose terms have to be accepted before it can be used. */
  readonly plan?: { readonly publisher: string; readonly name: string; readonly product: string };
}

/** A subnet. */
export interface Subnet {
  /** Addresses that are left at the start. Default: as many as anyone wants. */
  readonly addresses?: number;
}

/** A size of VMs. */
export interface VmSize {
  readonly vcpus: number;
  readonly memoryGb: number;
  readonly gpus?: number;
  readonly architecture: "x64" | "Arm64";
  /** Zones that have it. Default: 1, 2 and 3. */
  readonly zones?: readonly string[];
  /** What its cores count in beside those of the region. */
  readonly family?: string;
  /** Why the subscription cannot have it, in a zone or (without one) anywhere. */
  readonly restriction?: { readonly reasonCode: string; readonly zone?: string };
}

/** Who may ask for tokens: an application by its client id. */
export interface Application {
  readonly tenant: string;
  readonly secret?: string;
  /** The federated token that it may exchange. */
  readonly assertion?: string;
  /** Subscriptions that it may use. Default: all. */
  readonly subscriptions?: readonly string[];
}

/** What there is at the start, and how the cloud behaves. Everything has a default. */
export interface ArmWorldOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly location?: string;
  readonly groups?: readonly string[];
  /** Subnets by `group/network/subnet`. */
  readonly subnets?: Readonly<Record<string, Subnet>>;
  /** Images of the marketplace by `publisher:offer:sku:version`; those with an id all exist, but for ids that contain `missing`. */
  readonly images?: Readonly<Record<string, Image>>;
  readonly sizes?: Readonly<Record<string, VmSize>>;
  /** Applications by client id. Absent: any bearer token is taken. */
  readonly applications?: Readonly<Record<string, Application>>;
  /** Actions of Azure's access control that callers may do. Absent: all. */
  readonly actions?: readonly string[];
  /** The api-versions that this cloud has, by resource type (`Microsoft.Compute/virtualMachines`). Absent, or a type that is absent: all. */
  readonly apiVersions?: Readonly<Record<string, readonly string[]>>;
  /** How long tokens are good, milliseconds. Default 1 hour. */
  readonly tokenMs?: number;
  /** What making and changing a VM takes, milliseconds. Default 0. */
  readonly vmMs?: number;
  /** What deleting a VM takes, milliseconds. Default 0. */
  readonly deleteMs?: number;
  /** What making or deleting a NIC or a disk takes, milliseconds. Default 0. */
  readonly partMs?: number;
  /** How long the NIC of a VM that failed is kept for it, milliseconds. Default 180 s. */
  readonly reservationMs?: number;
  /** How long Resource Graph does not know what is new and still knows what is gone, milliseconds. Default 0. */
  readonly graphLagMs?: number;
  /** Cores that may run in the subscription. Default: any number. */
  readonly coreLimit?: number;
  /** Whether a lack of capacity is said at once and leaves no VM. Default false: the operation fails and leaves a failed VM. */
  readonly refusesCapacityAtOnce?: boolean;
  /** Resources in one page of a list. Default 100. */
  readonly pageSize?: number;
  /** Seconds that answers ask to wait before the next poll. Absent: they say nothing. */
  readonly pollAfterS?: number;
}

/** A token that was given out. */
export interface IssuedToken {
  readonly clientId: string;
  readonly expiresAtMs: number;
}

/** All that ARM knows. Times are those of the clock, in milliseconds. */
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
  /** Actions of Azure's access control that were asked for, allowed or not. */
  readonly askedActions: Set<string>;
  /** Plans whose terms have been accepted, by `publisher/product/name`. */
  readonly acceptedPlans: Set<string>;
  /** VMs that can still be made, by `size` or `size/zone`. Absent: any number. */
  readonly capacity: Map<string, number>;
  /** How the next creation of a VM ends, by its name. Absent: well, as far as there is capacity. */
  readonly vmFailures: Map<string, OperationFailure>;
  /** Resources by their id in lower case. */
  readonly vms: Map<string, VirtualMachine>;
  readonly nics: Map<string, NetworkInterface>;
  readonly disks: Map<string, Disk>;
  /** Names that Resource Graph still knows, with the time when they went. */
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

/** Makes a world. */
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
