import { machineClassResource, machineDeploymentResource, systemClock } from "@millwright/core";
import { createApiClient, loadKubeConfig, nodeResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { type Fleet, machineClass, machineDeployment, startFleet } from "../harness/installation.ts";
import { aBudget, aDeployment, listOf } from "../harness/manifests.ts";
import { type MillwrightProcess, startControllers } from "../harness/millwright.ts";
import { startWorkloads } from "../harness/workloads.ts";
import { startRealServer } from "./real-server.ts";

/** A drain on the real thing: kube-apiserver grants the evictions, and kube-controller-manager counts the budgets. */
describe("a drain on a real kube-apiserver", () => {
  const ends: (() => Promise<unknown>)[] = [];
  let kubeconfig: string;
  let fleet: Fleet;
  let kubectl: ForeignTool;

  const start = async (): Promise<MillwrightProcess> => {
    const millwright = startControllers(kubeconfig);
    ends.push(() => millwright.stop("SIGKILL"));
    await millwright.waitFor(/"Starting"/);
    return millwright;
  };

  beforeAll(async () => {
    const plane = await startRealServer();
    ends.push(() => plane.stop());
    ({ kubeconfig } = plane);
    kubectl = await createKubectl(kubeconfig);
    const api = createApiClient(await loadKubeConfig({ file: kubeconfig }), { clock: systemClock });
    ends.push(() => api.close());
    fleet = await startFleet(api);
    ends.push(() => fleet.close());
    await api.create(machineClassResource, machineClass("small"));
    await api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
  }, 1_800_000);

  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  }, 60_000);

  it("names a budget that can never be met, also after a kill, and then moves one pod at a time", async () => {
    const first = await start();
    await kubectl(["wait", "--for=jsonpath={.status.readyReplicas}=2", "machinedeployment/fleet", "--timeout=40s"]);
    const workloads = startWorkloads(fleet.api);
    ends.push(() => workloads.close());
    const nodes = (await kubectl(["get", "nodes", "-o", "name"])).trim().split("\n");
    const [node = "", ...others] = nodes.map((name) => name.replace("node/", ""));
    await kubectl(["cordon", ...others]);
    const manifests = listOf(aDeployment("web", 3), aBudget("web", { maxUnavailable: 0 }));
    await kubectl(["apply", "-f", "-"], manifests);
    await eventually(() => kubectl(["wait", "--for=jsonpath={.status.currentHealthy}=3", "pdb/web", "--timeout=30s"]));
    await kubectl(["uncordon", ...others]);
    const name = await kubectl(["get", "mc", "-l", `node=${node}`, "-o", "jsonpath={.items[0].metadata.name}"]);
    await kubectl(["delete", "machine", name, "--wait=false"]);
    await eventually(async () => {
      const said = await kubectl(["get", "mc", name, "-o", "jsonpath={.status.lastOperation.description}"]);
      expect(said).toContain("budget default/web can never be met: maxUnavailable is 0");
    });
    await first.stop("SIGKILL");
    await start();
    expect(await workloads.podsOn(node)).toHaveLength(3);
    await kubectl(["patch", "pdb", "web", "--type=merge", "-p", '{"spec":{"maxUnavailable":1}}']);
    let fewest = 3;
    await eventually(async () => {
      const ready = await kubectl([
        "get",
        "pods",
        "-l",
        "app=web",
        "-o",
        'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}',
      ]);
      fewest = Math.min(fewest, ready.match(/True/g)?.length ?? 0);
      expect(await kubectl(["get", "mc", name, "--ignore-not-found", "-o", "name"])).toBe("");
    }, 60_000);
    expect(fewest).toBeGreaterThanOrEqual(2);
  });

  it("leaves no VM and no node behind", async () => {
    await kubectl(["delete", "pdb,deployment", "web", "--timeout=30s"]);
    await kubectl(["delete", "machinedeployment", "fleet", "--timeout=50s"]);
    expect(fleet.cloud.vms()).toEqual([]);
    expect((await fleet.api.list(nodeResource)).items).toEqual([]);
  });
});
