import { type SyncedCache, unlessUnreachable } from "@millwright/kube";
import type { TargetCaches } from "./caches.ts";
import type { Hold } from "../model/hold.ts";
import type { ControllerContext } from "./context.ts";

type WithTarget = Pick<ControllerContext, "target">;

/**
 * Whether this process has never had a list of the Nodes, because it started while the API server of a target cluster of its own was unreachable. Then a missing Node means nothing. False where there is
 * one cluster, in which controllers wait for the list.
 */
export const areNodesUnread = ({ target }: WithTarget): boolean =>
  target?.isSeparate === true && !target.caches.nodes.hasSynced();

/** What is held of sets and deployments meanwhile: an annotation of its Node may keep a Failed machine, and an update in place needs Nodes. */
export const unreadTargetHold: Hold = {
  by: "unread-target",
  holds: "replacement",
  message: "Rollout waits for the API server of the Nodes, which is unreachable",
  remedy: "Make the API server of the nodes reachable",
};

/** The same of anything in the target cluster, such as the pods: a drain needs all of it. */
export const isTargetUnread = ({ target }: WithTarget): boolean =>
  target?.isSeparate === true && Object.values(target.caches).some((cache) => !cache.hasSynced());

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

/** What a controller waits for. In a target cluster of its own, it starts without the first lists while the API server is unreachable, and what needs Nodes waits: see {@link isTargetUnread}. */
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
