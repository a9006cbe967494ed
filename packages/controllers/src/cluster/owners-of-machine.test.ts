import { machineDeploymentResource, machineSetResource } from "@millwright/core/machine-api";
import { expect, onTestFinished, test } from "vitest";
import { aMachine, aMachineDeployment, aMachineSet, ownedBy } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { ownersOfMachine } from "./owners-of-machine.ts";

const deployment = aMachineDeployment();
const set = aMachineSet(ownedBy(deployment));
const machine = aMachine(ownedBy(set));
const another = { metadata: { uid: "another" } };

/** The owners of the machine among those objects: their UIDs. */
async function ownersAmong(sets: readonly object[], deployments: readonly object[]): Promise<readonly unknown[]> {
  const { api, newContext, run } = createTestCluster();
  for (const each of sets) api.seed(machineSetResource, aMachineSet(ownedBy(deployment), each));
  for (const each of deployments) api.seed(machineDeploymentResource, aMachineDeployment(each));
  const context = newContext();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await run(context, stop.signal);
  const owners = ownersOfMachine(machine, context);
  return [owners.set?.metadata.uid, owners.deployment?.metadata.uid];
}

test("the owners of a machine are its set and the deployment of that", async () => {
  expect(await ownersAmong([{}], [{}])).toEqual([set.metadata.uid, deployment.metadata.uid]);
});

test("objects that replaced the owners of a machine under their names do not own it", async () => {
  expect(await ownersAmong([another], [{}])).toEqual([undefined, undefined]);
  expect(await ownersAmong([{}], [another])).toEqual([set.metadata.uid, undefined]);
});
