import { annotationKeys, finalizers, type Machine, machineResource, phaseOf } from "@millwright/core/machine-api";
import { controllerRefOf, ignoreNotFound, type KubeObject } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";

const namespace = "default";
const LONG = 90_000;

/** A VM whose Machine lost its finalizer by hand, and what a person does to keep it. */
describe("a VM without Machine", () => {
  let fleet: ControlledFleet;
  let controllers: MillwrightProcess;
  let lost: Machine;

  beforeEach(async () => {
    fleet = await startControlledFleet();
    controllers = fleet.run();
    await fleet.deploy(2);
    await fleet.untilRunning(2);
    [lost] = (await fleet.machines()) as [Machine];
    const ref = { namespace, name: lost.metadata.name };
    await fleet.api.delete(machineResource, ref);
    await ignoreNotFound(fleet.api.patch(machineResource, ref, { metadata: { finalizers: null } }, { kind: "merge" }));
  });
  afterEach(() => fleet.close());

  const machineOf = async (providerId: string): Promise<Machine | undefined> =>
    (await fleet.machines()).find(({ spec }) => spec.providerID === providerId);
  const millwright = async (status: number, ...words: readonly string[]): Promise<string> => {
    const command = startMillwright(words, { KUBECONFIG: fleet.kubeconfig });
    expect(await command.ended, command.output()).toBe(status);
    return command.output();
  };
  /** The machine and its VM are there, the set has its size again, and another machine was deleted for that. */
  const untilKept = async (providerId: string): Promise<Machine> => {
    await eventually(async () => {
      const machines = await fleet.machines();
      expect(machines.map(phaseOf)).toEqual(["Running", "Running"]);
      expect(machines.map(({ spec }) => spec.providerID)).toContain(providerId);
      expect(fleet.cloud.vms()).toHaveLength(2);
    }, LONG);
    const machine = await machineOf(providerId);
    if (machine === undefined) throw new Error("the machine is gone");
    expect(controllerRefOf(machine)?.kind).toBe("MachineSet");
    expect(fleet.cloud.vms().map((vm) => vm.providerId)).toContain(providerId);
    return machine;
  };
  const savedAs = (name: string, metadata: object = {}): KubeObject => ({
    apiVersion: "machine.sapcloud.io/v1alpha1",
    kind: "Machine",
    metadata: { name, namespace, labels: lost.metadata.labels ?? {}, ...metadata },
    spec: { ...lost.spec },
  });
  const untilReplaced = (): Promise<void> =>
    eventually(async () => {
      expect((await fleet.machines()).map(phaseOf)).toEqual(["Running", "Running"]);
      expect(fleet.cloud.vms()).toHaveLength(3);
    }, LONG);

  it("is kept by millwright adopt NODE, and its set deletes a younger machine", async () => {
    await untilReplaced();
    const providerId = lost.spec.providerID ?? "";
    const node = lost.metadata.labels?.["node"] ?? "";
    expect(await millwright(0, "adopt", node, "--deployment=fleet", "--dry-run")).toContain("Would create Machine");
    expect(await machineOf(providerId)).toBeUndefined();
    const output = await millwright(0, "adopt", node, "--deployment=fleet");
    expect(output).toContain(`it keeps VM ${providerId}`);
    expect(output).toContain("The set has 3 machines and wants 2");
    await untilKept(providerId);
    expect(await millwright(1, "adopt", node, "--deployment=fleet")).toContain(
      `VM ${providerId} is that of Machine "${lost.metadata.name}"`,
    );
    expect(await millwright(1, "adopt", "no-such", "--deployment=fleet")).toContain(
      'MachineClass "small" of MachineDeployment "fleet" lists no VM of "no-such"',
    );
  });

  it.each(["its own name", "another name"])("is kept by its saved manifest under %s", async (which) => {
    await untilReplaced();
    const name = which === "its own name" ? lost.metadata.name : "rescued";
    await fleet.api.create(machineResource, savedAs(name));
    const kept = await untilKept(lost.spec.providerID ?? "");
    expect(kept.metadata.name).toBe(name);
    expect(kept.metadata.annotations?.[annotationKeys.vmName]).toBe(
      name === "rescued" ? lost.metadata.name : undefined,
    );
    expect(kept.metadata.finalizers).toContain(finalizers.machine);
  });

  it("under another name is drained and deleted with its Machine, and found by the next process", async () => {
    await untilReplaced();
    const providerId = lost.spec.providerID ?? "";
    await fleet.api.create(machineResource, savedAs("rescued", { labels: {} }));
    await eventually(async () => expect(phaseOf((await machineOf(providerId)) ?? lost)).toBe("Running"), LONG);
    await controllers.stop("SIGKILL");
    fleet.run();
    await fleet.api.delete(machineResource, { namespace, name: "rescued" });
    await eventually(async () => {
      expect(await machineOf(providerId)).toBeUndefined();
      expect(fleet.cloud.vms().map((vm) => vm.providerId)).not.toContain(providerId);
    }, LONG);
    expect(fleet.cloud.vms()).toHaveLength(2);
  });
});
