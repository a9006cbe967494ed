import type { Machine } from "@millwright/core/machine-api";
import { eventResource } from "@millwright/kube";
import { afterEach, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type ManagedFleet, startManagedFleet } from "../harness/managed-fleet.ts";

const FLEET = 4;
let fleet: ManagedFleet;

afterEach(() => fleet.close());

const nameOf = ({ metadata }: Machine): string => metadata.name;
const phasesOf = async (names: readonly string[]): Promise<readonly (string | undefined)[]> =>
  (await fleet.machines())
    .filter((machine) => names.includes(nameOf(machine)))
    .map(({ status }) => status?.currentStatus?.phase);
const power = async (machine: Machine, action: "start" | "stop"): Promise<void> =>
  void (await fleet.cloud.powerVm(machine.spec.providerID ?? "", action));
/** Starts a VM as soon as it has come to a stop. */
const startAgain = (machine: Machine): Promise<void> => eventually(() => power(machine, "start"));
const reasonsOf = async (name: string): Promise<readonly unknown[]> =>
  (await fleet.api.list(eventResource, { namespace: "default" })).items
    .filter((event) => JSON.stringify(event["involvedObject"]).includes(`"${name}"`))
    .map(({ reason }) => reason);
const liveIds = (): readonly string[] =>
  fleet.cloud
    .vms()
    .filter(({ state }) => state !== "terminated")
    .map(({ providerId }) => providerId)
    .toSorted();
const creations = (): number => fleet.cloud.calls.filter(({ operation }) => operation === "create").length;

it("replaces a machine whose VM is stopped, within the remediation budget, and deletes the VM also when it is started again meanwhile; a machine whose VM is started before is kept", async () => {
  fleet = await startManagedFleet(FLEET, { heartbeatMs: 200, silenceMs: 2_000 });
  await fleet.manage({ settings: { healthTimeoutMs: 2_000 } });
  await fleet.untilRunning(FLEET);
  const [first, second, ...others] = await fleet.machines();
  if (first === undefined || second === undefined) throw new Error("there are too few machines");
  const stopped = [first, second];
  // A deletion that does not end, so that the VM can be started in between.
  await fleet.cloud.addFault({ operation: "delete", code: "Unavailable", times: 1_000 });
  for (const machine of stopped) await power(machine, "stop");

  await eventually(
    async () => expect(new Set(await phasesOf(stopped.map(nameOf)))).toEqual(new Set(["Terminating", "Unknown"])),
    60_000,
  );
  const replaced = (await fleet.machines()).find(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const kept = stopped.find((machine) => nameOf(machine) !== replaced?.metadata.name);
  if (replaced === undefined || kept === undefined) throw new Error("no machine is replaced");
  await eventually(async () => expect(await reasonsOf(nameOf(kept))).toContain("RemediationDeferred"));

  // Both VMs are started again: one machine recovers, the other one is not kept.
  for (const machine of stopped) await startAgain(machine);
  await eventually(async () => expect(await phasesOf([nameOf(kept)])).toEqual(["Running"]), 60_000);
  await fleet.cloud.clearFaults();
  await eventually(async () => {
    const machines = await fleet.machines();
    expect(machines.map(nameOf)).not.toContain(nameOf(replaced));
    expect(machines).toHaveLength(FLEET);
    expect(liveIds()).toEqual(machines.map(({ spec }) => spec.providerID ?? "").toSorted());
  }, 60_000);
  await fleet.untilRunning(FLEET);
  const ids = liveIds();
  expect(ids).toEqual(expect.arrayContaining([kept, ...others].map(({ spec }) => spec.providerID)));
  expect(ids).not.toContain(replaced.spec.providerID);
  // One VM for each machine, and one for the replacement.
  expect(creations()).toBe(FLEET + 1);
});
