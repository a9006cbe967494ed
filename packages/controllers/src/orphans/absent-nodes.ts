import type { ControllerContext } from "../cluster/context.ts";
import { stayingPods } from "../drain/pod-verdict.ts";
import type { QuarantinedVm } from "./quarantine.ts";

/**
 * A Node whose drain began, and that does not exist although pods that a drain waits for are bound to it: the object may be absent only for a moment, such as during a restore, and the VM runs the pods. Kubernetes deletes the pods of a
 * Node that stays absent within about a minute. `undefined`: none, or the drain timeout is over.
 */
export function absentNodeWithPods(
  entry: Pick<QuarantinedVm, "draining" | "nodes"> | undefined,
  { target, clock }: Pick<ControllerContext, "target" | "clock">,
  drainTimeoutMs: number,
): string | undefined {
  const { draining, nodes = [] } = entry ?? {};
  const now = clock.now();
  if (target === undefined || draining === undefined || now.getTime() > draining + drainTimeoutMs) return undefined;
  const { nodes: known, pods } = target.caches;
  const terms = { cordon: true, startedAt: draining };
  return nodes.find((name) => {
    const view = {
      node: { metadata: { name } },
      pods: pods.store.byIndex("node", name),
      rules: [],
      evictions: new Map(),
    };
    return known.store.get(name) === undefined && stayingPods(view, terms, now).length > 0;
  });
}
