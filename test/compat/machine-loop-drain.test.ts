import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { aBudget, aDeployment, listOf } from "../harness/manifests.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import { type RunningWorkloads, startWorkloads } from "../harness/workloads.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

/** A drain on real components: kube-apiserver allows the evictions, and kube-controller-manager updates the budgets. */
describe("a drain on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let kubectl: ForeignTool;
  let workloads: RunningWorkloads;

  const start = async (): Promise<MillwrightProcess> => {
    const millwright = fleet.runAlone();
    await millwright.waitFor(/"Starting"/);
    return millwright;
  };

  beforeAll(async () => {
    fleet = await startRealFleet();
    workloads = startWorkloads(fleet.api);
    kubectl = await createKubectl(fleet.kubeconfig);
    await fleet.api.create(machineClassResource, machineClass("small"));
    await fleet.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
  }, REAL_FLEET_MS);

  afterAll(async () => {
    await workloads.close();
    await fleet.close();
  }, 60_000);

  it("names a budget that can never be met, also after a kill, and then evicts one pod at a time", async () => {
    const first = await start();
    await kubectl(["wait", "--for=jsonpath={.status.readyReplicas}=2", "machinedeployment/fleet", "--timeout=40s"]);
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
      const description = await kubectl(["get", "mc", name, "-o", "jsonpath={.status.lastOperation.description}"]);
      expect(description).toContain("PodDisruptionBudget default/web can never be met: maxUnavailable is 0");
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

  it("leaves no VM and no node", async () => {
    await kubectl(["delete", "pdb,deployment", "web", "--timeout=30s"]);
    await kubectl(["delete", "machinedeployment", "fleet", "--timeout=50s"]);
    expect(fleet.cloud.vms()).toEqual([]);
    expect((await fleet.api.list(nodeResource)).items).toEqual([]);
  });
});
