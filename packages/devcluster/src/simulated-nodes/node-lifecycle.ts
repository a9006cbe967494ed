import { type ApiClient, isNotFound, leaseResource, listAll, nodeResource } from "@millwright/kube";
import type { Clock } from "@millwright/base";
import { leaseNamespace } from "./kubelet.ts";
import { conditionOf, conditionsFor, property } from "./node-object.ts";

/**
 * Does the part of kube-controller-manager's node lifecycle controller: a node whose lease has not been renewed for `graceMs`
 * gets `Ready: Unknown`. Resolves with the present readiness of every node. Nodes without a lease do not come from a kubelet and
 * are ignored.
 */
export async function markSilentNodes(
  api: ApiClient,
  clock: Clock,
  graceMs: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const [nodes, leases] = await Promise.all([
    listAll(api, nodeResource, {}, { signal }),
    listAll(api, leaseResource, { namespace: leaseNamespace }, { signal }),
  ]);
  const renewals = new Map(
    leases.items.map((lease) => [
      lease.metadata.name,
      Date.parse(String(property(property(lease, "spec"), "renewTime"))),
    ]),
  );
  const readiness = new Map<string, string>();
  for (const node of nodes.items) {
    const { name = "" } = node.metadata;
    const renewedAt = renewals.get(name);
    const ready = conditionOf(node, "Ready")?.status ?? "";
    const isSilent = renewedAt !== undefined && clock.now().getTime() - renewedAt > graceMs;
    readiness.set(name, isSilent ? "Unknown" : ready);
    if (!isSilent || ready === "Unknown") continue;
    const status = { conditions: conditionsFor("Unknown", node, clock.now()) };
    try {
      await api.patch(nodeResource, { name }, { status }, { kind: "strategic", subresource: "status", signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return readiness;
}
