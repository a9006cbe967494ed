import {
  labelKeys,
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { expect, it } from "vitest";
import { isDeleting } from "../model/phase.ts";
import type { Node } from "../model/node-objects.ts";
import { aMachineClass, aMachineDeployment, aNode } from "../testing/builders.ts";
import { aWholeCluster } from "../testing/whole-cluster.ts";

const taint = { key: "readiness.k8s.io/cni", value: "pending", effect: "NoSchedule" };
const { metadata: pool } = aMachineDeployment();
const MINUTE = 60_000;

/** A pool of three machines of the class `small`, whose kubelets register with a startup taint that an agent removes as long as it works. */
async function aPool() {
  const cluster = await aWholeCluster(1);
  const { api, clock } = cluster;
  let isAgentAtWork = true;
  const living = (className: string): readonly Machine[] =>
    api.all<Machine>(machineResource).filter((each) => each.spec.class?.name === className && !isDeleting(each));
  const kubelets = (): void => {
    for (const { metadata, spec } of api.all<Machine>(machineResource)) {
      const name = metadata.labels?.[labelKeys.node];
      const { providerID = "" } = spec;
      if (name === undefined || providerID === "" || api.peek(nodeResource, { name }) !== undefined) continue;
      const conditions = [{ type: "Ready", status: "True", lastTransitionTime: clock.now().toISOString() }];
      api.seed(
        nodeResource,
        aNode({
          metadata: { name, creationTimestamp: clock.now().toISOString() },
          spec: { providerID, taints: [taint] },
          status: { conditions },
        }),
      );
    }
  };
  const agent = (): void => {
    for (const { metadata, spec } of api.all<Node>(nodeResource))
      if (isAgentAtWork && spec?.taints?.some(({ key }) => key === taint.key) === true)
        api.change(nodeResource, metadata, { spec: { taints: spec.taints.filter(({ key }) => key !== taint.key) } });
  };
  /** Lets minutes go by, with a check after each. */
  const pass = async (minutes: number, check: () => void = () => undefined): Promise<void> => {
    for (let minute = 0; minute < minutes; minute++) {
      await cluster.pass(MINUTE / 2);
      kubelets();
      await cluster.pass(MINUTE / 2);
      agent();
      check();
    }
  };
  const rollOut = (className: string): void => {
    api.seed(machineClassResource, aMachineClass({ metadata: { name: className, uid: `uid-${className}` } }));
    api.change(machineDeploymentResource, pool, { spec: { template: { spec: { class: { name: className } } } } });
  };
  api.seed(
    machineDeploymentResource,
    aMachineDeployment({
      spec: { replicas: 3, strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
    }),
  );
  await pass(5);
  return {
    ...cluster,
    pass,
    rollOut,
    living,
    running: (className: string) => living(className).filter((each) => phaseOf(each) === "Running").length,
    setAgent: (isAtWork: boolean) => void (isAgentAtWork = isAtWork),
  };
}

it("stops a rollout at its surge while the startup taint of the new nodes stays, twice, and goes on when it is removed", async () => {
  const { pass, rollOut, living, running, setAgent } = await aPool();
  expect(running("small")).toBe(3);
  for (const [from, to] of [
    ["small", "big"],
    ["big", "huge"],
  ] as const) {
    setAgent(false);
    rollOut(to);
    let most = 0;
    await pass(180, () => {
      most = Math.max(most, living(to).length);
      expect([running(from), running(to)]).toEqual([3, 0]);
    });
    expect(most).toBe(1);
    setAgent(true);
    await pass(30);
    expect([living(from).length, running(to)]).toEqual([0, 3]);
  }
});

it("keeps machines in service whose nodes all get their startup taint again", async () => {
  const { pass, running, api, setAgent } = await aPool();
  const before = api.all<Machine>(machineResource).map(({ metadata }) => metadata.uid);
  setAgent(false);
  for (const { metadata } of api.all<Node>(nodeResource))
    api.change(nodeResource, metadata, { spec: { taints: [taint] } });
  await pass(180, () => expect(running("small")).toBe(3));
  expect(api.all<Machine>(machineResource).map(({ metadata }) => metadata.uid)).toEqual(before);
});
