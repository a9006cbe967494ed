import type { Hold } from "../model/hold.ts";
import type { ControllerContext } from "./context.ts";

type WithTarget = Pick<ControllerContext, "target">;

/**
 * Whether this process has never had a list of the Nodes, because it started while the API server of a target cluster of its own was unreachable. Then a missing Node means nothing. False where there is
 * one cluster, in which controllers wait for the list.
 */
export const areNodesUnread = ({ target }: WithTarget): boolean =>
  target?.isSeparate === true && !target.caches.nodes.hasSynced();

/** Whether the API server of a target cluster of its own has been unreachable for longer than `afterMs`. */
export const isTargetLost = ({ target }: WithTarget, afterMs: number): boolean =>
  target?.isSeparate === true && target.caches.nodes.connectivity.lostForMs() > afterMs;

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
