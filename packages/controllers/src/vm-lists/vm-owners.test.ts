import { type ListedMachine, MachineError } from "@millwright/core";
import { type Machine, machineResource } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { DriverOutcome } from "../model/driver-port.ts";
import { aMachine, type Change, named, testNamespace } from "../testing/builders.ts";
import { aFleet, MINUTE } from "../testing/machine-fleet.ts";

const at = (creationTimestamp: string): Change<Machine> => ({ metadata: { creationTimestamp } });
const older = at("2026-01-01T00:00:00Z");
const newer = at("2026-01-01T00:05:00Z");
const withVm = (providerID: string): Change<Machine> => ({ spec: { providerID } });

/** Machines that name the VM of `real`, which is newer than its copy and has no node; what the cloud lists. */
async function twoMachines(answer: () => DriverOutcome<readonly ListedMachine[]>) {
  let lists = 0;
  const listVms = () => (lists++, answer());
  const fleet = await aFleet(
    { real: { ...newer, ...withVm("vm-1") }, copy: { ...older, ...withVm("vm-1") }, other: withVm("vm-2") },
    { listVms },
  );
  const inConflict = (): readonly string[] =>
    ["real", "copy", "other"].filter((name) =>
      fleet.machine(name)?.status?.conditions?.some(({ type }) => type === "Conflict"),
    );
  return { ...fleet, inConflict, lists: () => lists };
}
const listed = (machineName: string, change: Partial<ListedMachine> = {}) => ({
  providerId: "vm-1",
  machineName,
  machineUid: "uid-before-the-restore",
  machineNamespace: testNamespace,
  ...change,
});

describe("a VM that two Machines name", () => {
  it("belongs to the one for which it was created, once its tags are listed, although the other is older", async () => {
    let answer: DriverOutcome<readonly ListedMachine[]> = {
      ok: false,
      error: new MachineError("Unavailable", "later"),
    };
    const { clock, inConflict, phase } = await twoMachines(() => answer);
    expect(inConflict()).toEqual(["real"]);
    answer = { ok: true, value: [listed("real")] };
    await clock.advance(2 * MINUTE);
    expect(inConflict()).toEqual(["copy"]);
    expect([phase("real"), phase("copy")]).toEqual(["Running", "Unknown"]);
  });

  it.each<[string, DriverOutcome<readonly ListedMachine[]>]>([
    ["the driver has no list", { ok: false, error: new MachineError("Unimplemented", "no list") }],
    ["the list fails", { ok: false, error: new MachineError("Unavailable", "not now") }],
    ["the list lacks it", { ok: true, value: [] }],
    ["it was created for a Machine that does not exist", { ok: true, value: [listed("former")] }],
    [
      "it was created for a Machine of another namespace",
      { ok: true, value: [listed("real", { machineNamespace: "x" })] },
    ],
  ])("belongs to the older one when %s", async (_, answer) => {
    const { clock, inConflict } = await twoMachines(() => answer);
    await clock.advance(5 * MINUTE);
    expect(inConflict()).toEqual(["real"]);
  });

  it("is listed as soon as the second Machine is created, and again only in every period", async () => {
    const { api, clock, inConflict, lists } = await twoMachines(() => ({
      ok: true,
      value: [listed("real"), { providerId: "vm-2", machineName: "late", machineNamespace: testNamespace }],
    }));
    await clock.advance(5 * MINUTE);
    const before = lists();
    api.seed(machineResource, aMachine(named("late"), newer, withVm("vm-2")));
    await clock.advance(MINUTE);
    expect([lists() - before, inConflict()]).toEqual([1, ["copy", "other"]]);
    await clock.advance(5 * MINUTE);
    expect(lists() - before).toBe(1);
  });
});
