import {
  labelKeys,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  type MachineDeployment,
} from "@millwright/core/machine-api";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  aNode,
  beingDeleted,
  type Change,
  named,
  ownedBy,
} from "../../testing/builders.ts";
import { createTestCluster } from "../../testing/cluster.ts";
import { joinsInRollout } from "./kept-from-scaler.ts";

const owner = aMachineDeployment();
const newSet = aMachineSet(named("new"), ownedBy(owner));
const oldSet = aMachineSet(named("old"), ownedBy(owner));
const machine = aMachine(named("machine"), ownedBy(newSet));
const sibling = aMachine(named("sibling"), ownedBy(newSet));
const old = aMachine(named("old"), ownedBy(oldSet));
const joined = aNode(named("node"));

interface Case {
  readonly node: typeof joined | undefined;
  readonly deployment: Change<MachineDeployment>;
  readonly of: typeof machine;
  readonly disablesScaleDown: boolean;
}

/** What is found with those machines besides the one of the node. */
async function joins(
  others: readonly (typeof old)[],
  { node = joined, deployment = {}, of = machine, disablesScaleDown }: Partial<Case> = {},
): Promise<boolean> {
  const { api, newContext, run } = createTestCluster();
  api.seed(machineDeploymentResource, aMachineDeployment(deployment));
  for (const set of [newSet, oldSet]) api.seed(machineSetResource, set);
  for (const each of [machine, ...others]) api.seed(machineResource, each);
  const context = newContext();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await run(context, stop.signal);
  return joinsInRollout(of, node, context, disablesScaleDown);
}
describe("joinsInRollout", () => {
  it("is true while another set of the deployment has machines", async () => {
    expect(await joins([old])).toBe(true);
  });

  it("is false without machines of another set", async () => {
    expect(await joins([sibling])).toBe(false);
  });

  it.each<[string, Partial<Case>]>([
    ["the node was synchronized before", { node: aNode({ metadata: { labels: { [labelKeys.machineName]: "x" } } }) }],
    ["the deployment is paused", { deployment: { spec: { paused: true } } }],
    ["the deployment is being deleted", { deployment: beingDeleted() }],
    ["the machine has no deployment", { of: aMachine(named("machine")) }],
  ])("is false when %s", async (_, given) => {
    expect(await joins([old], given)).toBe(false);
  });

  it("is false where rollouts leave scale-down enabled", async () => {
    expect(await joins([old], { disablesScaleDown: false })).toBe(false);
  });

  it("is false without a node", async () => {
    const { newContext } = createTestCluster();
    expect(joinsInRollout(machine, undefined, newContext())).toBe(false);
  });
});
