import type { Clock, Random, ResourceType } from "@millwright/base";
import { ApiError } from "../client/api-error.ts";
import { apiTime } from "../objects/conditions.ts";
import { keyFor } from "../objects/kube-object.ts";
import type { ApiObject, KubeObject, ObjectRef } from "../objects/kube-object.ts";
import { apiVersionOf, describeType } from "../objects/resource-type.ts";
import { plain } from "./fake-storage.ts";
import type { FakeStorage } from "./fake-storage.ts";

/** What an API server makes of writes. Each throws an ApiError for what it would refuse. */
export interface FakeWrites {
  /** What is stored; a 404 when there is nothing. */
  readonly existing: (type: ResourceType, ref: ObjectRef) => KubeObject;
  /** Stores a new object, with what an API server sets. Its status only when that is to be kept. */
  readonly add: (type: ResourceType, object: ApiObject, keepStatus: boolean) => KubeObject;
  /** Stores what an object is to become, by the rules for what a caller may change. */
  readonly update: (
    type: ResourceType,
    old: KubeObject,
    wanted: KubeObject,
    subresource: string | undefined,
  ) => KubeObject;
  /** Removes an object, or marks it while finalizers hold it. */
  readonly erase: (type: ResourceType, ref: ObjectRef) => KubeObject;
}

/** Writes into a storage. */
export function createFakeWrites(storage: FakeStorage, clock: Clock, random: Random): FakeWrites {
  const now = () => apiTime(clock.now());

  function existing(type: ResourceType, ref: ObjectRef): KubeObject {
    const found = storage.get(describeType(type), keyFor(ref));
    if (found === undefined) throw failure(404, "NotFound", `${describeType(type)} "${ref.name}" not found`, type, ref);
    return found;
  }

  function add(type: ResourceType, object: ApiObject, keepStatus: boolean): KubeObject {
    const { status, ...rest } = plain(object);
    const metadata = rest.metadata;
    const name = metadata.name ?? (metadata.generateName === undefined ? "" : metadata.generateName + random.suffix(5));
    const ref = { namespace: metadata.namespace, name };
    if (name === "") throw failure(422, "Invalid", "metadata.name or metadata.generateName is required", type, ref);
    if (storage.get(describeType(type), keyFor(ref)) !== undefined) {
      throw failure(409, "AlreadyExists", `${describeType(type)} "${name}" already exists`, type, ref);
    }
    return storage.put(describeType(type), keyFor(ref), {
      ...rest,
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: {
        ...metadata,
        name,
        uid: metadata.uid ?? random.uuid(),
        creationTimestamp: metadata.creationTimestamp ?? now(),
        generation: metadata.generation ?? 1,
      },
      ...(keepStatus && status !== undefined ? { status } : {}),
    });
  }

  function update(
    type: ResourceType,
    old: KubeObject,
    wanted: KubeObject,
    subresource: string | undefined,
  ): KubeObject {
    const resource = describeType(type);
    const ref = { namespace: old.metadata.namespace, name: old.metadata.name ?? "" };
    const { resourceVersion, uid } = wanted.metadata;
    if (
      (uid !== undefined && uid !== old.metadata.uid) ||
      (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion)
    ) {
      throw failure(409, "Conflict", `${resource} "${ref.name}": the object has been modified`, type, ref);
    }
    const { status: _, ...main } = wanted;
    const changed: KubeObject =
      subresource === "status" ? { ...old, status: wanted["status"] } : { ...main, status: old["status"] };
    // As kube-apiserver: a request for the status of a custom resource cannot change its metadata, one for that of a Node can.
    const metadata = subresource === "status" && type.kind !== "Node" ? old.metadata : wanted.metadata;
    const specChanged = subresource !== "status" && !storage.sameSpec(old, changed);
    const { deletionTimestamp, uid: identity, creationTimestamp, generation = 1 } = old.metadata;
    const { deletionTimestamp: __, ...given } = metadata;
    const next = storage.withVersion(old, {
      ...changed,
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: {
        ...given,
        name: ref.name,
        ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
        ...(identity === undefined ? {} : { uid: identity }),
        ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
        ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
        generation: specChanged ? generation + 1 : generation,
      },
    });
    if (deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0) {
      return storage.drop(resource, keyFor(ref), next);
    }
    return storage.put(resource, keyFor(ref), next);
  }

  function erase(type: ResourceType, ref: ObjectRef): KubeObject {
    const resource = describeType(type);
    const old = existing(type, ref);
    if ((old.metadata.finalizers ?? []).length === 0) return storage.drop(resource, keyFor(ref), old);
    if (old.metadata.deletionTimestamp !== undefined) return old;
    const metadata = {
      ...old.metadata,
      deletionTimestamp: now(),
      deletionGracePeriodSeconds: 0,
      generation: (old.metadata.generation ?? 1) + 1,
    };
    return storage.put(resource, keyFor(ref), { ...old, metadata });
  }

  return { existing, add, update, erase };
}

/** An answer that refuses. */
export function failure(
  status: number,
  reason: string,
  message: string,
  type?: ResourceType,
  ref?: ObjectRef,
): ApiError {
  const details =
    type === undefined || ref === undefined ? undefined : { name: ref.name, group: type.group, kind: type.plural };
  return new ApiError({ status, reason, message, details });
}
