import { annotationKeys, machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";

let installation: Installation;
beforeAll(async () => {
  installation = await startInstallation();
  await installation.api.create(machineClassResource, machineClass("small"));
  installation.runAlone();
});
afterAll(() => installation.close());

it("doctor reports deployments whose spec is invalid, that are paused, and that wait for a window", async () => {
  const { api, kubeconfig } = installation;
  const deploy = async (name: string, windows: string | undefined, spec: object): Promise<void> => {
    const made = machineDeployment(name, "small", 1);
    const annotations = windows === undefined ? {} : { [annotationKeys.maintenanceWindows]: windows };
    await api.create(machineDeploymentResource, {
      ...made,
      metadata: { ...made.metadata, annotations },
      spec: { ...(made["spec"] as object), ...spec },
    });
  };
  await deploy("invalid", "nonsense", {});
  await deploy("stopped", undefined, { paused: true });
  await deploy("waiting", "0 0 29 2 * 1h", {});
  const small = { namespace: "default", name: "waiting" };
  await eventually(async () => expect((await installation.machines()).length).toBeGreaterThanOrEqual(1), 60_000);
  await api.create(machineClassResource, machineClass("big"));
  await api.patch(
    machineDeploymentResource,
    small,
    { spec: { template: { spec: { class: { name: "big" } } } } },
    { kind: "merge" },
  );
  await eventually(async () => {
    const command = startMillwright(["doctor", "--kubeconfig", kubeconfig], { NO_COLOR: "1" });
    const code = await command.ended;
    const text = command.output().replaceAll(/\s+/g, " ");
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(
        /MachineDeployment invalid: FAILED SpecValid: .*kubectl edit machinedeployment invalid.*MachineDeployment stopped: warning Paused: .*MachineDeployment waiting: warning Maintenance window: Rollout waits/,
      ),
    ]);
  }, 60_000);
});
