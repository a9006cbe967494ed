// The types of objects are claims of the callers, as in ApiClient.
// oxlint-disable typescript/no-unnecessary-type-parameters
import { type Clock, type Random, type ResourceType, seededRandom, systemClock } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import { patchContentType } from "../client/patch.ts";
import type { WatchEvent } from "../client/watch.ts";
import { applyMergePatch } from "../json/json-merge-patch.ts";
import { keyFor } from "../objects/kube-object.ts";
import type { ApiObject, KubeObject, ObjectRef } from "../objects/kube-object.ts";
import { describeType } from "../objects/resource-type.ts";
import { createFakeCalls } from "./fake-calls.ts";
import type { FakeCall, FakeFault } from "./fake-calls.ts";
import { createFakeStorage, plain } from "./fake-storage.ts";
import { createFakeWrites, failure } from "./fake-writes.ts";
import { applyJsonPatch } from "./json-patch.ts";
import { matchesFields, matchesLabels } from "./selector.ts";
import { applyStrategicPatch } from "./strategic-patch.ts";

/** An API server in memory, for unit tests of controllers. */
export interface FakeApi extends ApiClient {
  /** Every call so far. Empty it with `calls.length = 0`. */
  readonly calls: FakeCall[];
  /** The calls that write. */
  writes(): readonly FakeCall[];
  /** Puts an object in as it is, status included, without a call being logged. What an API server sets is filled in. */
  seed<T extends ApiObject>(type: ResourceType, object: T): T;
  /** What is stored; undefined when there is nothing. */
  peek<T extends ApiObject = KubeObject>(type: ResourceType, ref: ObjectRef): T | undefined;
  /** All that is stored of a type, ordered by key. */
  all<T extends ApiObject = KubeObject>(type: ResourceType): readonly T[];
  /** Changes an object like another client, status included, by a merge patch. */
  change<T extends ApiObject = KubeObject>(type: ResourceType, ref: ObjectRef, patch: object): T;
  /** Removes an object like another client, even with finalizers. */
  remove(type: ResourceType, ref: ObjectRef): void;
  inject(fault: FakeFault): void;
  /** Forgets the history, so that watches from any earlier version get 410. */
  compact(): void;
  /** Ends all watches in good order, as a server timeout does. */
  endWatches(): void;
}

