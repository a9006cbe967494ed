import { isRecord } from "@millwright/base";
import {
  annotationKeys,
  type Machine,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import type { ApiClient, KubeObject } from "@millwright/kube";
import { isLive } from "@millwright/provider-mock";
import { namespace } from "../world/controller-process.ts";
import { fieldOf, type Mutant, withControl, withEvents, withFieldOf } from "./mutant.ts";

/** Mistakes with what people requested, and what they did not. */
export const requestMutants: Readonly<Record<string, Mutant>> = {
  "quarantine-skipped": {
    mistake: "a VM without machine is deleted once a list shows it",
    profile: "manifests",
    foundBySeed: 2,
    alteration() {
      let api: ApiClient | undefined;
      return {
        manager(options) {
          api = options.control;
          return options;
        },
        cloud: (cloud) => ({
          ...cloud,
          async listVms(filter, call) {
            const vms = await cloud.listVms(filter, call);
            const { items } = (await api?.list<Machine>(machineResource, { namespace })) ?? { items: [] };
            const ids = new Set(items.map(({ spec }) => spec.providerID));
            for (const vm of vms) if (isLive(vm) && !ids.has(vm.providerId)) await cloud.deleteVm(vm.id, call);
            return vms;
          },
        }),
      };
    },
  },
  "restored-machines-deleted": {
    mistake: "a machine that is created with a provider id is deleted",
    profile: "restores",
    foundBySeed: 2,
    alteration: () => ({
      manager(options) {
        const { control: api, leadership } = options;
        const remove = async ({ metadata }: KubeObject): Promise<void> => {
          leadership?.fence();
          await api.delete(machineResource, { namespace, name: metadata.name ?? "" });
        };
        const control: ApiClient = {
          ...api,
          async *watch(type, watchOptions, signal) {
            for await (const event of api.watch(type, watchOptions, signal)) {
              const isRestored = event.type === "ADDED" && fieldOf(event.object, "spec", "providerID") !== undefined;
              if (type.plural === machineResource.plural && isRestored)
                await remove(event.object).catch(() => undefined);
              yield event;
            }
          },
        };
        return { ...options, control, target: control };
      },
    }),
  },
  "copy-kept": {
    mistake: "instead of the copy of a machine the machine itself is deleted",
    profile: "manifests",
    foundBySeed: 3,
    alteration: () =>
      withControl((api) => ({
        delete: (type, ref, options) => {
          const [name = "", ...copies] = ref.name.split("-copy");
          const isCopy = type.plural === machineResource.plural && copies.length > 0;
          return api.delete(type, isCopy ? { ...ref, name } : ref, isCopy ? {} : options);
        },
      })),
  },
  "share-ignored": {
    mistake: "whatever people and programs request is deleted, however much it is",
    profile: "fleet",
    foundBySeed: 6,
    alteration: () => ({ manager: (options) => ({ ...options, maxDeletionShare: 0 }) }),
  },
  "approval-never-ends": {
    mistake: "whatever people approved once approves all that comes after it",
    profile: "fleet",
    foundBySeed: 7,
    alteration: () => {
      const path = ["metadata", "annotations", annotationKeys.approveDeletions] as const;
      return withEvents(machineDeploymentResource.plural, (event) =>
        fieldOf(event.object, ...path) === undefined
          ? event
          : { ...event, object: withFieldOf(event.object, path, "2099-01-01T00:00:00Z") },
      );
    },
  },
  "lost-machines-forgotten": {
    mistake: "a set that is scaled down forgets the machines that it has lost",
    profile: "fleet",
    foundBySeed: 24,
    alteration: () =>
      withControl((api) => ({
        patch(type, ref, patch, options) {
          const isScaled =
            type.plural === machineSetResource.plural &&
            isRecord(patch) &&
            fieldOf(patch, "spec", "replicas") !== undefined;
          const path = ["metadata", "annotations", annotationKeys.expectedReplicas] as const;
          return api.patch(type, ref, isScaled ? withFieldOf(patch, path, null) : patch, options);
        },
      })),
  },
  "namespace-left": {
    mistake: "machines keep their finalizers while their namespace is terminating",
    profile: "namespaces",
    foundBySeed: 1,
    alteration: () =>
      withControl((api) => ({
        async patch(type, ref, patch, options) {
          const isMachine = type.plural === machineResource.plural && ref.namespace !== namespace;
          const isRelease = isMachine && JSON.stringify(patch).includes('"finalizers":[]');
          return isRelease ? api.get(type, ref) : api.patch(type, ref, patch, options);
        },
      })),
  },
};
