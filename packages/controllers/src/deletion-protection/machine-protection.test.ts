import {
  annotationKeys,
  type Machine,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { afterAll, describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  inPhase,
  named,
  ownedBy,
  testNamespace,
} from "../testing/builders.ts";
import { serverError } from "@millwright/kube/testing";
import { createTestCluster } from "../testing/cluster.ts";
import { createMachineProtection, watchProtection } from "./machine-protection.ts";

const isKept = annotated({ [annotationKeys.deletionProtection]: "true" });
const stop = new AbortController();
afterAll(() => stop.abort());

/** A terminating machine of a set of a deployment, in the caches of a process. */
async function begin(
  ofMachine: Change<Machine> = {},
  ofDeployment: Change<ReturnType<typeof aMachineDeployment>> = isKept,
) {
  const { api, newContext, run } = createTestCluster();
  const deployment = api.seed(machineDeploymentResource, aMachineDeployment(ofDeployment));
  const set = api.seed(machineSetResource, aMachineSet(ownedBy(deployment)));
  const machine = api.seed(machineResource, aMachine(ownedBy(set), beingDeleted("2026-01-01T12:00:00Z"), ofMachine));
  const context = newContext();
  await run(context, stop.signal);
  return { api, context, machine, set, protection: createMachineProtection(context) };
}

describe("a machine that is deleted in a protected deployment", () => {
  it("is unknown until its owners were read after its deletion, and then not protected", async () => {
    const { protection, machine } = await begin();
    expect(protection.of(machine)).toEqual({ state: "unknown" });
    await protection.refresh(machine);
    expect(protection.of(machine)).toEqual({ state: "unprotected" });
    protection.forget(machine.metadata.uid ?? "");
    expect(protection.of(machine)).toEqual({ state: "unknown" });
  });

  it("is protected when the API server has a deletion of the deployment that the cache lacks", async () => {
    const { protection, machine, context, api } = await begin();
    const ref = { namespace: testNamespace, name: "pool" };
    const stale = context.caches.deployments.store.getByRef(ref);
    await api.delete(machineDeploymentResource, ref);
    if (stale !== undefined) context.caches.deployments.store.applyWrite(stale);
    await protection.refresh(machine);
    expect(protection.of(machine)).toEqual({
      state: "protected",
      by: { kind: "MachineDeployment", name: "pool" },
    });
  });

  it("needs no read when its deletion has begun, its deployment is not protected, or it has none", async () => {
    const begun = { status: { lastOperation: { type: "Delete", description: "Initiate node drain" } } };
    const draining = await begin({
      ...inPhase("Terminating"),
      ...begun,
      status: { ...inPhase("Terminating").status, ...begun.status },
    });
    expect(draining.protection.of(draining.machine)).toEqual({ state: "unprotected" });
    const plain = await begin({}, {});
    expect(plain.protection.of(plain.machine)).toEqual({ state: "unprotected" });
    const single = aMachine(beingDeleted());
    expect(plain.protection.of(single)).toEqual({ state: "unprotected" });
    await plain.protection.refresh(single);
  });

  it("is unprotected while it is not terminating, whatever its annotation", async () => {
    const { protection } = await begin();
    expect(protection.of(aMachine(isKept))).toEqual({ state: "unprotected" });
  });

  it("is read without an error when its set does not exist any more", async () => {
    const { protection, machine, api } = await begin();
    await api.patch(
      machineSetResource,
      { namespace: testNamespace, name: "set" },
      { metadata: { finalizers: null } },
      { kind: "merge" },
    );
    await api.delete(machineSetResource, { namespace: testNamespace, name: "set" });
    await expect(protection.refresh(machine)).resolves.toBeUndefined();
  });
});

it("a failed read of the owners is an error, and the protection stays unknown", async () => {
  const { api, machine, protection } = await begin();
  api.inject({ verb: "get", type: machineDeploymentResource, error: serverError(), times: 1 });
  await expect(protection.refresh(machine)).rejects.toThrow("");
  expect(protection.of(machine)).toEqual({ state: "unknown" });
});

it("the end of a protected deployment enqueues its terminating machines, and no others", async () => {
  const { context, api, set } = await begin();
  api.seed(machineResource, aMachine(named("alive"), ownedBy(set)));
  await new Promise((resolve) => setImmediate(resolve));
  const enqueued: string[] = [];
  watchProtection(context, ({ metadata }) => void enqueued.push(metadata.name));
  enqueued.length = 0;
  const ref = { namespace: testNamespace, name: "pool" };
  await api.patch(machineDeploymentResource, ref, { metadata: { finalizers: null } }, { kind: "merge" });
  await api.delete(machineDeploymentResource, ref);
  await new Promise((resolve) => setImmediate(resolve));
  expect(enqueued).toEqual(["machine"]);
});

it("a change of the protection of a deployment enqueues its terminating machines, and no other change does", async () => {
  const { context, api } = await begin();
  const enqueued: string[] = [];
  watchProtection(context, ({ metadata }) => void enqueued.push(metadata.name));
  // The watch begins with what is there.
  enqueued.length = 0;
  const ref = { namespace: testNamespace, name: "pool" };
  const patch = (annotations: Readonly<Record<string, string | null>>) =>
    api.patch(machineDeploymentResource, ref, { metadata: { annotations } }, { kind: "merge" });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await patch({ other: "x" });
  await settle();
  expect(enqueued).toEqual([]);
  await patch({ [annotationKeys.deletionProtection]: null });
  await settle();
  // Once for the deployment as it was, and once as it is.
  expect(new Set(enqueued)).toEqual(new Set(["machine"]));
});
