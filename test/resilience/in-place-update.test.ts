import {
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { type KubeObject, nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type RunningWorkloads, startWorkloads } from "../harness/workloads.ts";

const candidate = "node.machine.sapcloud.io/candidate-for-update";
const selected = "node.machine.sapcloud.io/selected-for-update";
const result = "node.machine.sapcloud.io/update-result";
const failedReason = "node.machine.sapcloud.io/update-failed-reason";

interface NodeObject extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  };
}

describe("an in-place update with a simulated agent", () => {
  let installation: Installation;
  let workloads: RunningWorkloads;
  let name: string;
  let nodeName: string;

  const machine = (): Promise<Machine> =>
    installation.api.get<Machine>(machineResource, { namespace: "default", name });
  const node = (): Promise<NodeObject> => installation.api.get<NodeObject>(nodeResource, { name: nodeName });
  const untilPhase = (phase: string): Promise<Machine> =>
    eventually(async () => {
      const found = await machine();
      expect(found.status?.currentStatus?.phase).toBe(phase);
      return found;
    });
  const untilReason = (reason: string): Promise<void> =>
    eventually(async () => {
      const condition = (await node()).status?.conditions?.find(({ type }) => type === "InPlaceUpdate");
      expect(condition?.reason).toBe(reason);
    });
  const label = (labels: Readonly<Record<string, string | null>>, annotations = {}): Promise<unknown> =>
    installation.api.patch(nodeResource, { name: nodeName }, { metadata: { labels, annotations } }, { kind: "merge" });
  const createFleet = async (replicas: number): Promise<void> => {
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", replicas));
    await eventually(async () => {
      const { items } = await installation.api.list<Machine>(machineResource, { namespace: "default" });
      const phases = items.map(({ status }) => status?.currentStatus?.phase);
      expect(phases).toEqual(Array.from({ length: replicas }, () => "Running"));
      name = items[0]?.metadata.name ?? "";
      nodeName = items[0]?.metadata.labels?.["node"] ?? "";
    }, 60_000);
  };

  beforeEach(async () => {
    installation = await startInstallation();
    workloads = startWorkloads(installation.api);
    await installation.api.create(machineClassResource, machineClass("small"));
  });

  afterEach(async () => {
    await workloads.close();
    await installation.close();
  });

  it("drains the node, selects it for the agent and accepts its report while the controller is killed twice", async () => {
    const first = installation.runAlone();
    await createFleet(2);
    const vms = installation.cloud.vms().map(({ providerId }) => providerId);
    await workloads.deploy("web", 4);
    await eventually(async () => expect((await workloads.podsOn(nodeName)).length).toBeGreaterThan(0));
    const allow = await workloads.forbidEvictions("web");

    await label({ [candidate]: "true" });
    await untilReason("CandidateForUpdate");
    await label({ [selected]: "true" });
    await eventually(async () => expect((await machine()).status?.lastOperation?.type).toBe("DrainNode"));
    await first.stop("SIGKILL");
    expect((await workloads.podsOn(nodeName)).length).toBeGreaterThan(0);
    // A report before the node is ready for the update is ignored.
    await label({ [result]: "successful" });
    const second = installation.runAlone();
    await eventually(async () => expect((await node()).metadata.labels).not.toHaveProperty([result]));
    await allow();
    await untilReason("ReadyForUpdate");
    await untilPhase("InPlaceUpdating");
    expect(await workloads.podsOn(nodeName)).toEqual([]);
    expect((await node()).spec?.unschedulable).toBe(true);

    await second.stop("SIGKILL");
    await label({ [result]: "successful" });
    installation.runAlone();
    await untilReason("UpdateSuccessful");
    const updated = await untilPhase("Running");
    expect(updated.metadata.uid).toBe((await machine()).metadata.uid);
    expect(installation.cloud.vms().map(({ providerId }) => providerId)).toEqual(vms);

    // A report after the end changes nothing.
    const before = (await machine()).metadata.resourceVersion;
    await label({ [result]: "failed" }, { [failedReason]: "too late" });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await untilReason("UpdateSuccessful");
    expect((await machine()).metadata.resourceVersion).toBe(before);

    // The deployment controller removes the labels; the next rollout starts from the beginning.
    await label({ [result]: null, [selected]: null }, { [failedReason]: null });
    await untilReason("CandidateForUpdate");
  });

  it("reports why an update failed, and accepts a later success", async () => {
    installation.runAlone();
    await createFleet(1);
    await label({ [candidate]: "true", [selected]: "true" });
    await untilReason("ReadyForUpdate");
    await label({ [result]: "failed" }, { [failedReason]: "disk is full" });
    const failed = await untilPhase("InPlaceUpdateFailed");
    expect(failed.status?.lastOperation).toMatchObject({
      type: "InPlaceUpdate",
      state: "Failed",
      description: `Machine ${name} failed to update dependencies: disk is full`,
    });
    await untilReason("UpdateFailed");
    await label({ [result]: "successful" });
    await untilReason("UpdateSuccessful");
    await untilPhase("Running");
  });

  it("fails an update without a report until the timeout", async () => {
    installation.runAlone("--machine-inplace-update-timeout=2s");
    await createFleet(1);
    await label({ [candidate]: "true", [selected]: "true" });
    const failed = await untilPhase("InPlaceUpdateFailed");
    expect(failed.status?.lastOperation?.description).toBe(`Machine ${name} failed to in-place update in 2s`);
    await untilReason("ReadyForUpdate");
    await label({ [result]: "successful" });
    await untilPhase("Running");
  });
});
