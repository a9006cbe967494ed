import { systemClock } from "@millwright/base";
import { createWorkloads, type WorkloadsOptions } from "@millwright/devcluster";
import { type ApiClient, type KubeObject, podDisruptionBudgetResource, podResource } from "@millwright/kube";
import { eventually } from "./eventually.ts";

const namespace = "default";

/** Deployments of pods. */
export const deploymentResource = {
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  singular: "deployment",
  shortNames: ["deploy"],
  namespaced: true,
} as const;

/** Workloads on the nodes of a cluster. */
export interface RunningWorkloads {
  /** Creates a Deployment. */
  deploy(name: string, replicas: number): Promise<void>;
  /** Forbids every eviction of a Deployment's pods until the returned function is called. */
  forbidEvictions(name: string): Promise<() => Promise<void>>;
  /** Names of the pods on a node that are not terminating, sorted. */
  podsOn(nodeName: string): Promise<readonly string[]>;
  /** Resolves when scheduler, kubelets and workload controllers have stopped. */
  close(): Promise<void>;
}

interface PodObject extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
}

interface BudgetObject extends KubeObject {
  readonly status?: { readonly expectedPods?: number; readonly currentHealthy?: number };
}

/** Starts scheduler, kubelets and workload controllers for a cluster that has none of its own. */
export function startWorkloads(
  api: ApiClient,
  options: Partial<Pick<WorkloadsOptions, "clusterFaults" | "attachMs" | "detachMs">> = {},
): RunningWorkloads {
  const stop = new AbortController();
  const workloads = createWorkloads({ api, clock: systemClock, podStartMs: 50, podStopMs: 100, ...options });
  const ended = workloads.start(stop.signal);
  return {
    async deploy(name, replicas) {
      const labels = { app: name };
      await api.create(deploymentResource, {
        metadata: { name, namespace },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name, image: "pause" }] } },
        },
      });
    },
    async forbidEvictions(name) {
      const ref = { namespace, name };
      await api.create(podDisruptionBudgetResource, {
        metadata: ref,
        spec: { maxUnavailable: 0, selector: { matchLabels: { app: name } } },
      });
      // A budget forbids nothing before the disruption controller has counted, nor for pods that are not ready.
      await eventually(async () => {
        const budget = await api.get<BudgetObject>(podDisruptionBudgetResource, ref);
        const { expectedPods = 0, currentHealthy = 0 } = budget.status ?? {};
        if (expectedPods === 0 || currentHealthy < expectedPods) throw new Error(`budget ${name} is not in force`);
      });
      return async () => void (await api.delete(podDisruptionBudgetResource, ref));
    },
    async podsOn(nodeName) {
      const { items } = await api.list<PodObject>(podResource, { namespace });
      return items
        .filter(({ metadata, spec }) => spec?.nodeName === nodeName && metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.name ?? "")
        .toSorted((a, b) => (a < b ? -1 : 1));
    },
    async close() {
      stop.abort(new Error("the test ends"));
      await ended;
    },
  };
}
