import { machineClassResource, machineDeploymentResource } from "@millwright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { shortLeases } from "../harness/short-leases.ts";

describe("millwright run, killed and started again", () => {
  let installation: Installation;
  const started: MillwrightProcess[] = [];

  const startControllers = (): MillwrightProcess => {
    const process = startMillwright([
      "run",
      "--provider=mock",
      "--control-kubeconfig",
      installation.kubeconfig,
      ...shortLeases,
    ]);
    started.push(process);
    return process;
  };
  const scale = (replicas: number): Promise<unknown> =>
    installation.api.patch(
      machineDeploymentResource,
      { namespace: "default", name: "fleet" },
      { spec: { replicas } },
      { kind: "merge" },
    );
  const phases = async (): Promise<readonly (string | undefined)[]> =>
    (await installation.machines()).map(({ status }) => status?.currentStatus?.phase);

  beforeEach(async () => {
    // A creation takes a while until it is answered, so that a kill finds it under way.
    installation = await startInstallation({ latencyMs: 300 });
    await installation.api.create(machineClassResource, machineClass("small"));
  });

  afterEach(async () => {
    await Promise.all(started.splice(0).map((process) => process.stop("SIGKILL")));
    await installation.close();
  });

  it("makes one VM per machine although the controller dies between the creation of VMs and the note of their ids", async () => {
    // The VMs are made, and the answers that tell their ids are lost: the kill comes before they are asked for again.
    await installation.cloud.addFault({ operation: "create", code: "Unavailable", afterAcceptance: true, times: 3 });
    const first = startControllers();
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 3));
    await eventually(async () => expect(installation.cloud.vms().length).toBeGreaterThan(0));
    await first.stop("SIGKILL");
    const ids = (await installation.machines()).map(({ spec }) => spec?.providerID ?? "");
    expect(ids, "the kill came too late to prove anything").toContain("");

    startControllers();
    await eventually(async () => expect(await phases()).toEqual(["Running", "Running", "Running"]));
    expect(installation.cloud.vms()).toHaveLength(3);
    const creations = installation.cloud.calls.filter(({ operation }) => operation === "create").length;
    expect(creations).toBeLessThanOrEqual(6);
  });

  it("goes on with a deletion where the controller that began it was killed", async () => {
    const first = startControllers();
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    await eventually(async () => expect(await phases()).toEqual(["Running", "Running"]));
    await installation.api.delete(machineDeploymentResource, { namespace: "default", name: "fleet" });
    await eventually(async () => expect(await phases()).toContain("Terminating"));
    await first.stop("SIGKILL");

    startControllers();
    await eventually(async () => expect(await installation.machines()).toEqual([]));
    expect(installation.cloud.vms()).toEqual([]);
  });

  it("lets one of two act, the other follow when that is killed, and never both", async () => {
    const first = startControllers();
    await first.waitFor(/"Leading"/);
    const second = startControllers();
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    await eventually(async () => expect(await phases()).toEqual(["Running", "Running"]));
    expect(second.output()).not.toContain('"Leading"');
    await first.stop("SIGKILL");
    await scale(3);
    await eventually(async () => expect(await phases()).toEqual(["Running", "Running", "Running"]));
    expect(second.output()).toContain('"Leading"');
    expect(installation.cloud.vms()).toHaveLength(3);
  });

  it("does nothing more in a process that slept through the end of its leases", async () => {
    const sleeper = startControllers();
    await sleeper.waitFor(/"Leading"/);
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 1));
    await eventually(async () => expect(await phases()).toEqual(["Running"]));
    sleeper.child.kill("SIGSTOP");
    const heir = startControllers();
    await heir.waitFor(/"Leading"/);
    await scale(2);
    sleeper.child.kill("SIGCONT");
    expect(await sleeper.ended).toBe(1);
    expect(sleeper.output()).toContain("Leadership lost");
    await eventually(async () => expect(await phases()).toEqual(["Running", "Running"]));
    expect(installation.cloud.vms()).toHaveLength(2);
  });

  it("stops on SIGTERM with status 0, and leaves the fleet as it is", async () => {
    const process = startControllers();
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 1));
    await eventually(async () => expect(await phases()).toEqual(["Running"]));
    expect(await process.stop("SIGTERM")).toBe(0);
    expect(process.output()).toContain('"Stopped"');
    expect(installation.cloud.vms()).toHaveLength(1);
  });

  it("makes machines again as soon as a class that was refused is mended, and asks for nothing in a loop until then", async () => {
    startControllers();
    const broken = { ...machineClass("broken"), providerSpec: { machineType: "enormous" } };
    await installation.api.create(machineClassResource, broken);
    await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "broken", 1));
    const described = await eventually(async () => {
      const [machine] = await installation.machines();
      expect(machine?.status?.lastOperation?.description).toContain('MachineClass "broken": providerSpec.machineType');
      return machine;
    });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect((await installation.machines())[0]?.metadata.resourceVersion).toBe(described?.metadata.resourceVersion);
    expect(installation.cloud.calls.filter(({ operation }) => operation === "create")).toEqual([]);

    const mended = { providerSpec: { machineType: "small" } };
    await installation.api.patch(machineClassResource, { namespace: "default", name: "broken" }, mended, {
      kind: "merge",
    });
    await eventually(async () => expect(await phases()).toEqual(["Running"]));
  });
});
