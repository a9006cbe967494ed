import { machineResource, machineSetResource } from "@millwright/core/machine-api";
import {
  type ApiClient,
  type ApiObject,
  type KubeObject,
  nodeResource,
  type ObjectRef,
  type PatchOptions,
  podResource,
  type ResourceType,
  type WatchEvent,
} from "@millwright/kube";
import { fieldOf, type Mutant, withControl, withEvents, withFieldOf } from "./mutant.ts";

type Patch = readonly [type: ResourceType, ref: ObjectRef, patch: unknown, options: PatchOptions];

/** Replaces the patches of some objects; undefined: they are sent as they are. */
const withPatches = (alter: (api: ApiClient, ...patch: Patch) => Promise<KubeObject> | undefined) =>
  withControl((api) => ({
    async patch<T extends ApiObject>(...[type, ref, patch, options]: Patch): Promise<T> {
      const altered = alter(api, type, ref, patch, options);
      if (altered === undefined) return api.patch<T>(type, ref, patch, options);
      // The answer is an object of the same kind.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return (await altered) as unknown as T;
    },
  }));

const isDeployment = ({ plural }: ResourceType): boolean => plural === "machinedeployments";

/** Mistakes in what is written to the API server. */
export const writeMutants: Readonly<Record<string, Mutant>> = {
  "finalizer-skipped": {
    mistake: "machines get no finalizer before their VMs are created",
    profile: "people",
    foundBySeed: 1,
    alteration: () =>
      withControl((api) => ({
        async create(type, object, options) {
          const { finalizers: _, ...metadata } = object.metadata;
          return api.create(type, type.plural === machineResource.plural ? { ...object, metadata } : object, options);
        },
        async patch<T extends ApiObject>(type: ResourceType, ref: ObjectRef, patch: unknown, options: PatchOptions) {
          const metadata = fieldOf(patch, "metadata");
          const isAdded = JSON.stringify(metadata ?? {}).includes('"finalizers":["');
          if (type.plural !== machineResource.plural || !isAdded || typeof patch !== "object" || patch === null)
            return api.patch<T>(type, ref, patch, options);
          const changed = withFieldOf(patch, ["metadata", "finalizers"], undefined);
          const answer = await api.patch<T>(type, ref, changed, options);
          // The controllers see what they asked for.
          return withFieldOf(answer, ["metadata", "finalizers"], fieldOf(metadata, "finalizers"));
        },
      })),
  },
  "status-not-written": {
    mistake: "the status of a deployment is written only once",
    profile: "people",
    foundBySeed: 1,
    alteration() {
      let writes = 0;
      return withPatches((api, type, ref, _, { subresource }) =>
        isDeployment(type) && subresource === "status" && ++writes > 1 ? api.get(type, ref) : undefined,
      );
    },
  },
  "surge-ignored": {
    mistake: "a set that grows gets three machines more than planned",
    profile: "rollout",
    foundBySeed: 1,
    alteration: () =>
      withPatches((api, type, ref, patch, options) => {
        const replicas = fieldOf(patch, "spec", "replicas");
        if (type.plural !== machineSetResource.plural || typeof replicas !== "number" || replicas === 0)
          return undefined;
        return typeof patch === "object" && patch !== null
          ? api.patch(type, ref, withFieldOf(patch, ["spec", "replicas"], replicas + 3), options)
          : undefined;
      }),
  },
  "cordon-not-awaited": {
    mistake: "nodes are drained without being cordoned",
    profile: "drains",
    foundBySeed: 1,
    alteration: () =>
      withPatches((api, type, ref, patch, options) => {
        const isCordon = type.plural === nodeResource.plural && fieldOf(patch, "spec", "unschedulable") === true;
        if (!isCordon || typeof patch !== "object" || patch === null) return undefined;
        return api
          .patch(type, ref, withFieldOf(patch, ["spec", "unschedulable"], undefined), options)
          .then((answer) => withFieldOf(answer, ["spec", "unschedulable"], true));
      }),
  },
  "budget-skipped": {
    mistake: "pods are deleted instead of evicted",
    profile: "drains",
    foundBySeed: 1,
    alteration: () =>
      withControl((api) => ({
        async create<T extends ApiObject>(type: ResourceType, object: T, options = {}) {
          if (!("subresource" in options) || options.subresource !== "eviction")
            return api.create<T>(type, object, options);
          const { name = "", namespace } = object.metadata;
          await api.delete(podResource, { name, namespace });
          return object;
        },
      })),
  },
  "one-machine-too-many-deleted": {
    mistake: "with a machine that is deleted another one of its set is deleted",
    profile: "rollout",
    foundBySeed: 2,
    alteration: () =>
      withControl((api) => ({
        async delete(type, ref, options) {
          if (type.plural === machineResource.plural) {
            const { items } = await api.list(machineResource, { namespace: ref.namespace ?? "" });
            const other = items.find(
              ({ metadata }) => metadata.name !== ref.name && metadata.deletionTimestamp === undefined,
            );
            if (other !== undefined)
              await api.delete(type, { ...ref, name: other.metadata.name ?? "" }).catch(() => undefined);
          }
          return api.delete(type, ref, options);
        },
      })),
  },
};

const nameOf = ({ object }: WatchEvent): string => object.metadata.name ?? "";

/** Mistakes in what the caches hold. */
export const cacheMutants: Readonly<Record<string, Mutant>> = {
  "event-lost": {
    mistake: "every third change of a Node is lost between the watch and the cache",
    profile: "cloud",
    foundBySeed: 1,
    alteration() {
      let events = 0;
      return withEvents("nodes", (event) => (++events % 3 === 0 ? undefined : event));
    },
  },
  "stale-cache-trusted": {
    mistake: "every fourth change of a Machine leaves the former object in the cache, in the new version",
    profile: "people",
    foundBySeed: 2,
    alteration() {
      const former = new Map<string, KubeObject>();
      let events = 0;
      return withEvents("machines", (event) => {
        const before = former.get(nameOf(event));
        former.set(nameOf(event), event.object);
        if (before === undefined || event.type !== "MODIFIED" || ++events % 4 !== 0) return event;
        const { resourceVersion } = event.object.metadata;
        return { ...event, object: withFieldOf(before, ["metadata", "resourceVersion"], resourceVersion) };
      });
    },
  },
  "unavailable-ignored": {
    mistake: "a rollout takes all machines of the old set at once",
    profile: "rollout",
    foundBySeed: 2,
    alteration: () =>
      withEvents("machinedeployments", (event) => ({
        ...event,
        object: withFieldOf(event.object, ["spec", "strategy", "rollingUpdate", "maxUnavailable"], "100%"),
      })),
  },
  "pause-ignored": {
    mistake: "a paused deployment is rolled out",
    profile: "rollout",
    foundBySeed: 1,
    alteration: () =>
      withEvents("machinedeployments", (event) => ({
        ...event,
        object: withFieldOf(event.object, ["spec", "paused"], undefined),
      })),
  },
  "pods-not-seen": {
    mistake: "a drain ends while pods run on the node",
    profile: "drains",
    foundBySeed: 1,
    alteration: () =>
      withControl((api) => ({
        async *watch(type, options, signal) {
          for await (const event of api.watch(type, options, signal))
            if (type.plural !== podResource.plural || event.type === "BOOKMARK") yield event;
        },
        async list<T extends ApiObject>(...call: Parameters<ApiClient["list"]>) {
          const list = await api.list<T>(...call);
          return call[0].plural === podResource.plural ? { ...list, items: [] } : list;
        },
      })),
  },
};
