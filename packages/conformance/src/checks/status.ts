import { hasMachineErrorCode } from "@millwright/core";
import { abortAfter } from "./abort.ts";
import { type CheckTable, expect, expectFailure, outcomeOf } from "./check.ts";

const addressTypes = ["Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS"];
const mostRequests = 2;
const slowDeletionMs = 200;

/** Checks of `getMachineStatus`. */
export const statusChecks = {
  "status.unknown-machine-is-not-found": async (t) => {
    const unknown = t.machine();
    await expectFailure("getMachineStatus of a machine without VM", t.caller.status(unknown), "NotFound");
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    await t.caller.remove({ ...machine, providerId });
    const call = t.caller.status({ ...unknown, providerId });
    await expectFailure("getMachineStatus with the provider id of a deleted VM", call, "NotFound");
  },

  "status.finds-new-vm": async (t) => {
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const restarted = t.caller.with({ driver: await t.newDriver() });
    await t.eventually(async () => {
      const found = await outcomeOf(restarted.status(machine));
      if (found.ok) {
        const isSame = found.value.providerId === providerId;
        return isSame ? undefined : `getMachineStatus finds ${found.value.providerId}, not ${providerId}.`;
      }
      if (hasMachineErrorCode(found.error, "NotFound", "Unavailable"))
        return "getMachineStatus does not find the VM without its provider id.";
      throw found.error;
    });
  },

  "status.other-machines-are-not-found": async (t) => {
    const machine = t.machine();
    await t.caller.create(machine);
    const uid = t.session.random.uuid();
    for (const other of [
      { ...machine, uid },
      { ...machine, uid, namespace: "other" },
      { ...machine, name: t.machine().name, uid },
    ]) {
      const what = `getMachineStatus of machine ${other.namespace}/${other.name} with another UID`;
      await expectFailure(what, t.caller.status(other), "NotFound");
    }
  },

  "status.two-vms-fail": async (t) => {
    const stage = t.needs(t.fixture.stage?.secondVm, "a way to create a second VM of a machine");
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const { end } = await stage(machine.name);
    t.atEnd(end);
    const { message } = await expectFailure(
      "getMachineStatus of a machine with two VMs",
      t.caller.status(machine),
      "OutOfRange",
    );
    const id = providerId.split("/").at(-1) ?? "";
    expect(message.includes(id), `The message does not contain the id ${id}: ${message}`);
    await end();
    await t.caller.remove(machine);
  },

  "status.is-read-only": async (t) => {
    // Without requests, only what the call changes can be seen.
    const observed = t.fixture.lacks?.endpoint === undefined ? await t.behindProxy() : undefined;
    if (observed === undefined) t.needs(t.fixture.resources, "the resources of the cloud");
    const { caller, proxy } = { caller: t.caller, proxy: undefined, ...observed };
    const machine = t.machine();
    const { providerId } = await caller.create(machine);
    const before = await t.fixture.resources?.();
    await caller.status({ ...machine, providerId });
    proxy?.plan();
    await caller.status({ ...machine, providerId });
    const count = proxy?.requests.length ?? 0;
    expect(count <= mostRequests, `The call sends ${count} requests; at most ${mostRequests}.`);
    const after = await t.fixture.resources?.();
    expect(before?.toSorted().join() === after?.toSorted().join(), "The call changes resources.");
  },

  "status.terminating-vm-is-not-found": async (t) => {
    const stage = t.needs(t.fixture.stage?.slowDeletion, "slow deletions");
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const { end } = await stage();
    t.atEnd(end);
    const known = { ...machine, providerId };
    await outcomeOf(t.caller.remove(known, { signal: abortAfter(t, slowDeletionMs) }));
    await expectFailure("getMachineStatus of a terminating VM", t.caller.status(known), "NotFound");
    await end();
  },

  "status.addresses": async (t) => {
    const machine = t.machine();
    await t.caller.create(machine);
    const { addresses = [] } = await t.caller.status(machine);
    for (const { type, address } of addresses) {
      const isKnown = addressTypes.includes(type) && address.trim() !== "";
      expect(isKnown, `The address ${JSON.stringify({ type, address })} has an unknown type, or is empty.`);
    }
  },
} as const satisfies CheckTable;
