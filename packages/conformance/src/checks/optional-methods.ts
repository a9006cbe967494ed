import { isDeepStrictEqual } from "node:util";
import { hasMachineErrorCode } from "@millwright/core";
import { notApplicable, skipped } from "../session/outcome.ts";
import { type CheckTable, describeError, expect, expectFailure, outcomeOf } from "./check.ts";
import { expectOneVm } from "./create.ts";

const foreignVolumes: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { csi: { driver: "other.csi.example", volumeHandle: "vol-1" } },
  { nfs: { server: "10.0.0.1", path: "/" } },
  { csi: { driver: 7, volumeHandle: null } },
  { hostPath: { path: "/data" } },
];

/** Checks of methods that a driver may leave out. */
export const optionalMethodChecks = {
  "initialize.repeatable": async (t) => {
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const known = { ...machine, providerId };
    for (let round = 0; round < 3; round++) {
      const outcome = await outcomeOf(t.caller.initialize(known));
      expect(outcome.ok, `Initialization ${round + 1} fails with ${outcome.ok ? "" : describeError(outcome.error)}`);
    }
    const { initialized } = await t.caller.status(known);
    expect(initialized !== false, "After the initialization, getMachineStatus returns initialized: false.");
  },

  "initialize.missing-vm-is-not-found": async (t) => {
    await expectFailure(
      "The initialization of a missing VM",
      t.caller.initialize(t.machine()),
      "NotFound",
      "Unavailable",
    );
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    await t.caller.remove({ ...machine, providerId });
    const call = t.caller.initialize({ ...machine, providerId });
    await expectFailure("The initialization of a deleted VM", call, "NotFound", "Unavailable");
  },

  "volumes.one-answer-each": async (t) => {
    const own = t.fixture.ownVolume;
    const volumes = [
      ...foreignVolumes.slice(0, 2),
      ...(own === undefined ? [] : [own.spec]),
      ...foreignVolumes.slice(2),
    ];
    const expected = volumes.map((volume) => (volume === own?.spec ? own.id : undefined));
    const connections = t.session.connections.length;
    const { volumeIds } = await t.caller.volumeIds(volumes);
    expect(volumeIds.length === volumes.length, `For ${volumes.length} volumes there are ${volumeIds.length} entries.`);
    for (const [index, id] of volumeIds.entries()) {
      const want = expected[index];
      expect((id ?? undefined) === want, `Volume ${JSON.stringify(volumes[index])} has the id ${id}, not ${want}.`);
    }
    expect(t.session.connections.length === connections, "The call opens a connection.");
  },

  "drift.none-after-creation": async (t) => {
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const known = { ...machine, providerId };
    if (t.caller.target.driver.initializeMachine !== undefined) await t.caller.initialize(known);
    const { differences } = await t.caller.drift(known);
    const [first] = differences;
    expect(
      first === undefined,
      `A new VM differs in ${first?.field}: "${first?.found}" instead of "${first?.wanted}".`,
    );
  },

  "drift.finds-other-class": async (t) => {
    const machineClass = t.needs(t.fixture.otherClass, "a class that differs");
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const { differences } = await t.caller.with({ machineClass }).drift({ ...machine, providerId });
    expect(differences.length > 0, "Compared with a class that differs, the VM has no differences.");
    for (const { field, wanted, found } of differences)
      expect(wanted !== found, `The difference of ${field} has twice the value "${wanted}".`);
  },

  "template.is-complete": async (t) => {
    const { nodeTemplate } = await t.caller.template();
    const { capacity, instanceType, region, zone } = nodeTemplate;
    const isComplete = instanceType !== "" && region !== "" && zone !== "" && Object.keys(capacity ?? {}).length > 0;
    expect(isComplete, `The template lacks a field: ${JSON.stringify(nodeTemplate).slice(0, 300)}`);
    const again = await t.caller.template();
    expect(isDeepStrictEqual(again.nodeTemplate, nodeTemplate), "Two calls return different templates.");
  },

  "class-check.creates-nothing": async (t) => {
    const before = await t.fixture.resources?.();
    const { checks } = await t.caller.checkClass();
    const names = new Set(checks.map(({ name }) => name));
    expect(names.size === checks.length, "Two checks have the same name.");
    const bad = checks.find(({ status }) => status === "failed");
    expect(bad === undefined, `A check of the valid class fails: ${bad?.name}: ${bad?.message}`);
    for (const [what, machineClass] of Object.entries(t.fixture.missingReferences ?? {})) {
      const outcome = await outcomeOf(t.caller.with({ machineClass }).checkClass());
      const isFound = !outcome.ok || outcome.value.checks.some(({ status }) => status === "failed");
      expect(isFound, `No check of a class with a missing ${what} fails.`);
    }
    const after = await t.fixture.resources?.();
    expect(before?.toSorted().join() === after?.toSorted().join(), "A check changes resources.");
  },

  "pending.survives-restart": async (t) => {
    const machineClass = t.fixture.pendingClass;
    if (machineClass === undefined) throw notApplicable("No class whose calls are pending is known.");
    const caller = t.caller.with({ machineClass });
    const machine = t.machine();
    const first = await caller.createOnce(machine);
    if (!("pending" in first)) throw skipped("The creation was not pending.");
    const { providerId } = await caller.with({ driver: await t.newDriver() }).create(machine);
    await expectOneVm(t, machine, "After a pending creation");
    await caller.with({ driver: await t.newDriver() }).remove({ ...machine, providerId });
  },

  "pending.status-is-not-found": async (t) => {
    const machineClass = t.fixture.pendingClass;
    if (machineClass === undefined) throw notApplicable("No class whose calls are pending is known.");
    const caller = t.caller.with({ machineClass });
    const machine = t.machine();
    if (!("pending" in (await caller.createOnce(machine)))) throw skipped("The creation was not pending.");
    const found = await outcomeOf(caller.status(machine));
    const isPending = "pending" in (await caller.createOnce(machine));
    if (found.ok) expect(!isPending, "getMachineStatus finds a VM whose creation is pending.");
    else
      expect(hasMachineErrorCode(found.error, "NotFound"), `getMachineStatus fails with ${describeError(found.error)}`);
    await caller.remove(machine);
  },
} as const satisfies CheckTable;
