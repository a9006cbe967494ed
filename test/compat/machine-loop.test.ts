import {
  type Machine,
  machineApiVersion,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { createClusterFaults } from "@millwright/devcluster";
import { nodeResource, secretResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { clientScenarios } from "./client-scenarios.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

/** The machine loop on real components: kube-apiserver with etcd and RBAC, kubectl, `millwright run` with its leases. */
describe("millwright run on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let kubectl: ForeignTool;
  let millwright: MillwrightProcess;
  const clusterFaults = createClusterFaults();

  beforeAll(async () => {
    fleet = await startRealFleet({ clusterFaults, heartbeatMs: 400, silenceMs: 1_600 }, { deleteDelayMs: 2_000 });
    kubectl = await createKubectl(fleet.kubeconfig);
    await fleet.api.create(machineClassResource, machineClass("small"));
    await fleet.api.create(machineClassResource, { ...machineClass("large"), providerSpec: { machineType: "large" } });
    millwright = startMillwright([
      "run",
      "--provider=mock",
      "--machine-health-timeout=4s",
      "--control-kubeconfig",
      fleet.controllersKubeconfig,
    ]);
    await millwright.waitFor(/"Leading"/);
  }, REAL_FLEET_MS);

  afterAll(async () => {
    await millwright.stop("SIGKILL");
    await fleet.close();
  }, 60_000);

  const status = (field: string): Promise<string> =>
    kubectl(["get", "machinedeployment", "fleet", "-o", `jsonpath={.status.${field}}`]);

  const nodeOf = ({ metadata }: Machine): string => metadata.labels?.["node"] ?? "";
  const conditionOf = (node: string, type: string): Promise<string> => {
    const path = `{.status.conditions[?(@.type=="${type}")]['status','reason','message']}`;
    return kubectl(["get", "node", node, "-o", `jsonpath=${path}`]);
  };
  const firstMachine = async (): Promise<Machine> => {
    const [machine] = await fleet.machines();
    if (machine === undefined) throw new Error("there is no machine");
    return machine;
  };

  it("creates three machines with nodes, stored creation intents and bootstrap tokens", async () => {
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

  it("scales up with kubectl, and rolls out another class", async () => {
    await kubectl(["scale", "machinedeployment", "fleet", "--replicas=4"]);
    await kubectl(["wait", "--for=jsonpath={.status.readyReplicas}=4", "machinedeployment/fleet", "--timeout=40s"]);
    const patch = '{"spec":{"template":{"spec":{"class":{"name":"large"}}}}}';
    await kubectl(["patch", "machinedeployment", "fleet", "--type=merge", "-p", patch]);
    await eventually(async () => {
      // Until the controllers have observed the patch, the status is that of the old template.
      expect(new Set(fleet.cloud.vms().map(({ machineType }) => machineType))).toEqual(new Set(["large"]));
      expect([await status("updatedReplicas"), await status("replicas"), await status("readyReplicas")]).toEqual([
        "4",
        "4",
        "4",
      ]);
    }, 90_000);
  });

  it("replaces machines whose kubelets stopped one after another", async () => {
    const silent = (await fleet.machines()).slice(0, 2);
    const names = new Set(silent.map(({ metadata }) => metadata.name));
    const fault = clusterFaults.add({ kind: "kubelet-stops", nodes: silent.map(nodeOf) });
    /** The greatest number that were Failed or Terminating at once, and all of their observed phases. */
    let atOnce = 0;
    const seen = new Set<string | undefined>();
    await eventually(async () => {
      const now = await fleet.machines();
      const old = now.filter(({ metadata }) => names.has(metadata.name));
      for (const machine of old) seen.add(phaseOf(machine));
      const going = old.filter(
        (machine) => phaseOf(machine) === "Failed" || machine.metadata.deletionTimestamp !== undefined,
      );
      atOnce = Math.max(atOnce, going.length);
      expect(old).toEqual([]);
      expect(now.map(phaseOf)).toEqual(["Running", "Running", "Running", "Running"]);
    }, 90_000);
    fault.remove();
    expect([atOnce, seen.has("Unknown")]).toEqual([1, true]);
    expect(fleet.cloud.vms()).toHaveLength(4);
    const events = await kubectl(["get", "events", "-o", "jsonpath={.items[*].reason}"]);
    expect(events.match(/HealthTimedOut/g)).toHaveLength(2);
  });

  clientScenarios(() => ({ api: fleet.api, kubectl }));

  it("preserves a machine on request, and ends the preservation", async () => {
    const machine = await firstMachine();
    const annotate = (value: string): Promise<string> =>
      kubectl(["annotate", "--overwrite", "mc", machine.metadata.name, `node.machine.sapcloud.io/preserve=${value}`]);
    const expiry = (): Promise<string> =>
      kubectl(["get", "mc", machine.metadata.name, "-o", "jsonpath={.status.currentStatus.preserveExpiryTime}"]);
    await annotate("now");
    await eventually(async () => {
      expect(await conditionOf(nodeOf(machine), "Preserved")).toMatch(
        /^True Preserved by user\. Machine preserved until/,
      );
      expect(await expiry()).toMatch(/Z$/);
    });
    await annotate("false");
    await eventually(async () => {
      expect(await conditionOf(nodeOf(machine), "Preserved")).toMatch(/^False Preservation stopped\./);
      expect(await expiry()).toBe("");
    });
  });

  it("updates a machine in place with an agent simulated by kubectl", async () => {
    const ref = { namespace: "default", name: "alone" };
    await fleet.api.create(machineResource, {
      apiVersion: machineApiVersion,
      kind: "Machine",
      metadata: ref,
      spec: { class: { kind: "MachineClass", name: "small" } },
    });
    const machine = (): Promise<Machine> => fleet.api.get<Machine>(machineResource, ref);
    const runs = (): Promise<void> => eventually(async () => expect(phaseOf(await machine())).toBe("Running"));
    await runs();
    const node = nodeOf(await machine());
    const label = (key: string, value: string): Promise<string> =>
      kubectl(["label", "node", node, `node.machine.sapcloud.io/${key}=${value}`]);
    const reach = (reason: string): Promise<void> =>
      eventually(async () => expect(await conditionOf(node, "InPlaceUpdate")).toContain(`True ${reason}`));
    await label("candidate-for-update", "true");
    await reach("CandidateForUpdate");
    // Gardener reads it from the Machine.
    await eventually(async () =>
      expect((await machine()).status?.conditions).toContainEqual(
        expect.objectContaining({ type: "InPlaceUpdate", reason: "CandidateForUpdate" }),
      ),
    );
    await label("selected-for-update", "true");
    await reach("ReadyForUpdate");
    expect(phaseOf(await machine())).toBe("InPlaceUpdating");
    await label("update-result", "successful");
    await reach("UpdateSuccessful");
    await runs();
    await kubectl(["delete", "mc", "alone", "--timeout=30s"]);
  });

  it("reports an invalid spec in a condition", async () => {
    const patch = '{"spec":{"selector":{"matchLabels":{"name":"other"}}}}';
    await kubectl(["patch", "machinedeployment", "fleet", "--type=merge", "-p", patch]);
    await kubectl(["wait", "--for=condition=SpecValid=false", "machinedeployment/fleet", "--timeout=20s"]);
    expect(await status('conditions[?(@.type=="SpecValid")].message')).toContain("* spec.selector: must match");
    const back = '{"spec":{"selector":{"matchLabels":{"name":"fleet"}}}}';
    await kubectl(["patch", "machinedeployment", "fleet", "--type=merge", "-p", back]);
    await kubectl(["wait", "--for=condition=SpecValid", "machinedeployment/fleet", "--timeout=20s"]);
  });

  it("deletes everything without leftover VMs and nodes, and logs no error", async () => {
    await kubectl(["delete", "machinedeployment", "fleet", "--timeout=50s"]);
    expect(fleet.cloud.vms()).toEqual([]);
    expect((await fleet.api.list(nodeResource)).items).toEqual([]);
    expect(await millwright.stop("SIGTERM")).toBe(0);
    expect(
      millwright
        .output()
        .split("\n")
        .filter((line) => line.includes('"level":"error"')),
    ).toEqual([]);
  });
});
