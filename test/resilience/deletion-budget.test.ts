import {
  annotationKeys,
  eventReasons,
  type Machine,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { eventResource, type KubeObject, nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

const namespace = "default";
const machinesPath = `/apis/machine.sapcloud.io/v1alpha1/namespaces/${namespace}/machines`;

describe("the deletion budget", () => {
  let installation: Installation;
  let controllers: MillwrightProcess;

  beforeEach(async () => {
    installation = await startInstallation({}, { requestLogLimit: 100_000 });
    for (const name of ["small", "big"]) await installation.api.create(machineClassResource, machineClass(name));
  });
  afterEach(() => installation.close());

  const deploy = async (name: string, replicas: number, spec: object = {}): Promise<void> => {
    const made = machineDeployment(name, "small", replicas);
    await installation.api.create(machineDeploymentResource, {
      ...made,
      spec: { ...(made["spec"] as object), ...spec },
    });
  };
  const change = (name: string, patch: object): Promise<unknown> =>
    installation.api.patch(machineDeploymentResource, { namespace, name }, patch, { kind: "merge" });
  const approve = (name: string): Promise<unknown> => {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    return change(name, { metadata: { annotations: { [annotationKeys.approveDeletions]: until } } });
  };
  const untilRunning = (count: number, className?: string): Promise<void> =>
    eventually(async () => {
      const machines = await installation.machines();
      expect(machines.filter((machine) => machine.status?.currentStatus?.phase === "Running")).toHaveLength(count);
      expect(machines).toHaveLength(count);
      if (className !== undefined)
        expect(new Set(machines.map(({ spec }) => spec.class?.name))).toEqual(new Set([className]));
    }, 120_000);
  const untilGone = (): Promise<void> =>
    eventually(async () => {
      expect(await installation.machines()).toEqual([]);
      expect(installation.cloud.vms()).toEqual([]);
    }, 120_000);
  const conditionOf = async (name: string) => {
    const { status } = await installation.api.get<MachineDeployment>(machineDeploymentResource, { namespace, name });
    return status?.conditions?.find(({ type }) => type === "DeletionsHeld");
  };
  const untilHeld = (name: string) =>
    eventually(async () => {
      const condition = await conditionOf(name);
      expect(condition).toMatchObject({ status: "True", reason: "ApprovalRequired" });
      return condition;
    });
  const heldMachines = async (): Promise<readonly Machine[]> =>
    (await installation.machines()).filter(
      ({ status }) => status?.lastOperation?.description?.startsWith("Deletion held for approval") === true,
    );
  const heldEvents = async (): Promise<readonly string[]> =>
    (await installation.api.list(eventResource, { namespace })).items
      .filter((event) => event["reason"] === eventReasons.deletionsHeld)
      .map((event) => String(event["message"]));
  /** No VM is deleted, and no Node is cordoned. */
  const expectUntouched = async (count: number): Promise<void> => {
    expect(installation.cloud.vms()).toHaveLength(count);
    expect(installation.cloud.calls.filter(({ operation }) => operation === "delete")).toEqual([]);
    const nodes = (await installation.api.list<KubeObject & { spec?: { unschedulable?: boolean } }>(nodeResource, {}))
      .items;
    expect(nodes).toHaveLength(count);
    expect(nodes.filter(({ spec }) => spec?.unschedulable === true)).toEqual([]);
  };
  const writes = (): number =>
    installation.server.requests.filter(
      ({ verb, userAgent }) => userAgent.startsWith("millwright") && !["get", "list", "watch"].includes(verb),
    ).length;

  it("holds a scale-down to 0 by mistake, over a restart, until it is approved", async () => {
    await deploy("fleet", 60);
    controllers = installation.runAlone();
    await untilRunning(60);
    await change("fleet", { spec: { replicas: 0 } });
    const before = await untilHeld("fleet");
    expect(before?.message).toMatch(
      /^Deletion of 60 machines is held \(scale-down\): at most 30 of 60 machines of MachineDeployment fleet/,
    );
    expect(before?.message).toContain("millwright approve deployment fleet");
    await untilQuiet(writes);
    await controllers.stop("SIGKILL");
    controllers = installation.runAlone();
    await eventually(async () => expect(controllers.output()).toContain("Large deletions are held"));
    await untilQuiet(writes, 8_000);
    expect((await conditionOf("fleet"))?.lastTransitionTime).toBe(before?.lastTransitionTime);
    expect((await installation.machines()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual(
      [],
    );
    await expectUntouched(60);
    expect(await heldEvents()).toHaveLength(1);
    await approve("fleet");
    await untilGone();
    await eventually(async () => expect(await conditionOf("fleet")).toBeUndefined());
  });

  it("does not count deletions that the API server refused, however often they are repeated", async () => {
    await deploy("fleet", 30);
    controllers = installation.runAlone();
    await untilRunning(30);
    const { faults } = installation.server;
    const isDeletion = { verbs: ["delete"], resources: ["machines"] };
    // An hour has 60. Of the last twelve requests, some are accepted, and the events of those machines come beside the refusals.
    faults.add({ match: isDeletion, effect: { kind: "status", code: 422 }, times: 76 });
    await change("fleet", { spec: { replicas: 18 } });
    await untilRunning(18);
    expect(await heldEvents()).toEqual([]);
  });

  it("undoes a scale-down that is held when the size is restored", async () => {
    await deploy("fleet", 20);
    installation.runAlone();
    await untilRunning(20);
    const before = (await installation.machines()).map(({ metadata }) => metadata.name).toSorted();
    await change("fleet", { spec: { replicas: 0 } });
    await untilHeld("fleet");
    await change("fleet", { spec: { replicas: 20 } });
    await eventually(async () => expect(await conditionOf("fleet")).toBeUndefined());
    await untilQuiet(writes);
    expect((await installation.machines()).map(({ metadata }) => metadata.name).toSorted()).toEqual(before);
  });

  it("holds the deletion of all MachineDeployments, over a restart, until they are approved one by one", async () => {
    for (const name of ["one", "two"]) await deploy(name, 15);
    controllers = installation.runAlone();
    await untilRunning(30);
    for (const name of ["one", "two"])
      await installation.api.delete(machineDeploymentResource, { namespace, name }, { propagation: "Background" });
    await eventually(async () => expect(await heldMachines()).toHaveLength(30));
    for (const name of ["one", "two"]) await untilHeld(name);
    await untilQuiet(writes);
    await expectUntouched(30);
    // A stop marks no machine as Terminating either.
    await controllers.stop("SIGTERM");
    installation.runAlone();
    await untilQuiet(writes, 8_000);
    await expectUntouched(30);
    expect(await heldEvents()).toHaveLength(2);
    await approve("one");
    await eventually(async () => {
      expect(await installation.machines()).toHaveLength(15);
      expect(installation.cloud.vms()).toHaveLength(15);
    });
    expect(await heldMachines()).toHaveLength(15);
    await approve("two");
    await untilGone();
    await eventually(async () =>
      expect((await installation.api.list(machineDeploymentResource, { namespace })).items).toEqual([]),
    );
  });

  it("holds machines that are deleted without their owner, and the last ones by their own annotation", async () => {
    await deploy("fleet", 20);
    controllers = installation.runAlone();
    await untilRunning(20);
    await change("fleet", { spec: { paused: true } });
    await installation.api.delete(machineDeploymentResource, { namespace, name: "fleet" }, { propagation: "Orphan" });
    const sets = () => installation.api.list(machineSetResource, { namespace });
    await eventually(async () =>
      expect((await sets()).items.flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]),
    );
    for (const { metadata } of (await sets()).items)
      await installation.api.delete(
        machineSetResource,
        { namespace, name: metadata.name ?? "" },
        { propagation: "Orphan" },
      );
    await eventually(async () => expect((await sets()).items).toEqual([]));
    await installation.api.request({ method: "DELETE", path: machinesPath });
    await eventually(async () => expect(await heldMachines()).toHaveLength(20));
    await expectUntouched(20);
    await eventually(async () => expect(await heldEvents()).toHaveLength(20));
    const until = new Date(Date.now() + 3_600_000).toISOString();
    for (const { metadata } of await installation.machines())
      await installation.api.patch(
        machineResource,
        { namespace, name: metadata.name },
        { metadata: { annotations: { [annotationKeys.approveDeletions]: until } } },
        { kind: "merge" },
      );
    await untilGone();
  });

  it("holds all of what is deleted with deletecollection, and begins none of it", async () => {
    await deploy("fleet", 20);
    installation.runAlone();
    await untilRunning(20);
    await installation.api.request({ method: "DELETE", path: machinesPath });
    await eventually(async () => expect(await heldMachines()).toHaveLength(20));
    await untilHeld("fleet");
    const names = (await heldMachines()).map(({ metadata }) => metadata.name);
    expect(installation.cloud.calls.filter(({ operation }) => operation === "delete")).toEqual([]);
    await approve("fleet");
    await eventually(async () => {
      const left = (await installation.machines()).map(({ metadata }) => metadata.name);
      expect(left.filter((name) => names.includes(name))).toEqual([]);
    });
    await untilRunning(20);
  });

  it.each([
    ["Recreate", { type: "Recreate" }],
    ["maxUnavailable 100%", { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: "100%" } }],
  ])("holds a change of the template that replaces all machines at once, by %s", async (_, strategy) => {
    await deploy("fleet", 20, { strategy });
    installation.runAlone();
    await untilRunning(20, "small");
    await change("fleet", { spec: { template: { spec: { class: { kind: "MachineClass", name: "big" } } } } });
    expect((await untilHeld("fleet"))?.message).toMatch(/^Deletion of 20 machines is held \(rollout\)/);
    await untilQuiet(writes);
    expect(installation.cloud.calls.filter(({ operation }) => operation === "delete")).toEqual([]);
    await approve("fleet");
    await untilRunning(20, "big");
  });

  it("holds no ordinary change: rollout, scale-down, a Machine deleted by hand, machines of the autoscaler", async () => {
    await deploy("fleet", 24, {
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
    });
    installation.runAlone();
    await untilRunning(24, "small");
    await change("fleet", { spec: { template: { spec: { class: { kind: "MachineClass", name: "big" } } } } });
    await untilRunning(24, "big");
    await change("fleet", { spec: { replicas: 12 } });
    await untilRunning(12);
    // The share is used up now.
    const [first, ...others] = (await installation.machines()).map(({ metadata }) => metadata.name);
    await installation.api.delete(machineResource, { namespace, name: first ?? "" });
    await eventually(async () =>
      expect((await installation.machines()).map(({ metadata }) => metadata.name)).not.toContain(first),
    );
    await untilRunning(12);
    const marked = others
      .slice(0, 11)
      .map((name) => `${name}~${new Date().toISOString().slice(0, 19)}Z`)
      .join(",");
    await change("fleet", { metadata: { annotations: { [annotationKeys.triggerDeletion]: marked } } });
    await change("fleet", { spec: { replicas: 1 } });
    await untilRunning(1);
    expect(await heldEvents()).toEqual([]);
    expect(await conditionOf("fleet")).toBeUndefined();
  });

  it("holds nothing with a share of 0", async () => {
    await deploy("fleet", 20);
    installation.runAlone("--machine-safety-max-deletion-share=0");
    await untilRunning(20);
    await installation.api.delete(machineDeploymentResource, { namespace, name: "fleet" });
    await untilGone();
    expect(await heldEvents()).toEqual([]);
  });

  it("holds the creation of machines whose VMs still run, until their Machines are restored", async () => {
    await deploy("fleet", 20);
    controllers = installation.runAlone();
    await untilRunning(20);
    await controllers.stop("SIGTERM");
    const lost = await installation.machines();
    for (const { metadata } of lost) {
      const ref = { namespace, name: metadata.name };
      await installation.api.patch(machineResource, ref, { metadata: { finalizers: null } }, { kind: "merge" });
      await installation.api.delete(machineResource, ref);
    }
    expect(await installation.machines()).toEqual([]);
    installation.runAlone();
    const condition = await untilHeld("fleet");
    expect(condition?.message).toMatch(
      /^(Creation of 20 machines is held: 20 VMs of MachineClass small have no Machine|Lost Machines of MachineSet fleet-\w+: 20)/,
    );
    await untilQuiet(writes);
    expect(await installation.machines()).toEqual([]);
    expect(installation.cloud.vms()).toHaveLength(20);
    for (const { metadata, spec } of lost)
      await installation.api.create(machineResource, {
        metadata: { name: metadata.name, namespace, labels: metadata.labels ?? {} },
        spec,
      });
    await untilRunning(20);
    await eventually(async () => expect(await conditionOf("fleet")).toBeUndefined());
    expect(installation.cloud.vms()).toHaveLength(20);
  });

  it("creates machines beside VMs without Machine when that is approved", async () => {
    await deploy("fleet", 12);
    controllers = installation.runAlone();
    await untilRunning(12);
    await controllers.stop("SIGTERM");
    for (const { metadata } of await installation.machines()) {
      const ref = { namespace, name: metadata.name };
      await installation.api.patch(machineResource, ref, { metadata: { finalizers: null } }, { kind: "merge" });
      await installation.api.delete(machineResource, ref);
    }
    installation.runAlone();
    await untilHeld("fleet");
    await approve("fleet");
    await untilRunning(12);
    expect(installation.cloud.vms()).toHaveLength(24);
  });
});
