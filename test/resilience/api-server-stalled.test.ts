import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { startTargetCluster, type TargetCluster } from "../harness/target-cluster.ts";

const FLEET = 4;
const HEALTH_TIMEOUT_MS = 10_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** An API server that accepts connections and answers nothing, while a machine is unhealthy. */
describe("a stalled API server", () => {
  let installation: Installation;
  let target: TargetCluster;
  afterEach(async () => {
    await installation.close();
    await target.close();
  });

  it.each(["control", "target"] as const)(
    "is an outage, after which the health timeout restarts: %s",
    async (which) => {
      installation = await startInstallation();
      target = await startTargetCluster(installation, { heartbeatMs: 400, silenceMs: 3_000 });
      await installation.api.create(machineClassResource, machineClass("small"));
      await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", FLEET));
      const controllers = installation.runAlone(
        target.flag,
        `--machine-health-timeout=${HEALTH_TIMEOUT_MS}ms`,
        "--machine-safety-apiserver-statuscheck-timeout=3s",
      );
      const phases = async (): Promise<readonly (string | undefined)[]> =>
        (await installation.machines()).map(({ status }) => status?.currentStatus?.phase);
      const vms = (): readonly string[] =>
        installation.cloud
          .vms()
          .map(({ providerId }) => providerId)
          .toSorted();
      await eventually(
        async () => expect(await phases()).toEqual(Array.from({ length: FLEET }, () => "Running")),
        60_000,
      );
      const before = vms();
      const [machine] = await installation.machines();
      const nodes = [machine?.metadata.labels?.["node"] ?? ""];
      target.server.clusterFaults.add({ kind: "kubelet-stops", nodes });
      await eventually(async () => expect(await phases()).toContain("Unknown"), 30_000);

      const server = which === "control" ? installation.server : target.server;
      const stall = server.faults.add({ match: { userAgent: "millwright" }, effect: { kind: "silence" } });
      await controllers.waitFor(/an API server does not respond/);
      await pause(HEALTH_TIMEOUT_MS);
      stall.remove();
      await controllers.waitFor(/An API server responds again/);
      expect(vms()).toEqual(before);
      await pause(HEALTH_TIMEOUT_MS - 2_000);
      expect(vms()).toEqual(before);
      // Then the machine is replaced as any other.
      await eventually(async () => expect(vms()).not.toEqual(before), 60_000);
    },
  );
});