/** Options of {@link createFakeApi}. */
export interface FakeApiOptions {
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Kinds whose status may be given when they are created. */
const statusOnCreate: ReadonlySet<string> = new Set(["Node"]);

/**
 * Makes a fake API server with the behavior that controllers build upon: resource versions and conflicts, uids, generation,
 * finalizers with deletionTimestamp, the separate status, writes without a change that leave the version alone, watches.
 * It checks no schema, knows no permissions, and of strategic patches only those of conditions or finalizers; the devcluster does it all.
 *
 * @example
 * const api = createFakeApi({ clock });
 * api.seed(nodeResource, { metadata: { name: "a" } });
 * api.inject({ verb: "patch", error: conflictError() });
 */
export function createFakeApi(options: FakeApiOptions = {}): FakeApi {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? seededRandom(1);
  const storage = createFakeStorage();
  const { calls, perform, inject } = createFakeCalls();
  const { existing, add, update, erase } = createFakeWrites(storage, clock, random);

  const api: FakeApi = {
    get<T extends ApiObject>(
      type: ResourceType,
      ref: ObjectRef,
      getOptions: { signal?: AbortSignal | undefined } = {},
    ) {
      const call: FakeCall = { verb: "get", resource: describeType(type), key: keyFor(ref) };
      return perform(call, getOptions.signal, () => typed<T>(existing(type, ref)));
    },
    list<T extends ApiObject>(
      type: ResourceType,
      { namespace, labelSelector = "", fieldSelector = "" }: Parameters<ApiClient["list"]>[1] = {},
      callOptions: { signal?: AbortSignal | undefined } = {},
    ) {
      const call: FakeCall = { verb: "list", resource: describeType(type), key: namespace ?? "" };
      return perform(call, callOptions.signal, () => ({
        items: api
          .all<T>(type)
          .filter(
            (object) =>
              (namespace === undefined || object.metadata.namespace === namespace) &&
              matchesLabels(object.metadata.labels ?? {}, labelSelector) &&
              matchesFields(object, fieldSelector),
          ),
        metadata: { resourceVersion: storage.resourceVersion() },
      }));
    },
    create<T extends ApiObject>(type: ResourceType, object: T, write: Parameters<ApiClient["create"]>[2] = {}) {
      const { namespace, name = "" } = object.metadata;
      const call: FakeCall = {
        verb: "create",
        resource: describeType(type),
        key: keyFor({ namespace, name }),
        subresource: write.subresource,
        body: object,
      };
      return perform(call, write.signal, () => {
        if (write.subresource === "eviction") return typed<T>(erase(type, { namespace, name }));
        return typed<T>(add(type, object, statusOnCreate.has(type.kind)));
      });
    },
    patch<T extends ApiObject>(
      type: ResourceType,
      ref: ObjectRef,
      patch: unknown,
      patchOptions: Parameters<ApiClient["patch"]>[3],
    ) {
      const { kind, subresource } = patchOptions;
      const call: FakeCall = {
        verb: "patch",
        resource: describeType(type),
        key: keyFor(ref),
        subresource,
        body: patch,
      };
      return perform(call, patchOptions.signal, () => {
        const { body } = patchContentType(type, ref, patch, patchOptions);
        if (kind === "apply") throw new TypeError("the fake API server has no apply patches: use the devcluster");
        const old = existing(type, ref);
        // A JSON patch must not carry the version that it happens to start from into the conflict check.
        const merge = kind === "strategic" ? applyStrategicPatch : applyMergePatch;
        const wanted = Array.isArray(body) ? applyJsonPatch(old, body) : merge(old, body);
        return typed<T>(update(type, old, plain(wanted), subresource));
      });
    },
    replace<T extends ApiObject>(type: ResourceType, object: T, write: Parameters<ApiClient["replace"]>[2] = {}) {
      const ref = { namespace: object.metadata.namespace, name: object.metadata.name ?? "" };
      const call: FakeCall = {
        verb: "replace",
        resource: describeType(type),
        key: keyFor(ref),
        subresource: write.subresource,
        body: object,
      };
      return perform(call, write.signal, () =>
        typed<T>(update(type, existing(type, ref), plain(object), write.subresource)),
      );
    },
    delete(type, ref, deleteOptions = {}) {
      const call: FakeCall = { verb: "delete", resource: describeType(type), key: keyFor(ref) };
      return perform(call, deleteOptions.signal, () => {
        const { uid, resourceVersion } = existing(type, ref).metadata;
        if (
          (deleteOptions.uid !== undefined && deleteOptions.uid !== uid) ||
          (deleteOptions.resourceVersion !== undefined && deleteOptions.resourceVersion !== resourceVersion)
        ) {
          throw failure(409, "Conflict", `${describeType(type)} "${ref.name}": a precondition failed`, type, ref);
        }
        return erase(type, ref);
      });
    },
    async *watch(type, { namespace, labelSelector = "", fieldSelector = "", resourceVersion, ...more }, signal) {
      const call: FakeCall = { verb: "watch", resource: describeType(type), key: namespace ?? "" };
      const isWanted = (object: KubeObject) =>
        (namespace === undefined || object.metadata.namespace === namespace) &&
        matchesLabels(object.metadata.labels ?? {}, labelSelector) &&
        matchesFields(object, fieldSelector);
      const initial = await perform(call, signal, () =>
        more.sendInitialEvents === true
          ? { objects: storage.all(describeType(type)).filter(isWanted), version: storage.resourceVersion() }
          : undefined,
      );
      more.onAnswer?.();
      for (const object of initial?.objects ?? []) yield { type: "ADDED", object };
      if (initial !== undefined) yield endOfList(initial.version);
      for await (const event of storage.events(describeType(type), initial?.version ?? resourceVersion, signal)) {
        if (isWanted(event.object)) yield event;
      }
    },
    request(raw) {
      const call: FakeCall = { verb: "request", resource: raw.path, key: "", body: raw.body };
      return perform(call, raw.signal, () => {
        throw failure(404, "NotFound", "the fake API server answers no raw requests");
      });
    },
    close: async () => storage.endWatches(),

    calls,
    writes: () => calls.filter(({ verb }) => ["create", "patch", "replace", "delete"].includes(verb)),
    seed: <T extends ApiObject>(type: ResourceType, object: T) => typed<T>(add(type, object, true)),
    peek<T extends ApiObject>(type: ResourceType, ref: ObjectRef) {
      const found = storage.get(describeType(type), keyFor(ref));
      return found === undefined ? undefined : typed<T>(found);
    },
    all: <T extends ApiObject>(type: ResourceType) => storage.all(describeType(type)).map((object) => typed<T>(object)),
    change<T extends ApiObject>(type: ResourceType, ref: ObjectRef, patch: object) {
      const old = existing(type, ref);
      return typed<T>(storage.put(describeType(type), keyFor(ref), plain(applyMergePatch(old, patch))));
    },
    remove(type, ref) {
      storage.drop(describeType(type), keyFor(ref), existing(type, ref));
    },
    inject,
    compact: storage.compact,
    endWatches: storage.endWatches,
  };
  return api;
}

/** With what a streaming list ends. */
function endOfList(resourceVersion: string): WatchEvent {
  const annotations = { "k8s.io/initial-events-end": "true" };
  return { type: "BOOKMARK", object: { metadata: { resourceVersion, annotations } } };
}

function typed<T extends ApiObject>(object: ApiObject): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return object as T;
}
