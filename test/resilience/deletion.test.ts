import { machineClassResource, machineDeploymentResource } from "@millwright/core";
import { secretResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";

const namespace = "default";

describe("the deletion of machines", () => {
  let installation: Installation;
  let current: MillwrightProcess;

  beforeEach(async () => {
    installation = await startInstallation();
  });
  afterEach(async () => {
    await current.stop("SIGKILL");
    await installation.close();
  });

  const phases = async (): Promise<readonly (string | undefined)[]> =>
    (await installation.machines()).map(({ status }) => status?.currentStatus?.phase);
  const deploy = (replicas: number) =>
    installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", replicas));
  const scale = (replicas: number) =>
    installation.api.patch(
      machineDeploymentResource,
      { namespace, name: "fleet" },
      { spec: { replicas } },
      { kind: "merge" },
    );

  it.each([
    ["names a driver that is not loaded", { provider: "hetzner" }, {}],
    ["is rejected by its driver", { providerSpec: { colour: "red" } }, {}],
    ["has a Secret without user data", {}, { data: { userData: null } }],
  ])(
    "needs nothing but the API server for machines that never had a VM, when their class %s",
    async (_, change, secret) => {
      const { api } = installation;
      await api.create(machineClassResource, { ...machineClass("small"), ...change });
      await api.patch(secretResource, { namespace, name: "cloud" }, secret, { kind: "merge" });
      await deploy(2);
      current = installation.runAlone();
      await eventually(async () => expect(await phases()).toEqual(["CrashLoopBackOff", "CrashLoopBackOff"]), 60_000);
      await scale(0);
      await eventually(async () => expect(await installation.machines()).toEqual([]));
      expect(installation.cloud.vms()).toEqual([]);
    },
  );
});
