import type { ClusterFault } from "@millwright/devcluster";
import { podDisruptionBudgetResource } from "@millwright/kube";
import { applications } from "../world/applications.ts";
import { namespace } from "../world/controller-process.ts";
import type { FaultKind, FaultStage } from "./fault.ts";

const MINUTE = 60_000;

const oneApplication = ({ choices }: FaultStage): string =>
  choices.oneOf([applications.stateless, applications.stateful]);

/** A fault of pods and volumes, as the development cluster has it. */
const cluster = (maxMs: number, what: string, faultOf: (stage: FaultStage) => ClusterFault): FaultKind => ({
  maxMs,
  begin(stage) {
    const fault = faultOf(stage);
    const { remove } = stage.world.server.clusterFaults.add(fault);
    return { what: `${what}: ${JSON.stringify(fault)}`, end: remove };
  },
});

const app = (stage: FaultStage): { readonly labels: Readonly<Record<string, string>> } => ({
  labels: { app: oneApplication(stage) },
});

/** Faults of pods, their budgets and their volumes. */
export const podFaults = {
  "budget-blocks": {
    maxMs: 20 * MINUTE,
    async begin(stage) {
      const name = oneApplication(stage);
      const set = async (maxUnavailable: number): Promise<void> => {
        const ref = { namespace, name };
        const patch = { spec: { maxUnavailable } };
        await stage.world.people
          .patch(podDisruptionBudgetResource, ref, patch, { kind: "merge" })
          .catch(() => undefined);
      };
      await set(0);
      return { what: `the budget of ${name} allows no disruption`, end: () => void set(1) };
    },
  },
  "pod-never-ends": cluster(15 * MINUTE, "pods do not end", (stage) => ({ kind: "pod-never-ends", ...app(stage) })),
  "pod-not-ready": cluster(10 * MINUTE, "pods are not ready", (stage) => ({ kind: "pod-not-ready", ...app(stage) })),
  "pod-never-starts": cluster(10 * MINUTE, "pods do not start", (stage) => ({
    kind: "pod-never-starts",
    ...app(stage),
  })),
  "never-detaches": cluster(15 * MINUTE, "volumes are not detached", () => ({ kind: "never-detaches" })),
  "never-attaches": cluster(10 * MINUTE, "volumes are not attached", () => ({ kind: "never-attaches" })),
} as const satisfies Readonly<Record<string, FaultKind>>;
