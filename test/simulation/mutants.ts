import { type Driver, machineResource } from "@millwright/core";
import type { ApiClient, ApiObject, ObjectRef, PatchOptions, ResourceType } from "@millwright/kube";
import type { MockCloud } from "@millwright/provider-mock";
import type { ManagerOptions } from "@millwright/runtime";
import type { Alteration } from "./world/controller-process.ts";

/** A deliberate mistake of the controllers, which a simulation must find. */
export interface Mutant {
  readonly mistake: string;
  readonly profile: string;
  /** The first seed of the profile that finds it. */
  readonly foundBySeed: number;
  /** Makes the mistake in one process. */
  readonly alteration: () => Alteration;
}

const withControl = (alter: (api: ApiClient) => ApiClient): Alteration => ({
  manager(options: ManagerOptions) {
    const control = alter(options.control);
    return { ...options, control, target: control };
  },
});

const withCloud = (alter: (cloud: MockCloud) => MockCloud): Alteration => ({ cloud: alter });

const withDriver = (alter: (driver: Driver) => Driver): Alteration => ({
  manager: (options) => ({ ...options, drivers: options.drivers.map(alter) }),
});

const isStatusOf = (plural: string, type: { readonly plural: string }, subresource: string | undefined): boolean =>
  type.plural === plural && subresource === "status";

/** All mistakes, by name. They are made at the seams of the controllers: no production code knows of them. */
export const mutants: Readonly<Record<string, Mutant>> = {
  "finalizer-skipped": {
    mistake: "machines get no finalizer before their VMs are created",
    profile: "people",
    foundBySeed: 1,
    alteration: () =>
      withControl((api) => ({
        ...api,
        async create(type, object, options) {
          const { finalizers: _, ...metadata } = object.metadata;
          return api.create(type, type.plural === machineResource.plural ? { ...object, metadata } : object, options);
        },
        async patch<T extends ApiObject>(type: ResourceType, ref: ObjectRef, patch: unknown, options: PatchOptions) {
          if (type.plural !== machineResource.plural || typeof patch !== "object" || patch === null)
            return api.patch<T>(type, ref, patch, options);
          const metadata: unknown = Reflect.get(patch, "metadata");
          const isAdded = JSON.stringify(metadata ?? {}).includes('"finalizers":["');
          if (!isAdded || typeof metadata !== "object" || metadata === null)
            return api.patch<T>(type, ref, patch, options);
          const changed = { ...patch, metadata: { ...metadata, finalizers: undefined } };
          const answer = await api.patch<T>(type, ref, changed, options);
          // The controllers see what they asked for.
          const finalizers: unknown = Reflect.get(metadata, "finalizers");
          return Object.assign({}, answer, { metadata: Object.assign({}, answer.metadata, { finalizers }) });
        },
      })),
  },
  "vm-deletion-assumed": {
    mistake: "a VM counts as deleted before the cloud has confirmed that",
    profile: "people",
    foundBySeed: 1,
    alteration: () => withDriver((driver) => ({ ...driver, deleteMachine: async () => ({ vm: "ended" }) })),
  },
  "vm-of-another-machine": {
    mistake: "the cloud is asked to delete the VM before that of the machine",
    profile: "people",
    foundBySeed: 1,
    alteration() {
      let last: string | undefined;
      return withCloud((cloud) => ({
        ...cloud,
        async createVm(input, call) {
          const vm = await cloud.createVm(input, call);
          last = vm.id;
          return vm;
        },
        deleteVm: (ref, call) => cloud.deleteVm(last ?? ref, call),
      }));
    },
  },
  "event-lost": {
    mistake: "every eighth change of a Node is lost between the watch and the cache",
    profile: "people",
    foundBySeed: 2,
    alteration() {
      let events = 0;
      return withControl((api) => ({
        ...api,
        async *watch(type, options, signal) {
          for await (const event of api.watch(type, options, signal)) {
            if (type.plural === "nodes" && event.type !== "BOOKMARK" && ++events % 8 === 0) continue;
            yield event;
          }
        },
      }));
    },
  },
  "no-lease-required": {
    mistake: "a process acts without waiting for the leases",
    profile: "processes",
    foundBySeed: 2,
    alteration: () => ({
      manager({ leadership, ...options }) {
        const acquired = async (signal?: AbortSignal): Promise<void> =>
          void leadership?.acquired(signal).catch(() => undefined);
        return { ...options, leadership: { acquired, fence: () => undefined, lost: new AbortController().signal } };
      },
    }),
  },
  "status-not-written": {
    mistake: "the status of a deployment is written only once",
    profile: "people",
    foundBySeed: 1,
    alteration() {
      let writes = 0;
      return withControl((api) => ({
        ...api,
        patch: async (type, ref, patch, options) =>
          isStatusOf("machinedeployments", type, options.subresource) && ++writes > 1
            ? api.get(type, ref)
            : api.patch(type, ref, patch, options),
      }));
    },
  },
};
