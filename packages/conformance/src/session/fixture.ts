import type { Driver, NodeIdentity } from "@millwright/core";
import type { NodeTemplate } from "@millwright/core/machine-api";
import type { CloudTrait } from "../rules/rule.ts";

/** A MachineClass as far as drivers read it. */
export interface ProviderClass {
  /** Default: `conformance`. */
  readonly name?: string;
  readonly providerSpec: unknown;
  readonly nodeTemplate?: NodeTemplate;
}

/** Values of a class secret by key. */
export type SecretValues = Readonly<Record<string, string>>;

/** A VM as the cloud shows it, read without the driver. Terminated VMs are left out. */
export interface InventoryVm {
  readonly id: string;
  /** Name of its machine, from the name of the VM or its tags. */
  readonly machineName: string;
  /** All tags or labels. */
  readonly tags?: Readonly<Record<string, string>>;
  /** User data of the VM, if the cloud shows it. */
  readonly userData?: Uint8Array;
}

/** Ends what was staged. */
export type EndStage = () => void | Promise<void>;

/** How the driver reaches its cloud, so that the suite can put its fault proxy between them. */
export interface CloudEndpoint {
  /** Base URL of the cloud, `http` or `https`. */
  readonly url: string;
  /** PEM of the CA of an `https` cloud. Absent: that of the system. */
  readonly ca?: string;
  /** Key and certificate with which the proxy listens. Absent: plain HTTP. */
  readonly proxyTls?: { readonly key: string; readonly cert: string };
  /** A driver, class or secret that uses another base URL. What is left out stays as it is. A driver has to be a new instance. */
  through(url: string): {
    readonly driver?: Driver | Promise<Driver>;
    readonly machineClass?: ProviderClass;
    readonly secret?: SecretValues;
  };
  /** Whether a request is one to the API of the cloud, and not one for a token. Absent: all are. Errors of the cloud are staged for these. */
  isApiRequest?(request: { readonly method: string; readonly path: string }): boolean;
  /** An error in the format of the cloud. Absent: an empty body. */
  errorAnswer?(status: number): { readonly headers?: Readonly<Record<string, string>>; readonly body: string };
}

/** States of the cloud that the suite cannot reach through the driver. Each returns once the state is reached. */
export interface Stages {
  /** Creates a VM with the name of a machine and without ownership tags, as another user would. */
  readonly vmOfOtherOwner?: (machineName: string) => Promise<{ readonly providerId: string; readonly end: EndStage }>;
  /** Creates another VM with the tags of the VM of a machine. */
  readonly secondVm?: (machineName: string) => Promise<{ readonly end: EndStage }>;
  /** Creates VMs of the cluster of the class; they need not run. */
  readonly manyVms?: (count: number) => Promise<{ readonly end: EndStage }>;
  /** From now on VMs take minutes to terminate. */
  readonly slowDeletion?: () => Promise<{ readonly end: EndStage }>;
  /** From now on there is no quota or capacity. */
  readonly quotaExhausted?: () => Promise<{ readonly end: EndStage }>;
  /** Protects the VM of a machine against deletion. */
  readonly terminationProtection?: (machineName: string) => Promise<{ readonly end: EndStage }>;
  /** Attaches a volume that another client created to the VM of a machine. */
  readonly attachedVolume?: (
    machineName: string,
  ) => Promise<{ readonly exists: () => boolean | Promise<boolean>; readonly end: EndStage }>;
  /** Revokes the tokens that the cloud has issued for the credentials, as if they had expired. */
  readonly expireTokens?: () => void | Promise<void>;
  /** Removes the VM of a machine and leaves its parts. */
  readonly removeVmOnly?: (machineName: string) => Promise<void>;
}

/** What the suite cannot know of a cloud. Everything is optional: checks that need what is missing are skipped with that reason. */
export interface ConformanceFixture {
  /** Properties that the cloud does not have, each with the reason. Their rules do not apply. */
  readonly lacks?: Readonly<Partial<Record<CloudTrait, string>>>;
  /** Another instance of the driver, as after a restart. Absent: the given one is used again. */
  readonly createDriver?: () => Driver | Promise<Driver>;
  /** A class of the same cluster whose VMs differ, such as by size or image. */
  readonly otherClass?: ProviderClass;
  /** A class whose creations and deletions are pending at first. */
  readonly pendingClass?: ProviderClass;
  /** A class of another cluster in the same account. */
  readonly otherClusterClass?: ProviderClass;
  /** Classes that name something that does not exist, by what is missing: `image`, `subnet`. */
  readonly missingReferences?: Readonly<Record<string, ProviderClass>>;
  /** The class with additional tags; undefined where the class cannot set these. */
  readonly withTags?: (tags: Readonly<Record<string, string>>) => ProviderClass | undefined;
  /** Values of the class secret that may be printed, by key, such as an address or the id of an account. */
  readonly publicSecretKeys?: readonly string[];
  /** Credentials of the right form that the cloud rejects. */
  readonly rejectedSecret?: SecretValues;
  /** Replaces the credentials in the cloud: the former ones are rejected from then on. Returns the new secret. */
  readonly rotateSecret?: () => SecretValues | Promise<SecretValues>;
  readonly endpoint?: CloudEndpoint;
  /** Hosts that the driver may connect to, besides that of the endpoint. */
  readonly connectsTo?: readonly string[];
  /** The VMs in the cloud. */
  readonly inventory?: () => readonly InventoryVm[] | Promise<readonly InventoryVm[]>;
  /** Ids of all resources that creations lead to: VMs, disks, network interfaces. */
  readonly resources?: () => readonly string[] | Promise<readonly string[]>;
  /** VMs on a full page of a list. A few pages are enough then, which the driver itself can create; without it 2,500 VMs are staged. */
  readonly pageSize?: number;
  /** The largest user data of a VM, bytes. */
  readonly maxUserDataBytes?: number;
  /** A PersistentVolume of the cloud, and the id by which nodes report it. */
  readonly ownVolume?: { readonly spec: Readonly<Record<string, unknown>>; readonly id: string };
  /** The Node of the VM of a machine, in each form that a cloud controller manager writes, by the name of the form. */
  readonly nodesOf?: (
    machineName: string,
  ) => Readonly<Record<string, NodeIdentity>> | Promise<Readonly<Record<string, NodeIdentity>>>;
  readonly stage?: Stages;
  /** Releases what the fixture keeps of requests, such as the log of an emulator in this process: memory is measured next. */
  readonly releaseMemory?: () => void;
  /** Called at the end. */
  readonly close?: () => void | Promise<void>;
}

/** A fixture of one run, and what the suite runs with unless its caller names it. */
export interface FixtureSetup extends ConformanceFixture {
  readonly driver?: Driver;
  readonly machineClass?: ProviderClass;
  readonly secret?: SecretValues;
}

/** Sets up a fixture, such as an emulator of the cloud; called once for each run. */
export type FixtureFactory = () => FixtureSetup | Promise<FixtureSetup>;

/**
 * Types the default export of a fixture module, for `--fixture` of `millwright conformance`.
 *
 * @example
 * export default defineFixture(async () => {
 *   const cloud = await startCloud();
 *   return { inventory: () => cloud.vms(), close: () => cloud.close() };
 * });
 */
export const defineFixture = (factory: FixtureFactory): FixtureFactory => factory;
