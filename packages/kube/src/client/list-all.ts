import type { ResourceType } from "@millwright/base";
import type { ApiObject, KubeObject, ListMeta, ObjectList } from "../objects/kube-object.ts";
import type { ApiClient } from "./api-client.ts";
import { isGone } from "./api-error.ts";
import type { CallOptions, ReadOptions, Scope } from "./call-options.ts";

/** Options of {@link listAll}. */
export interface ListAllOptions extends Scope, ReadOptions {
  /** Items of one page. Default 500. */
  readonly pageSize?: number;
  /** See `ListOptions`. Default false. */
  readonly omitManagedFields?: boolean;
}

/**
 * Lists everything in pages of one snapshot. When the snapshot expires on the way (410), the pages so far are thrown away and
 * the whole is asked for at once: pages of two snapshots mixed would lack objects that moved between them.
 *
 * @returns all items, with the resource version of the snapshot
 */
export async function listAll<T extends ApiObject = KubeObject>(
  api: Pick<ApiClient, "list">,
  type: ResourceType,
  options: ListAllOptions = {},
  call: CallOptions = {},
): Promise<ObjectList<T>> {
  const items: T[] = [];
  const metadata = await listPages<T>(
    api,
    type,
    options,
    call,
    (item) => items.push(item),
    () => items.splice(0),
  );
  return { items, metadata };
}

/**
 * As {@link listAll}, item by item, so that not all of them are in memory.
 *
 * @param startAgain called when all items so far are void, because the snapshot expired
 * @returns the metadata of the last page, with the resource version of the snapshot
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the claim that ApiClient.list is called with
export async function listPages<T extends ApiObject = KubeObject>(
  api: Pick<ApiClient, "list">,
  type: ResourceType,
  options: ListAllOptions,
  call: CallOptions,
  add: (item: T) => void,
  startAgain: () => void,
): Promise<ListMeta> {
  const { pageSize = 500, ...scope } = options;
  let metadata: ListMeta = {};
  do {
    try {
      const page: ObjectList<T> = await api.list<T>(
        type,
        { ...scope, limit: pageSize, continue: metadata.continue },
        call,
      );
      for (const item of page.items) add(item);
      metadata = page.metadata;
    } catch (error) {
      if (!isGone(error) || metadata.continue === undefined) throw error;
      startAgain();
      const whole = await api.list<T>(type, scope, call);
      for (const item of whole.items) add(item);
      return whole.metadata;
    }
  } while (metadata.continue !== undefined && metadata.continue !== "");
  return metadata;
}
