import type { MachineIdentity } from "@millwright/core";
import { type CheckContext, type CheckTable, describeError, expect, expectFailure, outcomeOf } from "./check.ts";
import { openCodes } from "./faults.ts";

/** Fails unless a machine has exactly one VM. */
export async function expectOneVm(t: CheckContext, machine: MachineIdentity, when: string): Promise<void> {
  const vms = await t.vmsOf(machine);
  expect(vms.length === 1, `${when}, the machine has ${vms.length} VMs: ${vms.join(", ")}`);
}

const concurrentCalls = 20;

/** Checks of `createMachine` without faults. */
export const createChecks = {
  "create.vm-is-found": async (t) => {
    const machine = t.machine();
    const { providerId, nodeName } = await t.caller.create(machine);
    const found = await t.caller.status(machine);
    expect(
      found.providerId === providerId,
      `getMachineStatus returns ${found.providerId}, createMachine ${providerId}`,
    );
    const known = await t.caller.status({ ...machine, providerId });
    expect(known.nodeName === nodeName, `getMachineStatus returns node ${known.nodeName}, createMachine ${nodeName}`);
    if (t.caller.target.driver.listMachines !== undefined) {
      const listed = (await t.caller.list()).filter((vm) => vm.providerId === providerId);
      expect(listed.length === 1, `listMachines has the new VM ${listed.length} times.`);
    }
    await expectOneVm(t, machine, "After a creation");
  },

  "create.repeat-returns-same-vm": async (t) => {
    const machine = t.machine();
    const first = await t.caller.create(machine);
    const again = await t.caller.create(machine);
    expect(
      again.providerId === first.providerId,
      `The repeated call returns ${again.providerId}, not ${first.providerId}.`,
    );
    const restarted = await t.caller
      .with({ driver: await t.newDriver() })
      .create({ ...machine, providerId: first.providerId });
    expect(restarted.providerId === first.providerId, `After a restart, the call returns ${restarted.providerId}.`);
    await expectOneVm(t, machine, "After repeated creations");
  },

  "create.concurrent-calls": async (t) => {
    const machine = t.machine();
    const outcomes = await Promise.all(
      Array.from({ length: concurrentCalls }, () => outcomeOf(t.caller.create(machine))),
    );
    const { providerId } = await t.caller.create(machine);
    for (const outcome of outcomes) {
      if (outcome.ok) {
        expect(
          outcome.value.providerId === providerId,
          `Concurrent calls return ${outcome.value.providerId} and ${providerId}.`,
        );
      } else {
        await expectFailure("A concurrent call that fails", Promise.reject(outcome.error), ...openCodes);
      }
    }
    await expectOneVm(t, machine, `After ${concurrentCalls} concurrent calls`);
  },

  "create.new-user-data-is-same-vm": async (t) => {
    const machine = t.machine();
    const first = await t.caller.create(machine);
    const userData = Buffer.from("#!/bin/sh\n# another bootstrap token\n");
    const again = await outcomeOf(t.caller.create(machine, { userData }));
    expect(again.ok, `With other user data the call fails: ${again.ok ? "" : describeError(again.error)}`);
    expect(
      again.value.providerId === first.providerId,
      `With other user data the call returns ${again.value.providerId}.`,
    );
    await expectOneVm(t, machine, "After a creation with other user data");
  },

  "create.other-spec-fails": async (t) => {
    const machineClass = t.needs(t.fixture.otherClass, "a class that differs");
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    await expectFailure(
      "A creation from another spec",
      t.caller.with({ machineClass }).create(machine),
      "AlreadyExists",
    );
    const found = await t.caller.status(machine);
    expect(found.providerId === providerId, `Afterwards the machine has the VM ${found.providerId}.`);
    await expectOneVm(t, machine, "After a creation from another spec");
  },

  "create.other-machine-of-same-name": async (t) => {
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    for (const more of [{}, { namespace: "other" }]) {
      const other = { ...machine, ...more, uid: t.session.random.uuid() };
      const outcome = await outcomeOf(t.caller.create(other));
      const what = `A machine with the same name and another ${Object.keys(more)[0] ?? "UID"}`;
      if (!outcome.ok) {
        await expectFailure(what, Promise.reject(outcome.error), "AlreadyExists");
      } else {
        expect(outcome.value.providerId !== providerId, `${what} gets the VM ${providerId} of the first.`);
        await t.caller.remove({ ...other, providerId: outcome.value.providerId });
      }
      const found = await t.caller.status(machine);
      expect(found.providerId === providerId, `Afterwards the first machine has the VM ${found.providerId}.`);
    }
  },

  "create.machine-names": async (t) => {
    const { namePrefix, profile } = t.session;
    const long = `${namePrefix}-${"n".repeat(62)}`.slice(0, 62);
    const names = [
      ...(profile.anyNames ? ["a", "0a"] : []),
      `${namePrefix}.dotted`,
      `${long}1`,
      `${long}2`,
      `${namePrefix}-${"m".repeat(253)}`.slice(0, 253),
    ];
    const ids = new Map<string, string>();
    for (const name of names) {
      const machine = t.machine({ name });
      const short = name.length > 70 ? `of ${name.length} characters` : name;
      const outcome = await outcomeOf(t.caller.create(machine));
      if (!outcome.ok) {
        await expectFailure(`The name ${short}`, Promise.reject(outcome.error), "InvalidArgument");
        continue;
      }
      const { providerId } = outcome.value;
      const same = ids.get(providerId);
      expect(same === undefined, `The machines ${same} and ${short} have the same VM ${providerId}.`);
      ids.set(providerId, name);
      const found = await t.caller.status(machine);
      expect(found.providerId === providerId, `getMachineStatus of ${short} returns ${found.providerId}.`);
      if (t.caller.target.driver.listMachines === undefined) continue;
      const listed = (await t.caller.list()).find((vm) => vm.providerId === providerId);
      expect(listed?.machineName === name, `listMachines returns the name ${listed?.machineName} for ${short}.`);
    }
    expect(ids.size > 0, "The driver rejects all names.");
  },

  "create.quota": async (t) => {
    const stage = t.needs(t.fixture.stage?.quotaExhausted, "a way to exhaust the quota");
    const machine = t.machine();
    const { end } = await stage();
    t.atEnd(end);
    await expectFailure("A creation without quota", t.caller.create(machine), "ResourceExhausted");
    await end();
    await t.caller.create(machine, { token: `second-${machine.uid}` });
    await expectOneVm(t, machine, "After the quota was raised");
  },

  "create.missing-reference": async (t) => {
    const classes = t.needs(t.fixture.missingReferences, "classes with missing references");
    for (const [what, machineClass] of Object.entries(classes)) {
      const machine = t.machine();
      await expectFailure(
        `A creation with a missing ${what}`,
        t.caller.with({ machineClass }).create(machine),
        "InvalidArgument",
      );
      await t.caller.remove(machine);
    }
  },

  "create.after-deletion": async (t) => {
    const machine = t.machine();
    await t.caller.remove({ ...machine, providerId: (await t.caller.create(machine)).providerId });
    const again = { ...machine, uid: t.session.random.uuid() };
    const { providerId } = await t.caller.create(again);
    const found = await t.caller.status(again);
    expect(
      found.providerId === providerId,
      `getMachineStatus returns ${found.providerId}, createMachine ${providerId}`,
    );
    await expectOneVm(t, again, "After a deletion and a creation of the same name");
    if (t.caller.target.driver.listMachines === undefined) return;
    const listed = (await t.caller.list()).find((vm) => vm.providerId === providerId);
    expect(
      [undefined, again.uid].includes(listed?.machineUid),
      `The new VM is listed with the UID ${listed?.machineUid}.`,
    );
  },
} as const satisfies CheckTable;
