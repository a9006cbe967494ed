import { podResource, readAllInto } from "@millwright/kube";
import type { Target } from "../../cluster/context.ts";

/** Reads the pods of a node from the API server into the cache: all that were bound before. */
export const readPodsOf = (nodeName: string, { api, caches }: Target): Promise<void> =>
  readAllInto(caches.pods.store, api, podResource, { fieldSelector: `spec.nodeName=${nodeName}` });
