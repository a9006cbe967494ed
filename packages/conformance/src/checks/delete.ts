import { notApplicable } from "../session/outcome.ts";
import { type CheckContext, type CheckTable, describeError, expect, expectFailure, outcomeOf } from "./check.ts";
import { createMachineAborted } from "./abort.ts";
import { faultDeadlineMs, from, removeCompletely, requestsOf, requestsOfCreation, samples } from "./faults.ts";
import { withField } from "./spec-paths.ts";

const mostFaults = 8;
/** For how long deletions are slow. */
const slowDeletionMs = 300;

/** Fails while the cloud has more resources than before. */
const expectNoMore = (t: CheckContext, before: ReadonlySet<string>, when: string): Promise<void> =>
  t.eventually(async () => {
    const left = (await t.resources()).filter((id) => !before.has(id));
    return left.length === 0 ? undefined : `${when}, ${left.join(", ")} exists.`;
  });

/** Fails unless a deletion is refused and the VM is kept. */
async function expectKept(what: string, deletion: Promise<unknown>, isThere: () => Promise<boolean>): Promise<void> {
  const outcome = await outcomeOf(deletion);
  expect(await isThere(), `The deletion of ${what} deletes it.`);
  if (outcome.ok) return expect(false, `The deletion of ${what} succeeds; it must fail with PermissionDenied.`);
  await expectFailure(`The deletion of ${what}`, Promise.reject(outcome.error), "PermissionDenied");
}

/** The id of a VM that does not exist, in the form of one that does. */
const otherId = (providerId: string): string =>
  providerId.replace(/[0-9a-f](?=[^0-9a-f]*$)/i, (digit) => (digit === "0" ? "1" : "0"));

