import { type ApiClient, isNotFound, type KubeObject, nodeResource } from "@millwright/kube";

const result = "node.machine.sapcloud.io/update-result";

interface NodeObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly reason: string }[] };
}

/** Acts as the update agents: every node that is ready for its in-place update reports success. */
export async function reportUpdates(api: ApiClient): Promise<void> {
  for (const { metadata, status } of (await api.list<NodeObject>(nodeResource)).items) {
    const isReady = status?.conditions?.some(({ reason }) => reason === "ReadyForUpdate") === true;
    if (!isReady || metadata.labels?.[result] !== undefined) continue;
    const patch = { metadata: { labels: { [result]: "successful" } } };
    await api.patch(nodeResource, { name: metadata.name ?? "" }, patch, { kind: "merge" }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}
