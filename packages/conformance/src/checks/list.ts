import type { ProxyFault } from "../proxy/fault.ts";
import { htmlPage } from "../proxy/fault.ts";
import { skipped } from "../session/outcome.ts";
import { type CheckContext, type CheckTable, expect, outcomeOf } from "./check.ts";
import { faultDeadlineMs, from, requestsOf, samples } from "./faults.ts";

/** Fills several pages of every cloud that we know. */
const manyVms = 2_500;

/** Creates VMs of several pages, and returns their number: the fixture does, or for pages whose size it names the driver. Undefined where neither can. */
async function stagePages(t: CheckContext): Promise<number | undefined> {
  const { stage, pageSize } = t.fixture;
  const count = pageSize === undefined ? manyVms : 2 * pageSize + 1;
  if (stage?.manyVms !== undefined && t.session.profile.maxStagedVms >= count) {
    const { end } = await stage.manyVms(count);
    t.atEnd(end);
  } else if (pageSize !== undefined) {
    for (let made = 0; made < count; made++) await t.caller.create(t.machine());
  } else {
    return undefined;
  }
  return count;
}

const idsOf = async ({ caller }: CheckContext): Promise<readonly string[]> =>
  (await caller.list()).map(({ providerId }) => providerId);

/** Fails if an id is in a list twice. */
function expectUnique(ids: readonly string[]): ReadonlySet<string> {
  const unique = new Set(ids);
  expect(unique.size === ids.length, `The list has ${ids.length - unique.size} VMs twice.`);
  return unique;
}

/** Checks of `listMachines`. */
export const listChecks = {
  "list.contains-exactly-own-vms": async (t) => {
    const { otherClusterClass, stage, lacks } = t.fixture;
    const [first, second] = [t.machine(), t.machine()];
    const made = await Promise.all([t.caller.create(first), t.caller.create(second)]);
    const listed = expectUnique(await idsOf(t));
    for (const { providerId } of made) expect(listed.has(providerId), `The list lacks the VM ${providerId}.`);
    if (otherClusterClass !== undefined) {
      const neighbour = t.caller.with({ machineClass: otherClusterClass });
      const theirs = t.machine();
      const { providerId } = await neighbour.create(theirs);
      expect(!(await idsOf(t)).includes(providerId), `The list has the VM ${providerId} of another cluster.`);
      const their = (await neighbour.list()).map((vm) => vm.providerId);
      expect(their.includes(providerId), `The list of the other cluster lacks its VM ${providerId}.`);
      expect(!made.some((vm) => their.includes(vm.providerId)), "The list of another cluster has VMs of this one.");
      await neighbour.remove({ ...theirs, providerId });
    }
    if (stage?.vmOfOtherOwner !== undefined) {
      const { providerId, end } = await stage.vmOfOtherOwner(t.machine().name);
      t.atEnd(end);
      expect(!(await idsOf(t)).includes(providerId), `The list has the VM ${providerId} without ownership tags.`);
    } else if (otherClusterClass === undefined && lacks?.otherClusters === undefined) {
      throw skipped("The fixture does not provide a class of another cluster, or a VM of another owner.");
    }
  },

  "list.identifies-machines": async (t) => {
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    const listed = (await t.caller.list()).find((vm) => vm.providerId === providerId);
    expect(listed !== undefined, `The list lacks the VM ${providerId}.`);
    expect(listed.machineName === machine.name, `The list has the machine ${listed.machineName}, not ${machine.name}.`);
    expect([undefined, machine.uid].includes(listed.machineUid), `The list has the UID ${listed.machineUid}.`);
    const { machineNamespace } = listed;
    expect(
      [undefined, machine.namespace].includes(machineNamespace),
      `The list has the namespace ${machineNamespace}.`,
    );
  },

  "list.leaves-out-deleted-vms": async (t) => {
    const machine = t.machine();
    const { providerId } = await t.caller.create(machine);
    await t.caller.remove({ ...machine, providerId });
    expect(!(await idsOf(t)).includes(providerId), `The list has the deleted VM ${providerId}.`);
  },

  "list.pages": async (t) => {
    const before = expectUnique(await idsOf(t));
    const count = await stagePages(t);
    if (count === undefined)
      throw skipped(`The fixture provides neither ${manyVms} VMs nor pageSize, or the profile does not allow them.`);
    const all = expectUnique(await idsOf(t));
    const added = all.size - before.size;
    expect(added === count, `After ${count} VMs were created, the list has ${added} more.`);
    for (let round = 0; round < 3; round++) {
      const machine = t.machine();
      const [listed] = await Promise.all([
        idsOf(t),
        t.caller.create(machine).then(({ providerId }) => t.caller.remove({ ...machine, providerId })),
      ]);
      const now = expectUnique(listed);
      const missing = [...all].filter((id) => !now.has(id));
      expect(missing.length === 0, `While VMs come and go, the list lacks ${missing.length} others.`);
    }
  },

  "list.fails-as-a-whole": async (t) => {
    await stagePages(t);
    const count = await requestsOf(t, async (caller, proxy) => {
      await caller.create(t.machine());
      proxy.plan();
      await caller.list();
    });
    const error = { kind: "answer" as const, status: 500, body: "", ...t.fixture.endpoint?.errorAnswer?.(500) };
    const faults: readonly (readonly [string, ProxyFault])[] = [
      ["fails", error],
      ["is truncated", { kind: "truncate" }],
      ["is a page of a proxy", htmlPage(200)],
      ["is lost", { kind: "cut-after" }],
    ];
    for (const number of samples(count, 3)) {
      for (const [what, fault] of faults) {
        const { caller, proxy } = await t.behindProxy();
        proxy.plan(from(number, fault));
        const outcome = await outcomeOf(caller.list({ deadlineMs: faultDeadlineMs }));
        proxy.plan();
        expect(
          !outcome.ok,
          `If the response to request ${number + 1} of ${count} ${what}, the call succeeds with ${outcome.ok ? outcome.value.length : 0} VMs.`,
        );
      }
    }
  },
} as const satisfies CheckTable;
