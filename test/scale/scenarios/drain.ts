import { type KubeObject, podResource } from "@millwright/kube";
import { createFleet, scale, untilRunning } from "./fleet.ts";
import type { Scenario, Stage } from "./scenario.ts";

const PODS_PER_NODE = 30;
const POLL_MS = 1_000;

interface PodObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const isReady = ({ status }: PodObject): boolean =>
  status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true;

async function untilPodsAreReady({ api, sleep }: Stage, count: number): Promise<void> {
  for (;;) {
    const { items } = await api.list<PodObject>(podResource, { namespace: "default" });
    if (items.filter(isReady).length === count) return;
    await sleep(POLL_MS);
  }
}

/** Drains of half of the nodes, whose pods move to the other half. */
export const drainScenario: Scenario = {
  name: "drain",
  measures: `half of the machines are deleted by a scale-down, with ${PODS_PER_NODE} pods on each node, which are evicted; until the machines are gone`,
  short: { machines: 10 },
  long: { machines: 50 },
  world: { withPods: true },
  async prepare(stage) {
    await createFleet(stage);
    const pods = PODS_PER_NODE * stage.size.machines;
    await stage.world({ kind: "deploy", name: "app", replicas: pods });
    await untilPodsAreReady(stage, pods);
  },
  async measure(stage) {
    const left = Math.ceil(stage.size.machines / 2);
    await scale(stage, "fleet", left);
    await untilRunning(stage, left);
  },
};
