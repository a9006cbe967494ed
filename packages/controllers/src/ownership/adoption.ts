import { annotationKeys, type Machine } from "@millwright/core/machine-api";
import { type ApiObject, apiTime, controllerRefOf, type ReadonlyStore, type Writer } from "@millwright/kube";

/** A deletion that begins so soon after an adoption may be that of the garbage collector, milliseconds. Far more than it needs, for clocks that differ. */
const ADOPTION_WINDOW_MS = 5 * 60_000;

/** The annotation that is written when an object is adopted in place of an owner that does not exist. Nothing for one that had no owner. */
export const adoptionAnnotation = (object: ApiObject, now: Date): Readonly<Record<string, string>> => {
  const former = controllerRefOf(object);
  return former === undefined ? {} : { [annotationKeys.adoptedFrom]: `${former.uid}/${apiTime(now)}` };
};

/**
 * Whether an object became terminating so soon after its adoption that the garbage collector may have deleted it for the owner that it had before: it reads the owners of an object,
 * and deletes it a moment later without their version as a precondition.
 *
 * @see k8s.io/kubernetes/pkg/controller/garbagecollector `GarbageCollector.deleteObject`
 */
export function isDeletedOnAdoption({ metadata }: ApiObject): boolean {
  const { deletionTimestamp, annotations } = metadata;
  const text = annotations?.[annotationKeys.adoptedFrom];
  if (deletionTimestamp === undefined || text === undefined) return false;
  const [, time = ""] = text.split("/");
  return Date.parse(deletionTimestamp) <= Date.parse(time) + ADOPTION_WINDOW_MS;
}

/**
 * Deletes a Machine by the choice of a controller. Its record of an adoption is removed before: this deletion is not that of the garbage collector.
 *
 * @throws ApiError as the writes
 */
export async function requestDeletion(
  { machines, store }: { readonly machines: Writer<Machine>; readonly store: Pick<ReadonlyStore<Machine>, "getByRef"> },
  ref: { readonly namespace: string; readonly name: string },
  uid: string,
  resourceVersion?: string,
): Promise<void> {
  const { annotations } = store.getByRef(ref)?.metadata ?? {};
  if (annotations?.[annotationKeys.adoptedFrom] !== undefined && resourceVersion === undefined)
    await machines.patch(ref, { metadata: { uid, annotations: { [annotationKeys.adoptedFrom]: null } } });
  await machines.delete(ref, uid, resourceVersion);
}
