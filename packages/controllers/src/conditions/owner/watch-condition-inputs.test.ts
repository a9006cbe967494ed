import {
  type Machine,
  type MachineDeployment,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { findCondition, nodeResource } from "@millwright/kube";
import { serverError } from "@millwright/kube/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMachineDeploymentController } from "../../machine-deployment/controller.ts";
import { createMachineSetController } from "../../machine-set/controller.ts";
import { aMachineClass, aMachineDeployment, inPhase, labeled, testNamespace } from "../../testing/builders.ts";
import { createTestCluster, type TestCluster } from "../../testing/cluster.ts";

const down = "The API server of the target cluster is unreachable";
const at = { namespace: testNamespace, name: "pool" };

describe("owners of machines whose nodes' API server is lost", () => {
  let cluster: TestCluster;
  let stop: AbortController;

  beforeEach(async () => {
    stop = new AbortController();
    cluster = createTestCluster();
    const { api, clock, newContext, run } = cluster;
    api.seed(machineClassResource, aMachineClass());
    api.seed(machineDeploymentResource, aMachineDeployment());
    const context = newContext();
    await run(context, stop.signal);
    void createMachineDeploymentController(context, 1).start(stop.signal);
    void createMachineSetController(context, 1).start(stop.signal);
    await clock.advance(5_000);
    for (const { metadata } of api.all<Machine>(machineResource)) {
      const joined = { ...inPhase("Running"), spec: { providerID: `vm-${metadata.name}` } };
      api.seed(nodeResource, {
        metadata: { name: metadata.name },
        spec: joined.spec,
        status: { conditions: [{ type: "Ready", status: "True" }] },
      });
      api.change(machineResource, { ...at, name: metadata.name }, { ...joined, ...labeled({ node: metadata.name }) });
    }
    await clock.advance(5_000);
  });
  afterEach(() => stop.abort(new Error("the test is over")));

  /** Messages of deployment and set about their machines. */
  const messages = (): readonly (string | undefined)[] => {
    const { api } = cluster;
    const deployment = api.peek<MachineDeployment>(machineDeploymentResource, at);
    const [set] = api.all<MachineSet>(machineSetResource);
    return [deployment?.status?.conditions, set?.status?.machineSetCondition].map(
      (list) => findCondition(list, "MachinesReady")?.message,
    );
  };
  /** Whether they report that the target cluster is unreachable. */
  const reported = (): readonly boolean[] => messages().map((message) => message?.includes(down) === true);
  const lose = (times: number): void => {
    for (const verb of ["list", "watch"] as const)
      cluster.api.inject({ verb, type: nodeResource, error: serverError(), times });
    cluster.api.endWatches();
  };

  it("report it once it is lost for half a minute, although nothing else happens", async () => {
    const { api, clock } = cluster;
    lose(1_000_000);
    await clock.advance(29_000);
    expect(reported()).toEqual([false, false]);
    api.calls.length = 0;
    await clock.advance(3_000);
    expect(reported()).toEqual([true, true]);
    expect(api.writes().map(({ subresource }) => subresource)).toEqual(["status", "status"]);
    await clock.advance(600_000);
    expect(api.writes()).toHaveLength(2);
  });

  it("take it back when it answers again", async () => {
    const { clock } = cluster;
    lose(14);
    await clock.advance(32_000);
    expect(reported()).toEqual([true, true]);
    await clock.advance(600_000);
    expect(reported()).toEqual([false, false]);
  });

  it("do not report a shorter loss", async () => {
    const { api, clock } = cluster;
    lose(3);
    api.calls.length = 0;
    await clock.advance(300_000);
    expect([reported(), api.writes()]).toEqual([[false, false], []]);
  });

  const copyless: readonly (readonly [string, (name: string) => unknown])[] = [
    ["goes", (name) => cluster.api.delete(machineResource, { ...at, name })],
    ["is being made", (name) => cluster.api.change(machineResource, { ...at, name }, inPhase("CrashLoopBackOff"))],
  ];
  it.each(copyless)("follow the node of a machine that %s, whose health is not copied", async (_, change) => {
    const { api, clock } = cluster;
    const [machine] = api.all<Machine>(machineResource);
    const { name = "" } = machine?.metadata ?? {};
    await change(name);
    await clock.advance(5_000);
    api.change(nodeResource, { name }, { status: { conditions: [{ type: "Ready", status: "False" }] } });
    await clock.advance(5_000);
    for (const message of messages()) expect(message).toContain("Node.Ready: Condition is False");
  });

  it("see that the node of a machine is gone which is Unknown already, and does not change for that", async () => {
    const { api, clock } = cluster;
    const [machine] = api.all<Machine>(machineResource);
    const { name = "" } = machine?.metadata ?? {};
    api.change(machineResource, { ...at, name }, inPhase("Unknown"));
    await clock.advance(5_000);
    api.remove(nodeResource, { name });
    await clock.advance(5_000);
    for (const message of messages())
      expect(message).toContain(`Waiting for a Node with spec.providerID vm-${name} to exist`);
  });
});
