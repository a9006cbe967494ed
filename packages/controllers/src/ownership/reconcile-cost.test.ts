import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMachineDeploymentController } from "../machine-deployment/controller.ts";
import { createMachineSetController } from "../machine-set/controller.ts";
import {
  aMachine,
  aMachineClass,
  aMachineDeployment,
  aMachineSet,
  inPhase,
  labeled,
  named,
  ownedBy,
  refOf,
  testNamespace,
} from "../testing/builders.ts";
import { createTestCluster, type TestCluster } from "../testing/cluster.ts";
import { ownerPace } from "./owning-controller.ts";

const SECONDS = 3;
/** Between two changes of machines, milliseconds. */
const PERIOD_MS = 20;

describe("the cost of the owners of a large fleet", () => {
  let cluster: TestCluster;
  let stop: AbortController;
  beforeEach(() => {
    cluster = createTestCluster();
    stop = new AbortController();
  });
  afterEach(() => stop.abort(new Error("the test is over")));

  /** Creates so many deployments with a set and so many running machines each, and starts the controllers of deployments and sets. */
  async function start(owners: number, machines: number) {
    const { api, clock, newContext, run } = cluster;
    api.seed(machineClassResource, aMachineClass());
    for (let index = 0; index < owners; index++) {
      const name = `pool-${index}`;
      const size = { spec: { replicas: machines } };
      const deployment = aMachineDeployment(named(name), size);
      const set = aMachineSet(named(`set-${index}`), ownedBy(deployment), size, labeled({ pool: name }));
      api.seed(machineDeploymentResource, deployment);
      api.seed(machineSetResource, set);
      for (let each = 0; each < machines; each++)
        api.seed(machineResource, aMachine(named(`${name}-${each}`), ownedBy(set), inPhase("Running")));
    }
    const context = newContext();
    await run(context, stop.signal);
    const controllers = [createMachineDeploymentController(context, 10), createMachineSetController(context, 10)];
    for (const controller of controllers) void controller.start(stop.signal);
    await clock.advance(10_000);
    return { context, controllers };
  }

  /** Machines that one controller reads per second, the higher of both, while one machine after the other changes. */
  async function readPerSecond(owners: number, machines: number): Promise<number> {
    const { api, clock } = cluster;
    const { controllers } = await start(owners, machines);
    const before = controllers.map((controller) => controller.counts().reconciles);
    for (let ms = 0, turn = 0; ms < SECONDS * 1_000; ms += PERIOD_MS, turn++) {
      const name = `pool-${turn % owners}-${turn % machines}`;
      api.change(machineResource, { namespace: testNamespace, name }, { status: { node: `node-${turn}` } });
      await clock.advance(PERIOD_MS);
    }
    const reconciles = controllers.map((controller, index) => controller.counts().reconciles - (before[index] ?? 0));
    expect(Math.min(...reconciles)).toBeGreaterThan(0);
    return (Math.max(...reconciles) * machines) / SECONDS;
  }

  it.each([
    [1, 1_000],
    [1, 4_000],
    [8, 500],
  ])("is the same number of machines read per second for %d sets of %d machines", async (owners, machines) => {
    // One more reconcile than its share at each end.
    const margin = (2 * owners * machines) / SECONDS;
    expect(await readPerSecond(owners, machines)).toBeLessThanOrEqual(ownerPace.costPerSecond + margin);
  });

  it("delays a change of the size by two seconds at most", async () => {
    const { api, clock } = cluster;
    const { context } = await start(1, 4_000);
    for (let ms = 0, turn = 0; ms < 3_000; ms += PERIOD_MS, turn++) {
      api.change(machineResource, refOf(`pool-0-${turn}`), { status: { node: `node-${turn}` } });
      await clock.advance(PERIOD_MS);
    }
    api.change(machineDeploymentResource, refOf("pool-0"), { spec: { replicas: 4_001 } });
    // The deployment, and then its set.
    await clock.advance(2 * ownerPace.maxDelayMs);
    expect(context.caches.machines.store.size).toBe(4_001);
  });

  it("never delays a small set beside a large one", async () => {
    const { api, clock } = cluster;
    const { context } = await start(1, 4_000);
    const small = aMachineSet(named("small"), { spec: { replicas: 1 } });
    api.change(machineResource, refOf("pool-0-0"), { status: { node: "node-0" } });
    await clock.advance(10);
    api.change(machineResource, refOf("pool-0-0"), { status: { node: "node-1" } });
    await clock.advance(10);
    api.seed(machineSetResource, small);
    await clock.advance(10);
    expect(context.caches.machines.store.byIndex("owner", small.metadata.uid ?? "")).toHaveLength(1);
  });
});
