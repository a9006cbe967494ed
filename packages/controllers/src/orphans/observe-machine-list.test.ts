import { machineResource, machineSetResource } from "@millwright/core/machine-api";
import { expect, onTestFinished, test } from "vitest";
import type { ControllerContext } from "../cluster/context.ts";
import type { CrdGuard } from "../model/crd-guard.ts";
import { aMachine, aMachineSet, beingDeleted, named } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { observeMachineList } from "./observe-machine-list.ts";

/** The context of a process whose caches are filled. */
async function aContext(): Promise<ControllerContext> {
  const { api, newContext, run } = createTestCluster();
  api.seed(machineResource, aMachine());
  api.seed(machineSetResource, aMachineSet(named("kept"), { spec: { replicas: 3 } }));
  api.seed(machineSetResource, aMachineSet(named("leaving"), { spec: { replicas: 5 } }, beingDeleted()));
  const context = newContext();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await run(context, stop.signal);
  return context;
}

test.each(["machines", "sets"] as const)(
  "a cache of %s that is outdated, or lost its server, is not up to date",
  async (name) => {
    const context = await aContext();
    const { caches } = context;
    const cache = caches[name];
    const isCurrentWith = (change: object): boolean =>
      observeMachineList({ ...context, caches: { ...caches, [name]: { ...cache, ...change } } }).isCurrent;
    const lost = (ms: number) => ({ connectivity: { ...cache.connectivity, lostForMs: () => ms } });
    expect(isCurrentWith({})).toBe(true);
    expect(isCurrentWith({ isCurrent: () => false })).toBe(false);
    expect([isCurrentWith(lost(9_999)), isCurrentWith(lost(10_000))]).toEqual([true, false]);
  },
);

test("only sets that stay count", async () => {
  expect(observeMachineList(await aContext())).toMatchObject({ count: 1, desired: 3 });
});

test.each(["Machine", "MachineSet", "MachineDeployment"])("the deleted CRD of %s is found", async (kind) => {
  const stateOf: CrdGuard["stateOf"] = (each) => ({ name: each, state: each === kind ? "deleted" : "unknown" });
  const context = await aContext();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rest of it is not used
  const crdGuard = { stateOf } as CrdGuard;
  expect(observeMachineList({ ...context, crdGuard }).deletedCrds).toEqual([kind]);
});
