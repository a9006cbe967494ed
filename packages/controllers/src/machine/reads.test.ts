import { type Machine, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { nodeResource, secretResource } from "@millwright/kube";
import { serverError } from "@millwright/kube/testing";
import { afterEach, expect, it } from "vitest";
import type { Node } from "../model/node-objects.ts";
import { aMachine, aMachineClass, aNode, inPhase, labeled, named, refOf, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { createFakeDriver } from "../testing/fake-driver.ts";
import { createMachineController } from "./controller.ts";
import { defaultMachineSettings } from "../model/machine-settings.ts";
import { fixed } from "../model/live.ts";

const userData = (text: string) => ({ userData: Buffer.from(text).toString("base64") });
const stop = new AbortController();
afterEach(() => stop.abort());

async function setUp(prepare: (api: ReturnType<typeof createTestCluster>["api"]) => void = () => {}) {
  const { api, clock, newContext, run } = createTestCluster();
  const driver = createFakeDriver();
  api.seed(machineClassResource, aMachineClass());
  api.seed(secretResource, { metadata: refOf("small"), data: userData("boot") } as never);
  prepare(api);
  const context = newContext();
  const end = new AbortController();
  stop.signal.addEventListener("abort", () => end.abort());
  const { controller } = createMachineController(context, {
    driver,
    settings: fixed(defaultMachineSettings),
    workers: 4,
  });
  await run(context, end.signal);
  void controller.start(end.signal);
  await clock.advance(100);
  /** What was read one by one, by resource. */
  const reads = (): readonly string[] =>
    api.calls.filter(({ verb }) => verb === "get").map(({ resource, key }) => `${resource.split(".")[0]} ${key}`);
  const phase = (name: string) => api.peek<Machine>(machineResource, refOf(name))?.status?.currentStatus?.phase;
  return { api, clock, driver, reads, phase };
}

it("reads a Secret once for all machines of its class, and once more when its values change", async () => {
  const { api, clock, driver, reads, phase } = await setUp();
  for (const name of ["a", "b", "c"]) api.seed(machineResource, aMachine(named(name)));
  await clock.advance(1_100);
  expect(["a", "b", "c"].map(phase)).toEqual(["Pending", "Pending", "Pending"]);
  expect(reads()).toEqual([`secrets ${testNamespace}/small`]);
  api.change(secretResource, refOf("small"), { data: userData("boot again") });
  api.seed(machineResource, aMachine(named("d")));
  await clock.advance(1_100);
  expect([phase("d"), reads().length, driver.vms.size]).toEqual(["Pending", 2, 4]);
});

it("creates no machine from a Secret that cannot be read, and does as soon as it can", async () => {
  const { api, clock, driver, phase } = await setUp((server) =>
    server.inject({ verb: "get", type: secretResource, error: serverError(), times: 4 }),
  );
  api.seed(machineResource, aMachine());
  await clock.advance(5);
  expect([phase("machine"), driver.calls]).toEqual([undefined, []]);
  await clock.advance(60_000);
  expect([phase("machine"), driver.calls]).toEqual(["Pending", ["ensureVm machine"]]);
});

// MCM reads the Node from the API server in every reconcile of every machine.
it("takes a node through an update in place, and reads it from the cache alone", async () => {
  const nodeRef = { name: "node-of-machine" };
  const { api, clock, reads, phase } = await setUp((server) => {
    server.seed(
      machineResource,
      aMachine(inPhase("Running"), labeled({ node: nodeRef.name }), { spec: { providerID: "vm-1" } }),
    );
    const ready = { conditions: [{ type: "Ready", status: "True" }] };
    server.seed(nodeResource, aNode({ metadata: nodeRef, spec: { providerID: "vm-1" }, status: ready }));
  });
  const step = async (label: string, value: string): Promise<string | undefined> => {
    const key = `node.machine.sapcloud.io/${label}`;
    api.change(nodeResource, nodeRef, { metadata: { labels: { [key]: value } } });
    await clock.advance(1_000);
    const { status } = api.peek<Node>(nodeResource, nodeRef) ?? {};
    return status?.conditions?.find(({ type }) => type === "InPlaceUpdate")?.reason;
  };
  expect(await step("candidate-for-update", "true")).toBe("CandidateForUpdate");
  expect(await step("selected-for-update", "true")).toBe("ReadyForUpdate");
  expect(phase("machine")).toBe("InPlaceUpdating");
  expect(await step("update-result", "successful")).toBe("UpdateSuccessful");
  expect(phase("machine")).toBe("Running");
  await clock.advance(3_600_000);
  expect(reads().filter((read) => read.startsWith("nodes"))).toEqual([]);
});
