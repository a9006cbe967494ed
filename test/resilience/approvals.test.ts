import {
  annotationKeys,
  eventReasons,
  type Machine,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { eventResource, nodeResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { untilQuiet } from "../harness/until-quiet.ts";

const namespace = "default";
const machinesPath = `/apis/machine.sapcloud.io/v1alpha1/namespaces/${namespace}/machines`;

describe("an approval of held deletions", () => {
  let installation: Installation;
  let controllers: MillwrightProcess;

  beforeEach(async () => {
    installation = await startInstallation({}, { requestLogLimit: 100_000 });
    for (const name of ["small", "big"]) await installation.api.create(machineClassResource, machineClass(name));
  });
  afterEach(() => installation.close());

  const deploy = async (name: string, replicas: number, change: object = {}, spec: object = {}): Promise<void> => {
    const made = machineDeployment(name, "small", replicas);
    await installation.api.create(machineDeploymentResource, {
      ...made,
      metadata: { ...(made["metadata"] as object), ...change } as never,
      spec: { ...(made["spec"] as object), ...spec },
    });
  };
  const read = (name: string): Promise<MachineDeployment> =>
    installation.api.get<MachineDeployment>(machineDeploymentResource, { namespace, name });
  const change = (name: string, patch: object): Promise<unknown> =>
    installation.api.patch(machineDeploymentResource, { namespace, name }, patch, { kind: "merge" });
  const scale = (name: string, replicas: number): Promise<unknown> => change(name, { spec: { replicas } });
  const valueOf = async (name: string): Promise<string> =>
    (await read(name)).metadata.annotations?.[annotationKeys.approveDeletions] ?? "";
  const approve = async (...args: readonly string[]): Promise<string> => {
    const command = startMillwright(["approve", ...args, `--control-kubeconfig=${installation.kubeconfig}`]);
    expect(await command.ended, command.output()).toBe(0);
    return command.output();
  };
  const refuse = async (...args: readonly string[]): Promise<string> => {
    const command = startMillwright(["approve", ...args, `--control-kubeconfig=${installation.kubeconfig}`]);
    expect(await command.ended, command.output()).toBe(1);
    return command.output();
  };
  const inPhase = (machines: readonly Machine[], phase: string): number =>
    machines.filter(({ status }) => status?.currentStatus?.phase === phase).length;
  const untilRunning = (count: number, className = "small"): Promise<void> =>
    eventually(async () => {
      const machines = await installation.machines();
      expect(machines).toHaveLength(count);
      expect(inPhase(machines, "Running")).toBe(count);
      expect(machines.filter(({ spec }) => spec.class?.name !== className)).toEqual([]);
    });
  const conditionOf = async (name: string, type = "DeletionsHeld") =>
    (await read(name)).status?.conditions?.find((condition) => condition.type === type);
  const untilHeld = (name: string, message: RegExp): Promise<void> =>
    eventually(async () => {
      const condition = await conditionOf(name);
      expect(condition).toMatchObject({ status: "True", reason: "ApprovalRequired" });
      expect(condition?.message).toMatch(message);
    });
  const untilNothingHeld = (name: string): Promise<void> =>
    eventually(async () => expect(await conditionOf(name)).toBeUndefined());
  const deletions = (): number => installation.cloud.calls.filter(({ operation }) => operation === "delete").length;
  const writes = (): number =>
    installation.server.requests.filter(
      ({ verb, userAgent }) => userAgent.startsWith("millwright") && !["get", "list", "watch"].includes(verb),
    ).length;
  /** VMs whose deletion was requested, once nothing more is written. */
  const deletedAtRest = async (): Promise<number> => {
    await untilQuiet(writes);
    return deletions();
  };

  it("covers the scale-down that was held, and no mistake after it, also when its value is applied again", async () => {
    await deploy("pool", 20);
    controllers = installation.runAlone();
    await untilRunning(20);
    expect(await refuse("deployment", "pool")).toContain("nothing of MachineDeployment pool is held");
    await scale("pool", 5);
    await untilHeld("pool", /^Deletion of 15 machines is held/);
    const preview = await approve("deployment", "pool", "--dry-run");
    expect(preview).toMatch(/^Would approve the deletion of 15 machines of MachineDeployment pool and nothing/);
    expect(preview).toContain("millwright approve deployment pool --at-most 15");
    // Something else is held by the time of the approval.
    await scale("pool", 0);
    await untilHeld("pool", /^Deletion of 20 machines is held/);
    expect(await refuse("deployment", "pool", "--at-most", "15")).toContain("20 machines of MachineDeployment pool");
    await scale("pool", 5);
    await untilHeld("pool", /^Deletion of 15 machines is held/);
    await approve("deployment", "pool", "--at-most", "15");
    const value = await valueOf("pool");
    await untilRunning(5);
    await untilNothingHeld("pool");
    expect(await refuse("deployment", "pool")).toContain("nothing of MachineDeployment pool is held");
    expect(await deletedAtRest()).toBe(15);

    await scale("pool", 20);
    await untilRunning(20);
    await scale("pool", 0);
    await untilHeld("pool", /^Deletion of 20 machines is held.*approves nothing of it: the spec has changed since/);
    await change("pool", { metadata: { annotations: { [annotationKeys.approveDeletions]: null } } });
    await change("pool", { metadata: { annotations: { [annotationKeys.approveDeletions]: value } } });
    expect(await deletedAtRest()).toBe(15);
    await controllers.stop("SIGKILL");
    installation.runAlone();
    expect(await deletedAtRest()).toBe(15);
    expect(await installation.machines()).toHaveLength(20);
  });

  it("is void for what is scaled while no controller runs", async () => {
    await deploy("pool", 20);
    controllers = installation.runAlone();
    await untilRunning(20);
    await scale("pool", 5);
    await untilHeld("pool", /^Deletion of 15 machines is held/);
    await controllers.stop("SIGKILL");
    await approve("deployment", "pool");
    await scale("pool", 0);
    installation.runAlone();
    await untilHeld("pool", /^Deletion of 20 machines is held/);
    expect(await deletedAtRest()).toBe(0);
  });

  it("ends with a rollout that was undone, and with a creation that was restored", async () => {
    await deploy("pool", 12, {}, { strategy: { type: "Recreate" } });
    controllers = installation.runAlone();
    await untilRunning(12);
    const template = (name: string): object => ({
      spec: { template: { spec: { class: { kind: "MachineClass", name } } } },
    });
    await change("pool", template("big"));
    await untilHeld("pool", /^Deletion of 12 machines is held \(rollout\)/);
    await controllers.stop("SIGKILL");
    await approve("deployment", "pool");
    await change("pool", template("small"));
    controllers = installation.runAlone();
    await untilNothingHeld("pool");
    await change("pool", template("big"));
    await untilHeld("pool", /^Deletion of 12 machines is held \(rollout\)/);
    expect(await deletedAtRest()).toBe(0);
    await approve("deployment", "pool");
    await untilRunning(12, "big");
    expect(await deletedAtRest()).toBe(12);
  });

  it("covers Machines that were deleted before it, and none that are deleted after, over a kill", async () => {
    await deploy("pool", 12);
    controllers = installation.runAlone();
    await untilRunning(12);
    await installation.api.request({ method: "DELETE", path: machinesPath });
    await untilHeld("pool", /^Deletion of 12 machines is held \(deletion of Machines\)/);
    await approve("--all");
    await eventually(async () => expect(deletions()).toBeGreaterThan(0));
    await controllers.stop("SIGKILL");
    installation.runAlone();
    await untilRunning(12);
    expect(deletions()).toBe(12);
    await untilNothingHeld("pool");
    const value = await valueOf("pool");
    await installation.api.request({ method: "DELETE", path: machinesPath });
    await change("pool", { metadata: { annotations: { [annotationKeys.approveDeletions]: value } } });
    await untilHeld("pool", /^Deletion of 12 machines is held \(deletion of Machines\)/);
    expect(await deletedAtRest()).toBe(12);
  });

  it("covers one Machine, and an owner that is deleted with its machines", async () => {
    for (const name of ["one", "two"]) await deploy(name, 12);
    controllers = installation.runAlone();
    await untilRunning(24);
    await installation.api.delete(machineDeploymentResource, { namespace, name: "one" }, { propagation: "Background" });
    await untilHeld("one", /^Deletion of 12 machines is held \(deletion of the owner\)/);
    const machine = (await installation.machines()).find(({ metadata }) => metadata.deletionTimestamp !== undefined);
    await eventually(() => approve("machine", machine?.metadata.name ?? ""));
    await eventually(async () => expect(await installation.machines()).toHaveLength(23));
    expect(await deletedAtRest()).toBe(1);
    expect(await approve("deployment", "one")).toContain(
      "Approved the deletion of 11 machines of MachineDeployment one",
    );
    await untilRunning(12);
    expect(await deletedAtRest()).toBe(12);
    expect(await refuse("deployment", "two")).toContain("nothing of MachineDeployment two is held");
  });

  it("has a pace that replaces the machines of all deleted Nodes one after another, over a kill", async () => {
    await deploy("pool", 12);
    controllers = installation.runAlone();
    await untilRunning(12);
    const before = new Set((await installation.machines()).map(({ metadata }) => metadata.name));
    const { items } = await installation.api.list(nodeResource, {});
    for (const { metadata } of items) await installation.api.delete(nodeResource, { name: metadata.name ?? "" });
    await untilHeld("pool", /^Deletion of 12 machines is held.*--at-a-time 3 for three at a time/);
    expect(await deletedAtRest()).toBe(0);
    const serving: number[] = [];
    installation.cloud.subscribe(
      () => void serving.push(installation.cloud.vms().filter(({ state }) => state === "running").length),
    );
    expect(await approve("deployment", "pool", "--at-a-time", "3")).toContain("At most 3 are deleted");
    await eventually(async () => expect(deletions()).toBeGreaterThanOrEqual(3));
    await eventually(async () => expect(await conditionOf("pool")).toMatchObject({ reason: "Paced" }));
    await controllers.stop("SIGKILL");
    // Those that are deleted, and those that are not replaced yet.
    expect(Math.min(...serving)).toBeGreaterThanOrEqual(9);
    installation.runAlone();
    // Those that wait stay Running.
    await eventually(async () => {
      const left = (await installation.machines()).map(({ metadata }) => metadata.name);
      expect(left.filter((name) => before.has(name))).toEqual([]);
    });
    await untilRunning(12);
    expect(deletions()).toBe(12);
    // A deletion that began right before the kill is not recorded yet.
    expect(Math.min(...serving)).toBeGreaterThanOrEqual(6);
    await untilNothingHeld("pool");
  });

  it("has a pace for a scale-down, too", async () => {
    await deploy("pool", 14);
    installation.runAlone();
    await untilRunning(14);
    await scale("pool", 0);
    await untilHeld("pool", /^Deletion of 14 machines is held/);
    const terminating: number[] = [];
    installation.cloud.subscribe(
      () => void terminating.push(installation.cloud.vms().filter(({ state }) => state !== "running").length),
    );
    await approve("deployment", "pool", "--at-a-time=2");
    await untilRunning(0);
    expect(Math.max(...terminating)).toBeLessThanOrEqual(2);
  });

  it("is not needed by a pool with a share of its own, whatever else the namespace loses", async () => {
    const annotations = { [annotationKeys.maxDeletionShare]: "100%" };
    await deploy("nightly", 14, { annotations });
    await deploy("other", 12);
    installation.runAlone();
    await untilRunning(26);
    await scale("nightly", 0);
    await untilRunning(12);
    await scale("other", 0);
    await untilHeld("other", /^Deletion of 12 machines is held/);
    await scale("nightly", 14);
    await untilRunning(26);
    await scale("nightly", 0);
    await untilRunning(12);
    expect(await conditionOf("nightly")).toBeUndefined();

    await change("nightly", { metadata: { annotations: { [annotationKeys.maxDeletionShare]: "all" } } });
    await eventually(async () =>
      expect(await conditionOf("nightly", "SpecValid")).toMatchObject({
        status: "False",
        message: `* metadata.annotations[${annotationKeys.maxDeletionShare}]: must be a percentage from 1% to 100%, is "all"`,
      }),
    );
    await eventually(async () => {
      const events = (await installation.api.list(eventResource, { namespace })).items;
      expect(events.filter((event) => event["reason"] === eventReasons.invalidSpec)).toHaveLength(1);
    });
    await scale("nightly", 14);
    await untilRunning(26);
    await scale("nightly", 0);
    await untilHeld("nightly", /^Deletion of 14 machines is held/);
  });

  it("approves everything for a time only where that is requested", async () => {
    await deploy("pool", 12);
    installation.runAlone();
    await untilRunning(12);
    expect(await approve("deployment", "pool", "--for", "5m")).toMatch(/^Approved all deletions of .* until /);
    await scale("pool", 0);
    await untilRunning(0);
    await scale("pool", 12);
    await untilRunning(12);
    await installation.api.delete(machineResource, {
      namespace,
      name: (await installation.machines())[0]?.metadata.name ?? "",
    });
    await scale("pool", 0);
    await untilRunning(0);
  });
});
