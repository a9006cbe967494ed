import { seededRandom } from "@millwright/base";
import {
  leaseNames,
  type Machine,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { aMachine, aMachineDeployment, aMachineSet, named, ownedBy } from "@millwright/controllers/testing";
import { type KubeObject, leaseResource, newControllerRef } from "@millwright/kube";
import { createFakeApi } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { restoreFleet } from "./restore-fleet.ts";

const deployment = aMachineDeployment({ spec: { replicas: 2 } });
const set = aMachineSet({
  metadata: { ownerReferences: [newControllerRef(machineDeploymentResource, deployment)] },
  spec: { replicas: 2 },
  status: { observedGeneration: 1 },
});
const { namespace = "" } = set.metadata;
const ref = { namespace, name: set.metadata.name };
const machine = (name: string): Machine =>
  aMachine(named(name), ownedBy(set), { spec: { providerID: `mock:///small/${name}` } });

/** Restores four machines into a deployment of two that has none. */
async function restoreBeside({ isLed }: { readonly isLed: boolean }) {
  const clock = createVirtualClock();
  const api = createFakeApi({ clock, random: seededRandom(1) });
  api.seed(machineDeploymentResource, deployment);
  api.seed(machineSetResource, set);
  const renewTime = new Date(clock.now()).toISOString();
  for (const name of isLed ? leaseNames : [])
    api.seed(leaseResource, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace, name },
      spec: { holderIdentity: "controllers", leaseDurationSeconds: 15, renewTime, acquireTime: renewTime },
    });
  const manifests = ["a", "b", "c", "d"].map((name) => ({ source: name, object: machine(name) as KubeObject }));
  const result: { ended?: "restored" | Error } = {};
  void restoreFleet({
    control: api,
    namespace,
    manifests: [{ source: "set", object: set }, ...manifests],
    isDryRun: false,
    ignoresCloud: true,
    driverFor: () => Promise.reject(new Error("the cloud is not asked")),
    clock,
    log: () => {},
    signal: new AbortController().signal,
  }).then(
    () => (result.ended = "restored"),
    (error: Error) => (result.ended = error),
  );
  const pass = async (ms: number): Promise<void> => {
    for (let turn = 0; turn < 60; turn++) await clock.advance(0);
    await clock.advance(ms);
    for (let turn = 0; turn < 60; turn++) await clock.advance(0);
  };
  const sizeOfSet = (): number | undefined => api.peek<MachineSet>(machineSetResource, ref)?.spec.replicas;
  return { api, result, pass, sizeOfSet, machines: () => api.all(machineResource).length };
}

it("creates machines once the controllers have seen the size of their set", async () => {
  const { api, result, pass, sizeOfSet, machines } = await restoreBeside({ isLed: true });
  await pass(30_000);
  expect([sizeOfSet(), machines(), result.ended]).toEqual([4, 0, undefined]);
  api.change(machineSetResource, ref, { status: { observedGeneration: 2 } });
  await pass(1_000);
  expect([machines(), result.ended]).toEqual([4, "restored"]);
});

it("creates none beside controllers that lead and do not see it within a minute", async () => {
  const { result, pass, machines } = await restoreBeside({ isLed: true });
  await pass(61_000);
  expect(result.ended).toMatchObject({
    message: expect.stringContaining("the controllers have not seen the size of MachineSet set"),
  });
  expect(machines()).toBe(0);
});

it("waits a few seconds where no Lease shows that any controllers run", async () => {
  const { result, pass, machines } = await restoreBeside({ isLed: false });
  await pass(4_000);
  expect([machines(), result.ended]).toEqual([0, undefined]);
  await pass(2_000);
  expect([machines(), result.ended]).toEqual([4, "restored"]);
});
