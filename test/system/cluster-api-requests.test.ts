import {
  machineApiVersion,
  machineClassResource,
  machineDeploymentResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";

const namespace = "default";
const LONG = 90_000;

describe("what people know from Cluster API", () => {
  let installation: Installation;
  let kubectl: ForeignTool;
  beforeEach(async () => {
    installation = await startInstallation();
    kubectl = await createKubectl(installation.kubeconfig);
    await installation.api.create(machineClassResource, machineClass("small"));
    installation.runAlone();
  });
  afterEach(() => installation.close());

  const running = async (count: number): Promise<readonly string[]> => {
    await eventually(async () => {
      const phases = (await installation.machines()).map(({ status }) => status?.currentStatus?.phase);
      expect(phases.filter((phase) => phase === "Running")).toHaveLength(count);
    }, LONG);
    return (await installation.machines()).map(({ metadata }) => metadata.name);
  };

  it("is a hook or a pause, whose missing effect an event reports once", async () => {
    const { api } = installation;
    await api.create(machineDeploymentResource, machineDeployment("pool", "small", 1));
    const [machine = ""] = await running(1);
    await kubectl(["annotate", "machine", machine, "pre-drain.delete.hook.machine.cluster.x-k8s.io/backup="]);
    await kubectl(["annotate", "machinedeployment", "pool", "cluster.x-k8s.io/paused="]);
    const eventsOf = async (kind: string, name: string): Promise<string> =>
      (await kubectl(["describe", kind, name])).replaceAll(/\s+/g, " ");
    await eventually(async () => {
      expect(await eventsOf("machine", machine)).toContain(
        "Annotation pre-drain.delete.hook.machine.cluster.x-k8s.io/backup of Cluster API has no effect here",
      );
      expect(await eventsOf("machinedeployment", "pool")).toContain("spec.paused of a MachineDeployment pauses");
    }, LONG);
    await kubectl(["delete", "machine", machine]);
    expect((await eventsOf("machinedeployment", "pool")).split("AnnotationIgnored")).toHaveLength(2);
  });

  it("is MachinesUpToDate, which a set on its own does not have", async () => {
    const { spec } = machineDeployment("alone", "small", 1);
    await installation.api.create(machineSetResource, {
      apiVersion: machineApiVersion,
      kind: "MachineSet",
      metadata: { name: "alone", namespace },
      spec,
    });
    await running(1);
    await eventually(async () => {
      const set = await installation.api.get<MachineSet>(machineSetResource, { namespace, name: "alone" });
      const conditions = set.status?.machineSetCondition ?? [];
      expect(conditions).toContainEqual(expect.objectContaining({ type: "MachinesReady", status: "True" }));
      expect(conditions.map(({ type }) => type)).not.toContain("MachinesUpToDate");
      expect(JSON.stringify(conditions)).not.toContain("not yet reported");
    }, LONG);
  });

  it("is a pause, during which the late nodes of old machines are marked as the others", async () => {
    const { api } = installation;
    await api.create(machineClassResource, {
      ...machineClass("slow"),
      providerSpec: { machineType: "small", bootDelay: "2h" },
    });
    const made = machineDeployment("pool", "small", 2);
    await api.create(machineDeploymentResource, made);
    await running(2);
    const change = (patch: object): Promise<unknown> =>
      api.patch(machineDeploymentResource, { namespace, name: "pool" }, patch, { kind: "merge" });
    const avoided = async (): Promise<number> =>
      JSON.stringify((await api.list(nodeResource)).items).split('"deployment.machine.sapcloud.io/prefer-no-schedule"')
        .length - 1;
    await change({ spec: { template: { spec: { class: { name: "slow" } } } } });
    await eventually(async () => expect(await avoided()).toBeGreaterThan(0), LONG);
    await change({ spec: { paused: true } });
    await eventually(async () => {
      expect(await kubectl(["get", "machinedeployment", "pool", "-o", "yaml"])).toContain("reason: DeploymentPaused");
    }, LONG);
    const old = (await installation.machines()).filter(({ spec }) => spec.class?.name === "small");
    const [replaced = ""] = old.map(({ metadata }) => metadata.name);
    await kubectl(["delete", "machine", replaced]);
    await eventually(async () => {
      const machines = (await installation.machines()).filter(({ spec }) => spec.class?.name === "small");
      expect(machines.map(({ metadata }) => metadata.name)).not.toContain(replaced);
      expect(machines.map(({ status }) => status?.currentStatus?.phase)).toEqual(old.map(() => "Running"));
      expect(await avoided()).toBe(old.length);
    }, LONG);
  });
});
