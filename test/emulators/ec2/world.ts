import { type Clock, type Random, seededRandom, systemClock } from "@millwright/base";
import {
  type Instance,
  type InstanceState,
  type LifeTimes,
  type NetworkInterface,
  stateOf,
  type Volume,
} from "./instance.ts";

/** An image. */
export interface Image {
  /** Absent: the image does not declare it. */
  readonly rootDeviceName?: string;
  /** `x86_64`, `arm64`. Absent: the image does not declare it. */
  readonly architecture?: string;
  /** Default `available`. */
  readonly imageState?: string;
}

/** A subnet. */
export interface Subnet {
  readonly zone: string;
  /** Free addresses. Default: unlimited. */
  readonly addresses?: number;
  /** Naming of instances: by address or by ID (`PrivateDnsNameOptionsOnLaunch` of the subnet). Default `ip-name`. */
  readonly hostnameType?: "ip-name" | "resource-name";
}

/** A type of instances. */
export interface InstanceType {
  readonly vcpus: number;
  readonly memoryMiB: number;
  readonly gpus?: number;
  readonly architecture: string;
  readonly maximumNetworkCards?: number;
  /** Its zones. Default: all. */
  readonly zones?: readonly string[];
}

/** Credentials: the secret key of an access key ID, and its account. */
export interface AccessKey {
  readonly secretAccessKey: string;
  readonly account: string;
  readonly sessionToken?: string;
  readonly expiresAtMs?: number;
}

/** Initial state and behavior of the cloud. Everything has a default. */
export interface Ec2WorldOptions extends Partial<LifeTimes> {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly images?: Readonly<Record<string, Image>>;
  readonly subnets?: Readonly<Record<string, Subnet>>;
  readonly securityGroups?: readonly string[];
  readonly keyPairs?: readonly string[];
  readonly instanceProfiles?: readonly string[];
  readonly instanceTypes?: Readonly<Record<string, InstanceType>>;
  /** Access keys by ID. Absent: any signature is accepted. */
  readonly accessKeys?: Readonly<Record<string, AccessKey>>;
  /** Tokens of web identities that STS accepts, by the ARN of the role. */
  readonly webIdentities?: Readonly<Record<string, string>>;
  /** Lifetime of credentials of STS, milliseconds. Default 1 hour. */
  readonly sessionMs?: number;
  /** How long a new instance stays out of descriptions, milliseconds. Default 0. */
  readonly visibilityMs?: number;
  /** Quota of vCPUs of a region. Default: unlimited. */
  readonly vcpuLimit?: number;
  /** Whether a client token is also bound to the parameters of a rejected request. Default false, as documented. */
  readonly tokensRememberRefusals?: boolean;
}

/** The state of EC2. Times are those of the clock, in milliseconds. */
export interface Ec2World {
  readonly options: Ec2WorldOptions;
  readonly random: Random;
  readonly images: Map<string, Image>;
  readonly subnets: Map<string, Subnet>;
  readonly securityGroups: Set<string>;
  readonly keyPairs: Set<string>;
  readonly instanceProfiles: Set<string>;
  readonly instanceTypes: Map<string, InstanceType>;
  readonly accessKeys: Map<string, AccessKey> | undefined;
  readonly webIdentities: Map<string, string>;
  readonly instances: Map<string, Instance>;
  readonly volumes: Map<string, Volume>;
  readonly networkInterfaces: Map<string, NetworkInterface>;
  /** The parameters and the instance of a client token. */
  readonly tokens: Map<string, { readonly parameters: string; readonly instanceId: string | undefined }>;
  /** Remaining capacity, by `type` or `type/zone`. Absent: unlimited. */
  readonly capacity: Map<string, number>;
  times(): LifeTimes;
  nowMs(): number;
  now(): Date;
  state(instance: Instance): InstanceState | undefined;
  /** The instances that are shown now. */
  isVisible(instance: Instance): boolean;
  nextSequence(): number;
  /** Releases resources of terminated instances. */
  sweep(): void;
}

const defaultTypes: Readonly<Record<string, InstanceType>> = {
  "m5.large": { vcpus: 2, memoryMiB: 8_192, architecture: "x86_64" },
  "m5.xlarge": { vcpus: 4, memoryMiB: 16_384, architecture: "x86_64" },
  "m6g.large": { vcpus: 2, memoryMiB: 8_192, architecture: "arm64" },
  "p3.2xlarge": { vcpus: 8, memoryMiB: 62_464, gpus: 1, architecture: "x86_64" },
  "p4d.24xlarge": { vcpus: 96, memoryMiB: 1_179_648, gpus: 8, architecture: "x86_64", maximumNetworkCards: 4 },
};

/** Creates a world. */
export function createEc2World(options: Ec2WorldOptions = {}): Ec2World {
  const { clock = systemClock, random = seededRandom(20_261_121) } = options;
  const { pendingMs = 0, nameMs = 0, stoppingMs = 0, shutdownMs = 0, remembersMs = 3_600_000 } = options;
  const times: LifeTimes = { pendingMs, nameMs, stoppingMs, shutdownMs, remembersMs };
  const instances = new Map<string, Instance>();
  const volumes = new Map<string, Volume>();
  const networkInterfaces = new Map<string, NetworkInterface>();
  let sequence = 0;

  const nowMs = (): number => clock.monotonicMs();
  const state = (instance: Instance): InstanceState | undefined => stateOf(instance, times, nowMs());
  const isGone = (instanceId: string | undefined): boolean => {
    const instance = instances.get(instanceId ?? "");
    const now = instance === undefined ? undefined : state(instance);
    return now === undefined || now === "terminated";
  };

  return {
    options,
    random,
    images: new Map(
      Object.entries(options.images ?? { "ami-1": { rootDeviceName: "/dev/xvda", architecture: "x86_64" } }),
    ),
    subnets: new Map(
      Object.entries(options.subnets ?? { "subnet-a": { zone: "eu-west-1a" }, "subnet-b": { zone: "eu-west-1b" } }),
    ),
    securityGroups: new Set(options.securityGroups ?? ["sg-1", "sg-2"]),
    keyPairs: new Set(options.keyPairs ?? ["key"]),
    instanceProfiles: new Set(
      options.instanceProfiles ?? ["nodes", "arn:aws:iam::123456789012:instance-profile/nodes"],
    ),
    instanceTypes: new Map(Object.entries(options.instanceTypes ?? defaultTypes)),
    accessKeys: options.accessKeys === undefined ? undefined : new Map(Object.entries(options.accessKeys)),
    webIdentities: new Map(Object.entries(options.webIdentities ?? {})),
    instances,
    volumes,
    networkInterfaces,
    tokens: new Map(),
    capacity: new Map(),
    times: () => times,
    nowMs,
    now: () => clock.now(),
    state,
    isVisible: (instance) => nowMs() >= instance.visibleAtMs && state(instance) !== undefined,
    nextSequence: () => sequence++,
    sweep() {
      for (const held of [volumes, networkInterfaces]) {
        for (const [id, thing] of held) {
          if (thing.instanceId === undefined || !isGone(thing.instanceId)) continue;
          if (thing.deleteOnTermination) held.delete(id);
          else thing.instanceId = undefined;
        }
      }
      for (const [id, instance] of instances) if (state(instance) === undefined) instances.delete(id);
    },
  };
}
