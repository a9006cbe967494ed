import { machineClassResource, machineDeploymentResource, systemClock } from "@millwright/core";
import { createApiClient, loadKubeConfig, nodeResource, secretResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { type Fleet, machineClass, machineDeployment, startFleet } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { startRealServer } from "./real-server.ts";

/** The machine loop on the real thing: kube-apiserver with etcd and RBAC, kubectl, `millwright run` with its leases. */
describe("millwright run on a real kube-apiserver", () => {
  const ends: (() => Promise<unknown>)[] = [];
  let fleet: Fleet;
  let kubectl: ForeignTool;
  let millwright: MillwrightProcess;

  beforeAll(async () => {
    const plane = await startRealServer();
    ends.push(() => plane.stop());
    kubectl = await createKubectl(plane.kubeconfig);
    const api = createApiClient(await loadKubeConfig({ file: plane.kubeconfig }), { clock: systemClock });
    ends.push(() => api.close());
    fleet = await startFleet(api);
    ends.push(() => fleet.close());
    await api.create(machineClassResource, machineClass("small"));
    await api.create(machineClassResource, { ...machineClass("large"), providerSpec: { machineType: "large" } });
    millwright = startMillwright(["run", "--provider=mock", "--control-kubeconfig", plane.kubeconfig]);
    ends.push(() => millwright.stop("SIGKILL"));
    await millwright.waitFor(/"Leading"/);
  }, 1_800_000);

  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  }, 60_000);

  const status = (field: string): Promise<string> =>
    kubectl(["get", "machinedeployment", "fleet", "-o", `jsonpath={.status.${field}}`]);

  it("takes a deployment of three to Running, each machine with its node, its intent and a bootstrap token for the way", async () => {
    const userData = Buffer.from("join <<BOOTSTRAP_TOKEN>> as <<MACHINE_NAME>>").toString("base64");
    const ref = { namespace: "default", name: "cloud" };
    await fleet.api.patch(secretResource, ref, { data: { userData } }, { kind: "merge" });
    await fleet.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 3));
    await kubectl(["wait", "--for=jsonpath={.status.readyReplicas}=3", "machinedeployment/fleet", "--timeout=40s"]);
    expect(fleet.cloud.vms()).toHaveLength(3);
    expect((await kubectl(["get", "mc", "--no-headers"])).match(/Running/g)).toHaveLength(3);
    await kubectl(["wait", "--for=condition=Ready", "nodes", "--all", "--timeout=10s"]);
    const intents = await kubectl([
      "get",
      "mc",
      "-o",
      "jsonpath={.items[*].metadata.annotations.machine\\.millwright\\.dev/creation-intent}",
    ]);
    expect(intents.match(/"class":"small"/g)).toHaveLength(3);
    await eventually(async () => {
      const secrets = await kubectl(["get", "secrets", "-n", "kube-system", "-o", "name"]);
      expect(secrets).not.toContain("bootstrap-token");
    });
  });

  it("scales up with kubectl, and rolls to another class", async () => {
    await kubectl(["scale", "machinedeployment", "fleet", "--replicas=4"]);
    await kubectl(["wait", "--for=jsonpath={.status.readyReplicas}=4", "machinedeployment/fleet", "--timeout=40s"]);
    const patch = '{"spec":{"template":{"spec":{"class":{"name":"large"}}}}}';
    await kubectl(["patch", "machinedeployment", "fleet", "--type=merge", "-p", patch]);
    await eventually(async () => {
      expect([await status("updatedReplicas"), await status("replicas"), await status("readyReplicas")]).toEqual([
        "4",
        "4",
        "4",
      ]);
    }, 90_000);
    expect(new Set(fleet.cloud.vms().map(({ machineType }) => machineType))).toEqual(new Set(["large"]));
  });

  it("refuses what cannot work, in a condition", async () => {
    const patch = '{"spec":{"selector":{"matchLabels":{"name":"other"}}}}';
    await kubectl(["patch", "machinedeployment", "fleet", "--type=merge", "-p", patch]);
    await kubectl(["wait", "--for=condition=SpecValid=false", "machinedeployment/fleet", "--timeout=20s"]);
    expect(await status('conditions[?(@.type=="SpecValid")].message')).toContain("* spec.selector: must match");
    const back = '{"spec":{"selector":{"matchLabels":{"name":"fleet"}}}}';
    await kubectl(["patch", "machinedeployment", "fleet", "--type=merge", "-p", back]);
    await kubectl(["wait", "--for=condition=SpecValid", "machinedeployment/fleet", "--timeout=20s"]);
  });

  it("deletes everything, leaves no VM and no node, and logs no error", async () => {
    await kubectl(["delete", "machinedeployment", "fleet", "--timeout=50s"]);
    expect(fleet.cloud.vms()).toEqual([]);
    expect((await fleet.api.list(nodeResource)).items).toEqual([]);
    expect(await millwright.stop("SIGTERM")).toBe(0);
    expect(
      millwright
        .output()
        .split("\n")
        .filter((line) => line.includes('"level":50')),
    ).toEqual([]);
  });
});
