import { machineClassResource, type MachineDeployment, machineDeploymentResource } from "@millwright/core/machine-api";
import { type KubeObject, nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import { reportUpdates } from "../harness/update-agents.ts";

const result = "node.machine.sapcloud.io/update-result";

interface NodeObject extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly { readonly key: string }[] };
}

describe("an in-place rollout with simulated update agents", () => {
  let installation: Installation;
  let controllers: MillwrightProcess;
  const ref = { namespace: "default", name: "fleet" };

  const nodes = async (): Promise<readonly NodeObject[]> =>
    (await installation.api.list<NodeObject>(nodeResource)).items;
  const change = (spec: object): Promise<unknown> =>
    installation.api.patch(machineDeploymentResource, ref, { spec }, { kind: "merge" });

  beforeEach(async () => {
    installation = await startInstallation();
    await installation.api.create(machineClassResource, machineClass("small"));
    await installation.api.create(machineClassResource, machineClass("big"));
  });
  afterEach(async () => {
    await installation.close();
  });

  /** Every agent with a pending update reports success; the controllers are killed at these numbers of updated machines. */
  async function playAgents(count: number, killAt: readonly number[]): Promise<void> {
    const killed = new Set<number>();
    await eventually(async () => {
      await reportUpdates(installation.api);
      const done = (await installation.machines()).filter(({ spec }) => spec.class?.name === "big").length;
      if (killAt.includes(done) && !killed.has(done)) {
        killed.add(done);
        await controllers.stop("SIGKILL");
        controllers = installation.runAlone();
      }
      expect(done).toBe(count);
    }, 120_000);
  }

  it("updates every machine without a new VM while the controllers are killed twice", async () => {
    controllers = installation.runAlone();
    const fleet = machineDeployment("fleet", "small", 3);
    await installation.api.create(machineDeploymentResource, fleet);
    const inPlaceUpdate = { maxSurge: 0, maxUnavailable: 1, orchestrationType: "Auto" };
    await change({ strategy: { type: "InPlaceUpdate", inPlaceUpdate, rollingUpdate: null } });
    await eventually(async () => {
      const phases = (await installation.machines()).map(({ status }) => status?.currentStatus?.phase);
      expect(phases).toEqual(["Running", "Running", "Running"]);
    }, 120_000);
    const vms = installation.cloud
      .vms()
      .map(({ providerId }) => providerId)
      .toSorted();
    const uids = (await installation.machines()).map(({ metadata: { uid = "" } }): string => uid).toSorted();

    await change({ template: { spec: { class: { name: "big" } } } });
    await playAgents(3, [1, 2]);
    await eventually(async () => {
      const { status } = await installation.api.get<MachineDeployment>(machineDeploymentResource, ref);
      const progress = status?.conditions?.find(({ type }) => type === "Progressing");
      expect([status?.updatedReplicas, status?.availableReplicas, progress?.reason]).toEqual([
        3,
        3,
        "NewMachineSetAvailable",
      ]);
      for (const { metadata, spec } of await nodes()) {
        expect(Object.keys(metadata.labels ?? {}).filter((key) => /for-update|update-result/.test(key))).toEqual([]);
        expect(JSON.stringify(metadata.annotations ?? {})).not.toMatch(/scale-down-disabled|in-place-update/);
        expect(spec?.unschedulable ?? false).toBe(false);
        expect((spec?.taints ?? []).map(({ key }) => key)).toEqual([
          "node.gardener.cloud/critical-components-not-ready",
        ]);
      }
      // The hand-over of the last machine ends in a reconcile of its own, which is spaced.
      expect((await installation.machines()).filter(({ metadata }) => metadata.labels?.[result] !== undefined)).toEqual(
        [],
      );
    }, 120_000);
    expect(
      installation.cloud
        .vms()
        .map(({ providerId }) => providerId)
        .toSorted(),
    ).toEqual(vms);
    const after = await installation.machines();
    expect(after.map(({ metadata: { uid = "" } }): string => uid).toSorted()).toEqual(uids);
    expect(new Set(after.flatMap(({ metadata }) => metadata.ownerReferences ?? []).map(({ uid }) => uid)).size).toBe(1);
  });
});
