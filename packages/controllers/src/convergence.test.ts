import { seededRandom } from "@millwright/base";
import { labelKeys, type Machine, machineDeploymentResource, machineResource } from "@millwright/core/machine-api";
import { nodeResource, podResource } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { Node } from "./model/node-objects.ts";
import { aMachineDeployment, aNode } from "./testing/builders.ts";
import { machineEvents } from "./testing/random-events/machine-events.ts";
import { outsideFaults } from "./testing/random-events/outside-faults.ts";
import type { RandomEvents } from "./testing/random-events/stage.ts";
import { specChanges } from "./testing/random-events/spec-changes.ts";
import { aWholeCluster } from "./testing/whole-cluster.ts";

/** Times that go by between two things that happen. */
const seconds = [0, 1, 7, 31, 65, 200, 700, 3_700];

async function play(seed: number) {
  const cluster = await aWholeCluster(
    seed,
    { maxConcurrentCreationsPerClass: [1, 2, 50][seed % 3] ?? 1 },
    {
      initializes: seed % 5 === 0,
      ...(seed % 7 === 0 ? { nodeName: ({ metadata }) => `shared-${metadata.name.slice(-1)}` } : {}),
    },
  );
  const { api, clock, driver, pass } = cluster;
  const random = seededRandom(seed * 7919 + 1);
  const below = (count: number): number => Math.floor(random.next() * count);
  const oneOf = <T>(list: readonly T[]): T | undefined => list[below(list.length)];
  const chance = (part: number): boolean => random.next() < part;
  let last = 0;
  const stage = { api, clock, driver, below, oneOf, chance, next: () => ++last };
  const all: RandomEvents = { ...specChanges(stage), ...machineEvents(stage), ...outsideFaults(stage) };
  const names = Object.keys(all);
  const log: string[] = [];
  const machines = () => api.all<Machine>(machineResource);
  const nodes = () => api.all<Node>(nodeResource);

  /** Kubelets: most VMs join. */
  const kubelets = (): void => {
    for (const { metadata, spec } of machines()) {
      const name = metadata.labels?.[labelKeys.node];
      const providerID = spec.providerID ?? "";
      if (name === undefined || providerID === "" || !driver.vms.has(metadata.uid ?? "") || !chance(0.9)) continue;
      if (nodes().some((node) => node.metadata.name === name)) continue;
      api.seed(
        nodeResource,
        aNode({
          metadata: { name, creationTimestamp: clock.now().toISOString() },
          spec: { providerID },
          status: { conditions: [{ type: "Ready", status: "True", lastTransitionTime: clock.now().toISOString() }] },
        }),
      );
      if (chance(0.3) && api.peek(podResource, { namespace: "default", name: `on-${name}` }) === undefined)
        api.seed(podResource, {
          metadata: { namespace: "default", name: `on-${name}`, finalizers: chance(0.5) ? ["x/y"] : [] },
          spec: { nodeName: name },
        });
    }
  };
  api.seed(machineDeploymentResource, aMachineDeployment());
  await pass(1_000);
  kubelets();
  await pass(1_000);
  const steps = 4 + below(14);
  for (let step = 0; step < steps; step++) {
    const name = oneOf(names) ?? "scale";
    const ms = 1_000 * (oneOf(seconds) ?? 0) + below(1_000);
    log.push(`${name} +${ms}`);
    await Promise.resolve(all[name]?.()).catch(() => undefined);
    await pass(ms);
    if (chance(0.8)) kubelets();
  }
  const rest = 1_000 * below(7_200);
  log.push(`rest ${rest}`);
  await pass(rest);
  const undone = await cluster.missedWork();
  all["let"]?.();
  return { undone, log };
}

// Facts outside the caches (driver calls, the launch throttle, the remediation budget, connectivity) change the decisions as well: every change must requeue.
describe("at rest", () => {
  it.each(Array.from({ length: 24 }, (_, index) => index + 1))("nothing is left undone, seed %i", async (seed) => {
    const { undone, log } = await play(seed);
    expect(undone, log.join("\n")).toEqual([]);
  });
});
