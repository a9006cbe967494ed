import type { ResourceType } from "@millwright/base";
import { type ApiObject, ignoreNotFound, type OwnerReference, type ReadonlyStore } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";

/** Controllers of one kind that objects name by UID, and that do not exist: the objects were restored from a backup, or their controller lost its finalizer. */
export interface LostOwners {
  /** Whether a controller is of this kind and is not in the cache. */
  isMissing(controller: OwnerReference): boolean;
  /** Whether the API server has confirmed that. UIDs are never used twice. */
  isConfirmed(controller: OwnerReference): boolean;
  /**
   * Reads a missing controller from the API server, once.
   *
   * @returns whether it does not exist
   * @throws ApiError when the API server does not respond
   */
  confirm(controller: OwnerReference): Promise<boolean>;
}

/** Follows the controllers of one kind in a namespace. */
export function createLostOwners<T extends ApiObject>(
  { control, namespace }: Pick<ControllerContext, "control" | "namespace">,
  type: ResourceType,
  store: Pick<ReadonlyStore<T>, "getByRef" | "applyWrite">,
): LostOwners {
  const confirmed = new Set<string>();
  const isMissing = ({ apiVersion, kind, name, uid }: OwnerReference): boolean =>
    kind === type.kind &&
    apiVersion.startsWith(`${type.group}/`) &&
    store.getByRef({ namespace, name })?.metadata.uid !== uid;
  const isConfirmed = (controller: OwnerReference): boolean => isMissing(controller) && confirmed.has(controller.uid);
  return {
    isMissing,
    isConfirmed,
    async confirm(controller) {
      if (!isMissing(controller)) return false;
      if (isConfirmed(controller)) return true;
      const found = await ignoreNotFound(control.get<T>(type, { namespace, name: controller.name }));
      if (found !== undefined) store.applyWrite(found);
      if (found?.metadata.uid === controller.uid) return false;
      confirmed.add(controller.uid);
      return true;
    },
  };
}
