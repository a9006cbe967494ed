import type { Disk, ResourceSku, VirtualMachine } from "@azure/arm-compute";
import type { NetworkInterface } from "@azure/arm-network";
import { type Asking, createBatch, type PooledSession } from "@millwright/core/driver-kit";
import type { AzureApi, Plan } from "../api/requests.ts";
import type { Urn } from "../spec/storage.ts";
import { needsInstanceView } from "./vm-state.ts";

/** One subscription seen with one credential: the requests, and the questions that many machines ask at once. */
export interface Session extends PooledSession {
  readonly api: AzureApi;
  readonly subscriptionId: string;
  /** The VM with a name, with its instance view if its state needs it. Concurrent lookups share one list. */
  vm(group: string, name: string, asking: Asking): Promise<VirtualMachine | undefined>;
  /** All VMs of a resource group. Who asks at about the same time shares one list. */
  vms(group: string, asking: Asking): Promise<readonly VirtualMachine[]>;
  /** All NICs of a resource group. */
  nics(group: string, asking: Asking): Promise<readonly NetworkInterface[]>;
  /** All disks of a resource group. */
  disks(group: string, asking: Asking): Promise<readonly Disk[]>;
  /** An image of the marketplace; found ones are asked for once: their plan never changes. Undefined when there is none. */
  image(location: string, urn: Urn, asking: Asking): Promise<{ readonly plan: Plan | undefined } | undefined>;
  /** Accepts the terms of a plan, once. */
  acceptTerms(plan: Plan, asking: Asking): Promise<void>;
  /** A size of VMs; the list of a location is long and asked for once in an hour. */
  size(location: string, name: string, asking: Asking): Promise<ResourceSku | undefined>;
}

/** How long the first question waits for others: not noticed beside a request, and enough for a set that starts its machines. */
const windowMs = 10;
/** VMs that are asked for one by one; more at once are one list. */
const fewVms = 3;
const sizesAreGoodForMs = 3_600_000;
const maxKeys = 10_000;

/** Starts a session. */
export function createSession(api: AzureApi, subscriptionId: string): Session {
  const vmsOf = new Map<string, ReturnType<typeof createBatch<VirtualMachine>>>();
  const images = new Map<string, { readonly plan: Plan | undefined }>();
  const accepted = new Set<string>();
  let sizes: { readonly location: string; readonly atMs: number; readonly list: readonly ResourceSku[] } | undefined;

  /** One list for all who ask for a resource group at about the same time. */
  const sharedList = <T>(list: (group: string, signal: AbortSignal) => Promise<readonly T[]>) =>
    createBatch<readonly T[]>({
      maxKeys,
      windowMs,
      ask: async (groups, signal) =>
        new Map(await Promise.all(groups.map(async (group) => [group, await list(group, signal)] as const))),
    });
  const vmLists = sharedList((group, signal) => api.listVms(group, signal));
  const nicLists = sharedList((group, signal) => api.listNics(group, signal));
  const diskLists = sharedList((group, signal) => api.listDisks(group, signal));
  const imageBatch = createBatch<{ readonly plan: Plan | undefined }>({
    maxKeys,
    windowMs,
    ask: async (keys, signal) => {
      for (const key of keys) {
        const [location = "", publisher = "", offer = "", sku = "", version = ""] = key.split(":");
        const found = await api.getImage(location, { publisher, offer, sku, version }, signal);
        if (found !== undefined) images.set(key, found);
      }
      return images;
    },
  });
  const sizeBatch = createBatch<readonly ResourceSku[]>({
    maxKeys,
    windowMs,
    ask: async (locations, signal) =>
      new Map(await Promise.all(locations.map(async (at) => [at, await api.listSizes(at, signal)] as const))),
  });
  const termsBatch = createBatch<true>({
    maxKeys,
    windowMs,
    ask: async (keys, signal) => {
      for (const key of keys) {
        const [publisher = "", product = "", name = ""] = key.split(":");
        await api.acceptTerms({ publisher, product, name }, signal);
        accepted.add(key);
      }
      return new Map(keys.map((key) => [key, true]));
    },
  });

  /** A list shows no instance views. */
  const whole = async (
    group: string,
    vm: VirtualMachine | undefined,
    signal: AbortSignal,
  ): Promise<VirtualMachine | undefined> =>
    vm !== undefined && needsInstanceView(vm) ? api.getVm(group, vm.name ?? "", signal, true) : vm;

  const vmBatch = (group: string): ReturnType<typeof createBatch<VirtualMachine>> => {
    const known =
      vmsOf.get(group) ??
      createBatch<VirtualMachine>({
        maxKeys,
        windowMs,
        ask: async (names, signal) => {
          const found =
            names.length <= fewVms
              ? await Promise.all(names.map((name) => api.getVm(group, name, signal)))
              : (await api.listVms(group, signal)).filter(({ name = "" }) => names.includes(name.toLowerCase()));
          const vms = await Promise.all(found.map((vm) => whole(group, vm, signal)));
          return new Map(vms.flatMap((vm) => (vm === undefined ? [] : [[(vm.name ?? "").toLowerCase(), vm]])));
        },
      });
    vmsOf.set(group, known);
    return known;
  };

  return {
    api,
    subscriptionId,
    close: () => api.close(),
    vm: (group, name, asking) => vmBatch(group)(name.toLowerCase(), asking),
    vms: async (group, asking) => (await vmLists(group, asking)) ?? [],
    nics: async (group, asking) => (await nicLists(group, asking)) ?? [],
    disks: async (group, asking) => (await diskLists(group, asking)) ?? [],
    async image(location, { publisher, offer, sku, version }, asking) {
      const key = [location, publisher, offer, sku, version].join(":");
      return images.get(key) ?? imageBatch(key, asking);
    },
    async acceptTerms({ publisher, product, name }, asking) {
      const key = [publisher, product, name].join(":");
      if (!accepted.has(key)) await termsBatch(key, asking);
    },
    async size(location, name, asking) {
      const nowMs = asking.clock.monotonicMs();
      if (sizes?.location !== location || nowMs - sizes.atMs > sizesAreGoodForMs) {
        sizes = { location, atMs: nowMs, list: (await sizeBatch(location, asking)) ?? [] };
      }
      return sizes.list.find((size) => size.name?.toLowerCase() === name.toLowerCase());
    },
  };
}
