import type { ResourceType } from "@millwright/base";
import type { ApiObject, OwnerReference } from "./kube-object.ts";
import { apiVersionOf } from "./resource-type.ts";

/** The owner that manages an object: the one entry with `controller: true`. */
export function controllerRefOf(object: ApiObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

/** Whether `owner` manages the object. By uid: a new object of the same name is not the owner. */
export function isControlledBy(object: ApiObject, owner: ApiObject): boolean {
  const uid = owner.metadata.uid;
  return uid !== undefined && controllerRefOf(object)?.uid === uid;
}

/**
 * The entry that makes `owner` the manager of an object.
 *
 * @throws TypeError when the owner has no name or uid, that is, does not come from an API server
 */
export function newControllerRef(type: ResourceType, owner: ApiObject): OwnerReference {
  const { name, uid } = owner.metadata;
  if (name === undefined || uid === undefined) {
    throw new TypeError(`${type.kind}: an owner needs metadata.name and metadata.uid, as an API server sets them`);
  }
  return { apiVersion: apiVersionOf(type), kind: type.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** What {@link claimObjects} found. */
export interface Claims<T extends ApiObject> {
  /** Managed by the owner and wanted by it: its own. */
  readonly owned: readonly T[];
  /** Selected, and without a controller that exists: to be adopted with {@link adoptPatch}. */
  readonly adopt: readonly T[];
  /** Managed by the owner, but no longer wanted: to be released with {@link releasePatch}. */
  readonly release: readonly T[];
}

/**
 * Sorts objects into own ones, ones to adopt and ones to release, by the rules of Kubernetes' controllers: an owner that is
 * being deleted adopts and releases nothing; objects that are being deleted are not adopted or released; what another
 * controller manages is left alone, wanted or not. A controller that does not exist manages nothing: unlike Kubernetes, where the garbage collector deletes such objects, they are adopted, for
 * they were restored from a backup.
 *
 * @param owner as it is now: ask the API server, not a cache, before adopting, or a deleted owner adopts orphans
 * @param wanted whether the owner's selector matches the object
 * @param isLost whether the controller of an object does not exist. Default: it does
 * @see k8s.io/kubernetes/pkg/controller `BaseControllerRefManager.ClaimObject`
 */
export function claimObjects<T extends ApiObject>(
  owner: ApiObject,
  candidates: Iterable<T>,
  wanted: (object: T) => boolean,
  isLost: (controller: OwnerReference) => boolean = () => false,
): Claims<T> {
  const owned: T[] = [];
  const adopt: T[] = [];
  const release: T[] = [];
  const { uid } = owner.metadata;
  const ownerStays = owner.metadata.deletionTimestamp === undefined;
  for (const object of candidates) {
    const stays = object.metadata.deletionTimestamp === undefined;
    const controller = controllerRefOf(object);
    if (uid !== undefined && controller?.uid === uid) {
      if (wanted(object)) owned.push(object);
      else if (ownerStays && stays) release.push(object);
    } else if (controller === undefined || isLost(controller)) {
      if (ownerStays && stays && wanted(object)) adopt.push(object);
    }
  }
  return { owned, adopt, release };
}

/** A merge patch with its precondition. */
export interface OwnerPatch {
  readonly metadata: {
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly ownerReferences: readonly OwnerReference[];
  };
}

/**
 * The merge patch by which an object gets a manager, in place of one that does not exist. Holds for exactly the state it was computed from (uid and resource
 * version are preconditions), since a merge patch replaces the whole list.
 */
export function adoptPatch(object: ApiObject, controllerRef: OwnerReference): OwnerPatch {
  const others = (object.metadata.ownerReferences ?? []).filter(
    ({ uid, controller }) => uid !== controllerRef.uid && controller !== true,
  );
  return ownerPatch(object, [...others, controllerRef]);
}

/** The merge patch by which an object loses an owner; see {@link adoptPatch}. */
export function releasePatch(object: ApiObject, ownerUid: string): OwnerPatch {
  return ownerPatch(
    object,
    (object.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== ownerUid),
  );
}

function ownerPatch(object: ApiObject, ownerReferences: readonly OwnerReference[]): OwnerPatch {
  const { uid, resourceVersion } = object.metadata;
  return {
    metadata: {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ownerReferences,
    },
  };
}
