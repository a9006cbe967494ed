import { ignoreNotFound, nodeResource } from "@millwright/kube";
import type { Target } from "../../cluster/context.ts";
import type { Node } from "../../model/node-objects.ts";

/** Reads a Node from the API server into the cache, or takes it out of it. */
export async function readNode(name: string, { api, caches }: Target): Promise<void> {
  const node = await ignoreNotFound(api.get<Node>(nodeResource, { name }));
  const { store } = caches.nodes;
  const cached = store.get(name);
  if (node !== undefined) store.applyWrite(node);
  else if (cached !== undefined) store.applyDelete({ name, uid: cached.metadata.uid });
}
