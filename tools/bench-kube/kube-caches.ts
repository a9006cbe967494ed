import { isRecord, systemClock, systemRandom } from "@millwright/base";
import {
  type ApiClient,
  createInformer,
  type Informer,
  type KubeObject,
  nodeResource,
  podResource,
  type ResourceType,
} from "@millwright/kube";

/** Written out, since the toolkit is measured without the Machine API. */
const machineResource: ResourceType = {
  group: "machine.sapcloud.io",
  version: "v1alpha1",
  kind: "Machine",
  plural: "machines",
  namespaced: true,
};

/** Which caches: those of the toolkit as it is, by streamed lists or in pages, or those that the manager runs. */
export type Caches = "streamed" | "pages" | "manager";

/** What every cache can do, whatever it is of. */
export type AnyInformer = Pick<Informer<KubeObject>, "run" | "synced" | "counts"> & {
  readonly store: { readonly size: number };
};

/** Caches of machines, nodes and pods, empty. */
export async function createCaches(kind: Caches, api: ApiClient): Promise<readonly AnyInformer[]> {
  const common = { api, clock: systemClock, random: systemRandom };
  if (kind === "manager") {
    // The toolkit is measured without them.
    const { createControlCaches, createTargetCaches } = await import("@millwright/controllers");
    const { nodes, pods } = createTargetCaches(common);
    return [createControlCaches({ ...common, namespace: "shoot--project--cluster" }).machines, nodes, pods];
  }
  const options = { ...common, streamingList: kind === "streamed" };
  return [
    createInformer({
      ...options,
      type: machineResource,
      indexes: { owner: ({ metadata }) => metadata.ownerReferences?.[0]?.uid },
    }),
    createInformer({ ...options, type: nodeResource }),
    createInformer({
      ...options,
      type: podResource,
      indexes: {
        node: ({ spec }) => (isRecord(spec) && typeof spec["nodeName"] === "string" ? spec["nodeName"] : undefined),
      },
    }),
  ];
}
