import type { ResourceType } from "@millwright/base";
import {
  type ApiClient,
  ApiError,
  type ApiObject,
  keyFor,
  type ListOptions,
  type ReadonlyStore,
} from "@millwright/kube";

/** What a report reads with. */
export type ObjectReader = Pick<ApiClient, "get" | "list" | "serverTime">;

/** A cache, and what it has. */
export interface ReadCache {
  readonly type: ResourceType;
  readonly store: Pick<ReadonlyStore<ApiObject>, "getByRef" | "list">;
}

const notFound = ({ plural }: ResourceType, name: string): ApiError =>
  new ApiError({ status: 404, reason: "NotFound", message: `${plural} "${name}" not found`, details: { name } });

/** Whether labels have all `key=value` of a selector; other forms are not needed. */
const hasLabels = ({ metadata }: ApiObject, selector: string): boolean =>
  selector.split(",").every((part) => {
    const [key = "", value] = part.split("=");
    return metadata.labels?.[key] === value;
  });

const itemsOf = (cache: ReadCache, { namespace, labelSelector }: ListOptions): readonly ApiObject[] => {
  const all = cache.store.list(namespace);
  return labelSelector === undefined ? all : all.filter((object) => hasLabels(object, labelSelector));
};

/** A reader that takes the types of caches from these, without a request, and others from the API server. */
export function createCachedReader(api: ObjectReader, caches: readonly ReadCache[]): ObjectReader {
  const cacheOf = (type: ResourceType): ReadCache | undefined =>
    caches.find((cache) => cache.type.group === type.group && cache.type.plural === type.plural);
  return {
    async get<T extends ApiObject>(...[type, ref, options]: Parameters<ApiClient["get"]>): Promise<T> {
      const cache = cacheOf(type);
      if (cache === undefined) return api.get<T>(type, ref, options);
      const object = cache.store.getByRef(ref);
      if (object === undefined) throw notFound(type, keyFor(ref));
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the type, as with a client
      return object as T;
    },
    async list<T extends ApiObject>(...[type, options = {}, call]: Parameters<ApiClient["list"]>) {
      const cache = cacheOf(type);
      if (cache === undefined) return api.list<T>(type, options, call);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the type, as with a client
      return { items: itemsOf(cache, options) as readonly T[], metadata: {} };
    },
    ...(api.serverTime === undefined ? {} : { serverTime: api.serverTime }),
  };
}
