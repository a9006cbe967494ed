import { type SyncedCache, unlessUnreachable } from "@millwright/kube";
import type { TargetCaches } from "./caches.ts";
import type { ControllerContext } from "./context.ts";

/** How a controller waits for caches of the target cluster. */
export interface TargetWait {
  /** Name of the controller, for the log. */
  readonly controller: string;
  readonly caches: Partial<TargetCaches>;
  /** After this time without a response an API server counts as unreachable, milliseconds. */
  readonly unreachableAfterMs: number;
  /** Called when all have their first list, if the controller has started without it. */
  readonly onRead: () => void;
}

/** What a controller waits for. In a target cluster of its own, it starts without the first lists while the API server is unreachable, and what needs Nodes waits: see `isTargetUnread`. */
export function waitForTarget(
  { target, log }: Pick<ControllerContext, "target" | "log">,
  { controller, caches, unreachableAfterMs, onRead }: TargetWait,
): readonly SyncedCache[] {
  const all = Object.values(caches);
  if (target?.isSeparate !== true) return all;
  const synced = async (signal?: AbortSignal): Promise<void> => {
    await Promise.all(
      all.map((cache) => unlessUnreachable(cache.synced(signal), cache.connectivity, unreachableAfterMs)),
    );
    const kinds = Object.entries(caches).flatMap(([kind, cache]) => (cache.hasSynced() ? [] : [kind]));
    if (kinds.length === 0) return;
    log("warn", "What needs Nodes waits for the first list of some kinds", { controller, kinds });
    void Promise.all(all.map((cache) => cache.synced(signal))).then(onRead, () => undefined);
  };
  // A cache without a list is not outdated: nothing is decided by it.
  return [{ synced, isCurrent: () => all.every((cache) => !cache.hasSynced() || cache.isCurrent()) }];
}
