import type { ApiObject, KubeObject } from "../objects/kube-object.ts";
import { createReflector } from "./reflector.ts";
import type { Reflector, ReflectorOptions } from "./reflector.ts";
import { createStore } from "./store.ts";
import type { ReadonlyStore, StoreOptions } from "./store.ts";

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
