import { type Controller, keyOf, watchTriggers } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { watchClasses } from "../cluster/watch-classes.ts";
import { mayNeedFallbackClass } from "./deletion/fallback-class.ts";

/**
 * Enqueues machines when they, their classes or the secrets of their classes change.
 *
 * @param memories what is remembered of machines, until they are deleted
 */
export function wireControlCluster(
  { caches, namespace }: Pick<ControllerContext, "caches" | "namespace">,
  controller: Controller,
  memories: readonly { forget?(uid: string): void }[],
): void {
  // A machine may be deleted through a fallback class.
  const keysOfClass = (name: string): string[] =>
    [
      ...caches.machines.store.byIndex("class", name),
      ...caches.machines.store.list(namespace).filter(mayNeedFallbackClass),
    ].map(keyOf);
  watchTriggers({
    store: caches.machines.store,
    controller,
    keys: ({ metadata }) => [`${namespace}/${metadata.name}`],
  });
  caches.machines.store.subscribe((old, current) => {
    if (current !== undefined || old?.metadata.uid === undefined) return;
    for (const memory of memories) memory.forget?.(old.metadata.uid);
  });
  watchClasses(caches, controller, keysOfClass);
}
