import { isRecord } from "@millwright/base";
import { nodeResource } from "@millwright/kube";
import type { Target } from "../../cluster/context.ts";
import type { Node } from "../../model/node-objects.ts";

/** Whether an entry of `metadata.managedFields` covers the taints of a Node. */
const hasTaints = (entry: Readonly<Record<string, unknown>>): boolean =>
  isRecord(entry["fieldsV1"]) && isRecord(entry["fieldsV1"]["f:spec"]) && "f:taints" in entry["fieldsV1"]["f:spec"];

/** The field manager that changed the taints of a node last; `undefined` where the node does not show it, as without any taint. */
export function taintsManagerOf({ metadata }: { readonly metadata: object }): string | undefined {
  const entries: unknown = "managedFields" in metadata ? metadata.managedFields : undefined;
  const owners = (Array.isArray(entries) ? entries : []).filter(isRecord).filter(hasTaints);
  const timeOf = ({ time }: Readonly<Record<string, unknown>>): number => Date.parse(String(time)) || 0;
  const manager = owners.toSorted((a, b) => timeOf(b) - timeOf(a))[0]?.["manager"];
  return typeof manager === "string" ? manager.slice(0, 80) : undefined;
}

/** Reads which field manager changed the taints of a node last: caches have no managed fields. `undefined` where that is not known. */
export async function readTaintsManager(name: string, { api }: Pick<Target, "api">): Promise<string | undefined> {
  const node = await api.get<Node>(nodeResource, { name }).catch(() => undefined);
  return node === undefined ? undefined : taintsManagerOf(node);
}
