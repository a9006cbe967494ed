import type { ApiObject, KubeObject } from "../objects/kube-object.ts";
import { createReflector, type Reflector, type ReflectorOptions } from "./reflector.ts";
import { createStore, type ReadonlyStore, type StoreOptions } from "./store.ts";
import type { ResourceType } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import { listAll, type ListAllOptions } from "../client/list-all.ts";

/** Options of {@link createInformer}: what to watch, and what to keep of it. */
export interface InformerOptions<T extends ApiObject, Index extends string>
  extends Omit<ReflectorOptions<T>, "store">, StoreOptions<T, Index> {
  readonly log?: ReflectorOptions<T>["log"];
}

/** A cache of the objects of one type, kept up to date while it runs. */
export interface Informer<T extends ApiObject, Index extends string = never> extends Reflector {
  readonly store: ReadonlyStore<T, Index>;
}

/**
 * Makes an informer.
 *
 * @example
 * const pods = createInformer({ api, type: podResource, clock, random, indexes: { byNode: (pod) => pod.spec?.nodeName } });
 * const running = pods.run(signal);
 * await pods.synced(signal);
 * pods.store.byIndex("byNode", "node-a");
 */
export function createInformer<T extends ApiObject = KubeObject, Index extends string = never>(
  options: InformerOptions<T, Index>,
): Informer<T, Index> {
  const store = createStore<T, Index>(options);
  const reflector = createReflector<T>({ ...options, store });
  return { ...reflector, store };
}

/**
 * Reads objects from the API server into a cache, which may lack some. A list without a resourceVersion is consistent: it has every object that was created before it
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list).
 */
export async function readAllInto<T extends ApiObject>(
  store: Pick<ReadonlyStore<T>, "applyWrite">,
  api: Pick<ApiClient, "list">,
  type: ResourceType,
  which: Pick<ListAllOptions, "namespace" | "fieldSelector">,
): Promise<void> {
  const { items } = await listAll<T>(api, type, { ...which, omitManagedFields: true });
  for (const item of items) store.applyWrite(item);
}
