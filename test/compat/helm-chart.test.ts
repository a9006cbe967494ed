import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineClassResource, machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chart, containerArguments, startContainer, writeServiceAccountKubeconfig } from "../harness/chart.ts";
import { eventually } from "../harness/eventually.ts";
import { createHelm, createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 90_000;
const namespace = "default";
const [firstPort, secondPort] = [10_267, 10_268];
const forbidden = /forbidden|"reason":"Forbidden"/i;

/**
 * No node runs pods here: the container of the Deployment runs as a process, with its arguments and with a token of its service account, so that the API server grants it the roles of the
 * chart and nothing else.
 */
describe("the Helm chart on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let folder: string;
  let helm: ForeignTool;
  let kubectl: ForeignTool;
  let serviceAccount: string;
  const processes: MillwrightProcess[] = [];

  beforeAll(async () => {
    fleet = await startRealFleet();
    folder = await mkdtemp(join(tmpdir(), "millwright-chart-"));
    helm = await createHelm(fleet.kubeconfig);
    kubectl = await createKubectl(fleet.kubeconfig);
    await helm(["install", "millwright", chart, "--set", "metrics.dashboard.create=true"]);
    const { url, ca } = fleet.plane;
    serviceAccount = await writeServiceAccountKubeconfig(kubectl, folder, { url, ca, namespace });
  }, REAL_FLEET_MS);

  afterAll(async () => {
    await Promise.all(processes.map((process) => process.stop("SIGKILL")));
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  const start = async (port: number): Promise<MillwrightProcess> => {
    const process = await startContainer(kubectl, namespace, { kubeconfig: serviceAccount, port });
    processes.push(process);
    return process;
  };
  const untilRunning = (count: number): Promise<void> =>
    eventually(async () => {
      const phases = (await fleet.machines()).map(phaseOf);
      if (phases.length !== count || phases.some((phase) => phase !== "Running"))
        throw new Error(`machines are ${phases.join(", ")}`);
    }, LONG);
  const read = async (port: number, path: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${port}${path}`)).text();

  it("runs machines under the rights of the chart, in two pods of which one leads", async () => {
    const [first, second] = [await start(firstPort), await start(secondPort)];
    await fleet.api.create(machineClassResource, machineClass("small"));
    await fleet.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 3));
    await untilRunning(3);
    for (const port of [firstPort, secondPort])
      await eventually(async () => expect(await read(port, "/readyz")).toBe("OK"), LONG);
    const leading = (await Promise.all([firstPort, secondPort].map((port) => read(port, "/metrics")))).filter((text) =>
      /^mcm_machine_items_total 3$/m.test(text),
    );
    expect(leading).toHaveLength(1);
    expect(`${first.output()}${second.output()}`).not.toMatch(forbidden);
  });

  it("refuses to delete what is protected, from the start", async () => {
    await kubectl(["annotate", "machinedeployment", "fleet", "machine.millwright.dev/deletion-protection=true"]);
    const { code, stderr } = await kubectl.attempt(["delete", "machinedeployment", "fleet", "--wait=false"]);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("is protected from deletion") });
    await kubectl(["annotate", "machinedeployment", "fleet", "machine.millwright.dev/deletion-protection-"]);
  });

  it("upgrades to other flags, and rolls back", async () => {
    await helm(["upgrade", "millwright", chart, "--set", "flags.machine-health-timeout=3m,replicas=1"]);
    expect(await containerArguments(kubectl, namespace)).toContain("--machine-health-timeout=3m");
    await processes[0]?.stop("SIGTERM");
    const upgraded = await start(firstPort);
    await upgraded.waitFor(/"Ready"/, LONG);
    await helm(["rollback", "millwright", "1"]);
    expect(await containerArguments(kubectl, namespace)).not.toContain("--machine-health-timeout=3m");
    await untilRunning(3);
  });

  it("is uninstalled without the CRDs, and keeps machines and VMs for the next release", async () => {
    const [before] = [(await fleet.machines()).map(({ spec }) => spec.providerID)];
    await Promise.all(processes.map((process) => process.stop("SIGTERM")));
    await helm(["uninstall", "millwright", "--wait"]);
    const left = await kubectl([
      "get",
      "deployments,serviceaccounts,roles,rolebindings,poddisruptionbudgets,networkpolicies,services,configmaps",
      "-A",
      "-l",
      "app.kubernetes.io/instance=millwright",
      "-o",
      "name",
    ]);
    const clusterWide = await kubectl([
      "get",
      "clusterroles,clusterrolebindings,priorityclasses,validatingadmissionpolicies,validatingadmissionpolicybindings",
      "-l",
      "app.kubernetes.io/instance=millwright",
      "-o",
      "name",
    ]);
    expect([left, clusterWide]).toEqual(["", ""]);
    expect((await fleet.machines()).map(({ spec }) => spec.providerID)).toEqual(before);
    expect(fleet.cloud.vms()).toHaveLength(3);

    await helm(["install", "millwright", chart]);
    const { url, ca } = fleet.plane;
    serviceAccount = await writeServiceAccountKubeconfig(kubectl, folder, { url, ca, namespace });
    const again = await start(firstPort);
    await kubectl(["delete", "machinedeployment", "fleet", "--wait=false"]);
    await eventually(async () => expect(await fleet.machines()).toEqual([]), LONG);
    expect(fleet.cloud.vms()).toEqual([]);
    expect(again.output()).not.toMatch(forbidden);
  });
});
