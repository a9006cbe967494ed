import type { ResourceType } from "@millwright/core";
import type { ApiClient } from "./api-client.ts";
import type { CallOptions, Scope } from "./call-options.ts";
import { isGone } from "./api-error.ts";
import type { ApiObject, KubeObject, ListMeta, ObjectList } from "./kube-object.ts";

/** Options of {@link listAll}. */
export interface ListAllOptions extends Scope {
  /** Items of one page. Default 500. */
  readonly pageSize?: number;
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
  const { pageSize = 500, ...scope } = options;
  const items: T[] = [];
  let metadata: ListMeta = {};
  do {
    try {
      const page: ObjectList<T> = await api.list<T>(
        type,
        { ...scope, limit: pageSize, continue: metadata.continue },
        call,
      );
      for (const item of page.items) items.push(item);
      metadata = page.metadata;
    } catch (error) {
      if (!isGone(error) || metadata.continue === undefined) throw error;
      return api.list<T>(type, scope, call);
    }
  } while (metadata.continue !== undefined && metadata.continue !== "");
  return { items, metadata };
}
