import type { ApiClient, KubeObject, ResourceType } from "@millwright/kube";
import { podDisruptionBudgetResource } from "@millwright/kube";
import type { ClusterFaults } from "@millwright/devcluster";
import { createWorkloads } from "@millwright/devcluster";
import type { Random } from "@millwright/base";
import { aBudget, aDeployment, aStatefulSet, storageClass } from "../../harness/manifests.ts";
import type { Scope } from "./scheduler.ts";

const appsType = (kind: string, plural: string): ResourceType => ({
  group: "apps",
  version: "v1",
  kind,
  plural,
  namespaced: true,
});
const storageClassResource = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  plural: "storageclasses",
  namespaced: false,
};

/** The applications of a world: one without volumes, and one whose pods have a volume each that one node can write. */
export const applications = { stateless: "web", stateful: "db" } as const;

/** Declares the applications, each with a budget that allows one disruption at a time. */
export async function declareApplications(people: ApiClient, namespace: string): Promise<void> {
  const create = async (type: ResourceType, manifest: Readonly<Record<string, unknown>>): Promise<void> => {
    const { metadata, ...rest } = manifest;
    const { name = "" }: { readonly name?: string } = typeof metadata === "object" && metadata !== null ? metadata : {};
    const object: KubeObject = { ...rest, metadata: type.namespaced ? { name, namespace } : { name } };
    await people.create(type, object);
  };
  await create(storageClassResource, storageClass);
  await create(appsType("Deployment", "deployments"), aDeployment(applications.stateless, 4));
  await create(appsType("StatefulSet", "statefulsets"), aStatefulSet(applications.stateful, 2));
  for (const app of Object.values(applications))
    await create(podDisruptionBudgetResource, aBudget(app, { maxUnavailable: 1 }));
}

/** Starts the scheduler, the pods of the kubelets, the workload controllers and the attachment of volumes. Nothing disturbs their calls. */
export function startApplications(
  scope: Scope,
  api: ApiClient,
  random: Random,
  clusterFaults: ClusterFaults,
): () => void {
  const stop = new AbortController();
  const workloads = createWorkloads({
    api,
    clock: scope.clock,
    random,
    podStartMs: 3_000,
    podStopMs: 2_000,
    attachMs: 4_000,
    detachMs: 4_000,
    clusterFaults,
  });
  void workloads.start(stop.signal);
  return () => stop.abort(new Error("the simulation is over"));
}
