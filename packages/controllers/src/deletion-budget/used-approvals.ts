import type { ApiObject } from "@millwright/kube";
import type { ControlCaches } from "../cluster/caches.ts";
import { usedApprovals } from "./approval.ts";

type Annotated = Pick<ApiObject, "metadata">;

/** What approvals were used for, in the generations of their objects: as the objects record it, and what this process has used since. */
export function createUsedApprovals({ sets, deployments }: Pick<ControlCaches, "sets" | "deployments">) {
  const byUid = new Map<string, { readonly generation: number | undefined; readonly count: number }>();
  for (const { store } of [sets, deployments])
    store.subscribe((old, current) => {
      if (current === undefined) byUid.delete(old?.metadata.uid ?? "");
    });
  const usedOf = (object: Annotated): number => {
    const { uid = "", generation } = object.metadata;
    const known = byUid.get(uid);
    return Math.max(usedApprovals(object), known?.generation === generation ? (known?.count ?? 0) : 0);
  };
  return {
    usedOf,
    /** Adds to the count of an object; a negative number takes it back. */
    use(object: Annotated, count: number): void {
      const { uid = "", generation } = object.metadata;
      byUid.set(uid, { generation, count: usedOf(object) + count });
    },
  };
}