/** Checks of `deleteMachine`. */
export const deleteChecks = {
  "delete.removes-vm": async (t) => {
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    await t.caller.remove({ ...machine, providerId });
    await expectFailure("getMachineStatus after the deletion", t.caller.status(machine), "NotFound");
    await t.eventually(async () => {
      const left = await t.vmsOf(machine);
      return left.length === 0 ? undefined : `After the deletion the VM ${left.join(", ")} exists.`;
    });
  },

  "delete.removes-created-resources": async (t) => {
    const before = new Set(await t.resources());
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const created = (await t.resources()).filter((id) => !before.has(id));
    expect(created.length > 0, "The fixture shows no resource of a VM.");
    await t.caller.remove({ ...machine, providerId });
    await expectNoMore(t, before, "After the deletion");
  },

  "delete.repeat-succeeds": async (t) => {
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    for (const each of [{ ...machine, providerId }, { ...machine, providerId }, machine, t.machine()]) {
      const outcome = await outcomeOf(t.caller.remove(each));
      expect(outcome.ok, `A repeated deletion fails with ${outcome.ok ? "" : describeError(outcome.error)}`);
    }
  },

  "delete.unknown-vm-is-missing": async (t) => {
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const outcome = await outcomeOf(t.caller.remove({ ...t.machine(), providerId: otherId(providerId) }));
    if (outcome.ok) {
      const { vm = "nothing" } = outcome.value;
      // Other answers are invalid, which other rules check.
      expect(
        vm !== "ended" && vm !== "nothing",
        `For a VM that does not exist the answer is ${vm}; it must be missing.`,
      );
    } else await expectFailure("The deletion of a VM that does not exist", Promise.reject(outcome.error), "NotFound");
    await t.caller.remove({ ...machine, providerId });
  },

  "delete.works-without-provider-id": async (t) => {
    const machine = t.machine();
    await t.caller.create(machine);
    await removeCompletely(t, machine, t.caller.with({ driver: await t.newDriver() }));
  },

  "delete.during-creation": async (t) => {
    if (t.fixture.endpoint === undefined) {
      for (const afterMs of [0, 1, 5, 20, 50]) {
        const machine = t.machine();
        await createMachineAborted(t, machine, afterMs);
        await removeCompletely(t, machine);
      }
      return;
    }
    const before = t.fixture.resources === undefined ? undefined : new Set(await t.resources());
    const count = await requestsOfCreation(t);
    for (const number of samples(count, mostFaults)) {
      const { caller, proxy } = await t.behindProxy();
      const machine = t.machine();
      const stop = new AbortController();
      proxy.plan((index) => {
        if (index === number) stop.abort(new Error("the machine is deleted"));
        return undefined;
      });
      await outcomeOf(caller.create(machine, { signal: stop.signal }));
      await proxy.idle();
      proxy.plan();
      await removeCompletely(t, machine, t.caller.with({ driver: await t.newDriver() }));
      if (before !== undefined)
        await expectNoMore(t, before, `After a deletion during request ${number + 1} of ${count}`);
    }
  },

  "delete.keeps-attached-volumes": async (t) => {
    const stage = t.needs(t.fixture.stage?.attachedVolume, "a way to attach a volume");
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const { exists, end } = await stage(machine.name);
    t.atEnd(end);
    await t.caller.remove({ ...machine, providerId });
    expect(await exists(), "The deletion deletes a volume that another client attached.");
  },

  "delete.refuses-other-vms": async (t) => {
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const uid = t.session.random.uuid();
    const isThere = async (): Promise<boolean> => (await outcomeOf(t.caller.status(machine))).ok;
    const other = { ...t.machine(), providerId };
    await expectKept("the VM of another machine by its provider id", t.caller.remove(other), isThere);
    const sameName = { ...machine, namespace: "other", uid, providerId };
    await expectKept("a VM of another namespace by its provider id", t.caller.remove(sameName), isThere);
    const { otherClusterClass, stage } = t.fixture;
    if (otherClusterClass !== undefined) {
      const neighbour = t.caller.with({ machineClass: otherClusterClass });
      const theirs = t.machine();
      const made = await neighbour.create(theirs);
      const ours = { ...theirs, uid, providerId: made.providerId };
      const isKept = async (): Promise<boolean> => (await outcomeOf(neighbour.status(theirs))).ok;
      await expectKept("a VM of another cluster by its provider id", t.caller.remove(ours), isKept);
      await neighbour.remove({ ...theirs, providerId: made.providerId });
    }
    if (stage?.vmOfOtherOwner !== undefined) {
      const named = t.machine();
      const staged = await stage.vmOfOtherOwner(named.name);
      t.atEnd(staged.end);
      const isKept = async (): Promise<boolean> =>
        t.fixture.inventory === undefined || (await t.vmsOf(named)).length > 0;
      await expectKept(
        "a VM without ownership tags",
        t.caller.remove({ ...named, providerId: staged.providerId }),
        isKept,
      );
    }
  },

  "delete.success-means-gone": async (t) => {
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const stage = t.fixture.stage?.slowDeletion;
    if (stage !== undefined) {
      const { end } = await stage();
      t.session.clock.setTimer(slowDeletionMs, () => void end());
      t.atEnd(end);
    }
    await t.caller.remove({ ...machine, providerId });
    const left = await t.vmsOf(machine);
    expect(left.length === 0, `When the deletion succeeds, the VM ${left.join(", ")} still exists.`);
  },

  "delete.lost-response": async (t) => {
    const before = t.fixture.resources === undefined ? undefined : new Set(await t.resources());
    const first = t.machine();
    const count = await requestsOf(t, async (caller, proxy) => {
      const { providerId } = await caller.create(first);
      proxy.plan();
      await caller.remove({ ...first, providerId });
    });
    for (const number of samples(count, mostFaults)) {
      const { caller, proxy } = await t.behindProxy();
      const machine = t.machine();
      const { providerId } = await caller.create(machine);
      proxy.plan(from(number, { kind: "cut-after" }));
      await outcomeOf(caller.remove({ ...machine, providerId }, { deadlineMs: faultDeadlineMs }));
      proxy.plan();
      const next = await outcomeOf(t.caller.with({ driver: await t.newDriver() }).remove({ ...machine, providerId }));
      const when = `After a lost response to request ${number + 1} of ${count}`;
      expect(next.ok, `${when}, the next deletion fails with ${next.ok ? "" : describeError(next.error)}`);
      await t.eventually(async () => {
        const left = await t.vmsOf(machine);
        return left.length === 0 ? undefined : `${when} and another deletion, the VM ${left.join(", ")} exists.`;
      });
      if (before !== undefined) await expectNoMore(t, before, when);
    }
  },

  "delete.termination-protection": async (t) => {
    const stage = t.needs(t.fixture.stage?.terminationProtection, "termination protection");
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const { end } = await stage(machine.name);
    t.atEnd(end);
    await expectFailure(
      "The deletion of a protected VM",
      t.caller.remove({ ...machine, providerId }),
      "FailedPrecondition",
    );
    await end();
  },

  "delete.changed-class": async (t) => {
    const { machineClass, driver } = t.caller.target;
    const changed = withField(machineClass.providerSpec, { keys: ["mwcUnknownField"] }, 1);
    const strict = await driver.spec["~standard"].validate(changed);
    if (strict.issues === undefined) throw notApplicable("The driver accepts unknown fields.");
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const caller = t.caller.with({ machineClass: { ...machineClass, providerSpec: changed } });
    const found = await caller.status({ ...machine, providerId });
    expect(found.providerId === providerId, `With an unknown field, getMachineStatus finds ${found.providerId}.`);
    await removeCompletely(t, machine, caller);
  },

  "delete.removes-leftovers": async (t) => {
    const stage = t.needs(t.fixture.stage?.removeVmOnly, "a way to remove a VM and leave its parts");
    const before = new Set(await t.resources());
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    await stage(machine.name);
    await t.caller.remove({ ...machine, providerId });
    await expectNoMore(t, before, "After the deletion of a machine whose VM is missing");
  },
} as const satisfies CheckTable;
