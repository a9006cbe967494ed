import type { ListedMachine } from "@millwright/core";
import { nodeResource } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { intentAnnotation, intentFor } from "../model/creation-intent.ts";
import { aMachine, aMachineClass, annotated } from "../testing/builders.ts";
import { aFleet, fleetOf, MINUTE, nodeOf } from "../testing/machine-fleet.ts";

/** Eight machines whose VMs are listed, except those that the test hides. */
async function aListedFleet(size = 8) {
  const hidden = new Set<string>();
  const partsOf = new Map<string, readonly string[]>();
  const names = Object.keys(fleetOf(size));
  const listed = (): readonly ListedMachine[] =>
    names
      .filter((name) => !hidden.has(name))
      .map((name) => {
        const parts = partsOf.get(name);
        const vm = { providerId: `vm-${name}`, machineName: name, machineUid: `uid-${name}` };
        return parts === undefined ? vm : { ...vm, parts };
      });
  const fleet = await aFleet(fleetOf(size), { listVms: () => ({ ok: true, value: listed() }) });
  // The first lists, which lack nothing.
  await fleet.clock.advance(MINUTE);
  const remove = (name: string): void => {
    hidden.add(name);
    fleet.driver.vms.delete(`uid-${name}`);
  };
  const report = (name: string, lastHeartbeatTime: string) =>
    fleet.api.change(nodeResource, nodeOf(name), {
      status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime }] },
    });
  return { ...fleet, hidden, partsOf, remove, report };
}

describe("a VM that was deleted in the cloud", () => {
  it("makes its machine Unknown while its Node is Ready, and Failed after the health timeout, which replaces it", async () => {
    const { clock, driver, events, phase, remove, text } = await aListedFleet();
    remove("m00");
    await clock.advance(15 * MINUTE);
    expect(phase("m00")).toBe("Running");
    await clock.advance(8 * MINUTE);
    expect([phase("m00"), text("m00")]).toEqual(["Unknown", "VM vm-m00 of machine m00 does not exist"]);
    expect(driver.calls).toEqual(["findVm m00"]);
    await clock.advance(10 * MINUTE);
    expect(phase("m00")).toBe("Failed");
    expect(events).toEqual(["VMMissing", "HealthTimedOut"]);
  });

  it("is missing also when parts of it are left", async () => {
    const { clock, driver, partsOf, phase } = await aListedFleet();
    partsOf.set("m00", ["NIC m00-nic"]);
    driver.vms.delete("uid-m00");
    await clock.advance(23 * MINUTE);
    expect(phase("m00")).toBe("Unknown");
  });

  it("counts as an outage when there are many, and none is replaced", async () => {
    const { clock, events, inPhases, remove } = await aListedFleet(10);
    for (const name of ["m00", "m01", "m02"]) remove(name);
    await clock.advance(40 * MINUTE);
    expect(inPhases("Unknown")).toEqual(["m00", "m01", "m02"]);
    expect(events).toContain("RemediationPaused");
  });
});

describe("a list that lacks a VM that exists", () => {
  it("changes nothing: the driver is called for the machine, and finds the VM", async () => {
    const { clock, driver, events, hidden, phase } = await aListedFleet();
    hidden.add("m00");
    await clock.advance(60 * MINUTE);
    expect([phase("m00"), events]).toEqual(["Running", []]);
    expect(driver.calls.length).toBeGreaterThan(0);
  });

  it("changes nothing when the class was pointed elsewhere since the VM was requested", async () => {
    const requested = intentFor(aMachine(), aMachineClass({ providerSpec: { region: "eu-1" } }), { wantsToken: false });
    const machines = { m00: annotated(intentAnnotation(requested)) };
    const { clock, driver, events, phase } = await aFleet(machines, { listVms: () => ({ ok: true, value: [] }) });
    driver.vms.clear();
    await clock.advance(60 * MINUTE);
    expect([phase("m00"), events, driver.calls]).toEqual(["Running", [], []]);
  });

  it("changes nothing when the driver cannot find out", async () => {
    const { clock, driver, events, phase, remove } = await aListedFleet();
    driver.fail("findVm", "Unavailable", 100);
    remove("m00");
    await clock.advance(60 * MINUTE);
    expect([phase("m00"), events]).toEqual(["Running", []]);
  });

  it("changes nothing while the kubelet reports", async () => {
    const { clock, driver, phase, remove, report } = await aListedFleet();
    remove("m00");
    for (let minutes = 0; minutes < 60; minutes += 5) {
      report("m00", new Date(clock.now().getTime()).toISOString());
      await clock.advance(5 * MINUTE);
    }
    expect([phase("m00"), driver.calls]).toEqual(["Running", []]);
  });

  it("changes nothing when it lacks most VMs, and reports that on the class", async () => {
    const { clock, driver, events, inPhases, remove } = await aListedFleet(5);
    for (const name of ["m00", "m01", "m02"]) remove(name);
    await clock.advance(60 * MINUTE);
    expect([inPhases("Running").length, driver.calls]).toEqual([5, []]);
    expect(new Set(events)).toEqual(new Set(["VMsNotListed"]));
  });
});

describe("a missing VM that is back", () => {
  it("makes its machine Running again when it is listed, before the health timeout", async () => {
    const { clock, driver, events, hidden, phase, remove } = await aListedFleet();
    remove("m00");
    await clock.advance(23 * MINUTE);
    expect(phase("m00")).toBe("Unknown");
    driver.vms.set("uid-m00", "vm-m00");
    hidden.delete("m00");
    await clock.advance(7 * MINUTE);
    expect(phase("m00")).toBe("Running");
    await clock.advance(30 * MINUTE);
    expect(events).toEqual(["VMMissing", "NodeHealthy"]);
  });

  it("makes its machine Running again instead of Failed when its kubelet reports", async () => {
    const { clock, events, phase, remove, report } = await aListedFleet();
    remove("m00");
    await clock.advance(23 * MINUTE);
    expect(phase("m00")).toBe("Unknown");
    report("m00", new Date(clock.now().getTime()).toISOString());
    await clock.advance(7.5 * MINUTE);
    expect(phase("m00")).toBe("Running");
    expect(events).toEqual(["VMMissing", "NodeHealthy"]);
  });
});
