import { type ApiClient, isNotFound, type Log, nodeResource } from "@millwright/kube";

/** The Nodes of removed machines, which a cloud controller manager deletes after a while. */
export interface NodeRemovals {
  add(nodeName: string, nowMs: number): void;
  cancel(nodeName: string): void;
  /** The Nodes to delete now. */
  due(nowMs: number): readonly string[];
  /** Deletes a Node. After a failure it stays due. */
  remove(nodeName: string, signal: AbortSignal): Promise<void>;
}

/** Creates an empty set of removals, each due `afterMs` after it was added. */
export function createNodeRemovals(api: ApiClient, afterMs: number, log: Log): NodeRemovals {
  const removedSinceMs = new Map<string, number>();
  return {
    add: (nodeName, nowMs) => void removedSinceMs.set(nodeName, nowMs),
    cancel: (nodeName) => void removedSinceMs.delete(nodeName),
    due: (nowMs) => [...removedSinceMs].filter(([, since]) => nowMs - since >= afterMs).map(([nodeName]) => nodeName),
    async remove(nodeName, signal) {
      try {
        await api.delete(nodeResource, { name: nodeName }, { signal });
        removedSinceMs.delete(nodeName);
      } catch (error) {
        if (isNotFound(error)) removedSinceMs.delete(nodeName);
        else if (!signal.aborted) {
          log("debug", "simulated node: Failed to delete the Node, will retry", { node: nodeName, error });
        }
      }
    },
  };
}
