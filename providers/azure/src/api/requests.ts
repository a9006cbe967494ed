import type { Disk, ResourceSku, VirtualMachine, VirtualMachineUpdate } from "@azure/arm-compute";
import type { NetworkInterface } from "@azure/arm-network";
import type { ReadableType } from "./read-resource.ts";
import type { Urn } from "../spec/storage.ts";

/** The plan of an image of the marketplace. */
export interface Plan {
  readonly name: string;
  readonly product: string;
  readonly publisher: string;
}

/**
 * The requests that the driver makes. They reject with what the SDKs threw, and with the signal's reason when it aborts. Those that make, change or delete resolve when Azure has done it, not
 * when it has accepted it: a lack of capacity is only reported at the end.
 */
export interface AzureApi {
  /** Undefined when there is none, or no such resource group. */
  getVm(group: string, name: string, signal: AbortSignal, isExpanded?: boolean): Promise<VirtualMachine | undefined>;
  listVms(group: string, signal: AbortSignal): Promise<readonly VirtualMachine[]>;
  /** The VM when nothing goes on with it any more; undefined when there is none. Many that are waited for are read together. */
  settledVm(group: string, name: string, signal: AbortSignal): Promise<VirtualMachine | undefined>;
  /** Makes a VM, and never changes one that exists: then it rejects with status 412. */
  createVm(group: string, name: string, input: VirtualMachine, signal: AbortSignal): Promise<VirtualMachine>;
  updateVm(group: string, name: string, input: VirtualMachineUpdate, signal: AbortSignal): Promise<void>;
  deleteVm(group: string, name: string, signal: AbortSignal): Promise<void>;
  listNics(group: string, signal: AbortSignal): Promise<readonly NetworkInterface[]>;
  /** @see settledVm */
  settledNic(group: string, name: string, signal: AbortSignal): Promise<NetworkInterface | undefined>;
  putNic(group: string, name: string, input: NetworkInterface, signal: AbortSignal): Promise<NetworkInterface>;
  deleteNic(group: string, name: string, signal: AbortSignal): Promise<void>;
  listDisks(group: string, signal: AbortSignal): Promise<readonly Disk[]>;
  /** @see settledVm */
  settledDisk(group: string, name: string, signal: AbortSignal): Promise<Disk | undefined>;
  putDisk(group: string, name: string, input: Disk, signal: AbortSignal): Promise<Disk>;
  deleteDisk(group: string, name: string, signal: AbortSignal): Promise<void>;
  /** The plan of an image of the marketplace, if it has one. Undefined when there is no such image. */
  getImage(location: string, urn: Urn, signal: AbortSignal): Promise<{ readonly plan: Plan | undefined } | undefined>;
  /** Accepts the terms of a plan, unless they are accepted. */
  acceptTerms(plan: Plan, signal: AbortSignal): Promise<void>;
  /** The sizes of VMs that a location has. */
  listSizes(location: string, signal: AbortSignal): Promise<readonly ResourceSku[]>;
  /**
   * A resource as plain JSON, for checks of classes; undefined when there is none.
   *
   * @param path from the root of ARM: the id of a resource
   */
  getResource(type: ReadableType, path: string, signal: AbortSignal): Promise<unknown>;
  /** All items of a list as plain JSON; undefined when what it is about does not exist. */
  listResources(type: ReadableType, path: string, signal: AbortSignal): Promise<readonly unknown[] | undefined>;
  /** Closes the connections. Calls that are under way fail. */
  close(): void;
}
