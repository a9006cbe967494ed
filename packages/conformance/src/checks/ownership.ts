import { hasMachineErrorCode } from "@millwright/core";
import type { InventoryVm } from "../session/fixture.ts";
import { type CheckContext, type CheckTable, describeError, expect, outcomeOf } from "./check.ts";

/** The VM of a machine in the cloud, with its tags. */
async function vmOf(t: CheckContext, name: string): Promise<InventoryVm | undefined> {
  const inventory = t.needs(t.fixture.inventory, "the VMs of the cloud");
  return (await inventory()).find(({ machineName }) => machineName === name);
}

/** The ownership tags that a VM lacks. */
function missingTags(
  { tags = {} }: InventoryVm,
  machine: { readonly name: string; readonly uid: string },
): readonly string[] {
  const values = Object.values(tags).map((value) => value.toLowerCase());
  return [
    ...(values.includes(machine.name) ? [] : ["the name of the machine"]),
    ...(values.includes(machine.uid) ? [] : ["the UID of the machine"]),
  ];
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Checks of tags, and of what reaches the VM. */
export const ownershipChecks = {
  "create.ownership-from-the-start": async (t) => {
    const machine = t.machine();
    const done = new AbortController();
    const creation = t.caller.create(machine).finally(() => done.abort());
    let looks = 0;
    const watch = async (): Promise<string | undefined> => {
      while (!done.signal.aborted) {
        const vm = await vmOf(t, machine.name);
        if (vm !== undefined) {
          looks++;
          t.needs(vm.tags, "the tags of VMs");
          const missing = missingTags(vm, machine);
          if (missing.length > 0) return `A VM is visible without ${missing.join(" and ")} in its tags.`;
        }
        await turn();
      }
      return undefined;
    };
    const [watched, created] = await Promise.allSettled([watch(), creation]);
    if (watched.status === "rejected") throw watched.reason;
    expect(watched.value === undefined, String(watched.value));
    if (created.status === "rejected") throw created.reason;
    const vm = await vmOf(t, machine.name);
    expect(vm !== undefined, `The cloud shows no VM of the machine (${looks} looks).`);
    const missing = missingTags(vm, machine);
    expect(missing.length === 0, `The VM has no tag with ${missing.join(" and ")}.`);
  },

  "create.user-tags-keep-ownership": async (t) => {
    const withTags = t.needs(t.fixture.withTags, "classes with tags");
    const first = t.machine();
    await t.caller.create(first);
    const { tags = {} } = (await vmOf(t, first.name)) ?? {};
    const identities: readonly string[] = [first.name, first.uid, first.namespace];
    const keys = Object.keys(tags).filter((key) => identities.includes(tags[key]?.toLowerCase() ?? ""));
    expect(keys.length > 0, "The VM has no ownership tags.");
    for (const key of keys) {
      const machineClass = withTags({ [key]: "mwc-other" });
      if (machineClass === undefined) continue;
      const machine = t.machine();
      const outcome = await outcomeOf(t.caller.with({ machineClass }).create(machine));
      // A class that the driver rejects sets no tag.
      if (!outcome.ok) continue;
      const found = await outcomeOf(t.caller.status(machine));
      expect(
        found.ok,
        `With the tag ${key} of the class, the VM is not found: ${found.ok ? "" : describeError(found.error)}`,
      );
      const value = (await vmOf(t, machine.name))?.tags?.[key];
      expect(value !== "mwc-other", `A tag of the class replaces the ownership tag ${key}.`);
      await t.caller.remove(machine);
    }
  },

  "create.user-data-is-exact": async (t) => {
    t.needs(t.fixture.inventory, "the VMs of the cloud");
    const largest = t.fixture.maxUserDataBytes;
    const cases: readonly (readonly [string, Uint8Array])[] = [
      ["CRLF and Unicode", Buffer.from("#!/bin/sh\r\necho 'ä🙂'\r\n")],
      ["empty", new Uint8Array(0)],
      ["binary", Uint8Array.from({ length: 256 }, (_, byte) => byte)],
      ...(largest === undefined ? [] : ([["largest", Buffer.alloc(largest, "x")]] as const)),
    ];
    for (const [what, userData] of cases) {
      const machine = t.machine();
      const outcome = await outcomeOf(t.caller.create(machine, { userData }));
      if (!outcome.ok) {
        const isAllowed = what === "binary" || what === "empty";
        expect(
          isAllowed && hasMachineErrorCode(outcome.error, "InvalidArgument"),
          `A creation with ${what} user data fails with ${describeError(outcome.error)}`,
        );
        continue;
      }
      const vm = await vmOf(t, machine.name);
      const delivered = t.needs(vm?.userData, "the user data of VMs");
      expect(Buffer.from(delivered).equals(userData), `The ${what} user data of ${userData.length} bytes is changed.`);
      await t.caller.remove(machine);
    }
    if (largest === undefined) return;
    const machine = t.machine();
    const outcome = await outcomeOf(t.caller.create(machine, { userData: Buffer.alloc(largest + 1, "x") }));
    expect(
      !outcome.ok && hasMachineErrorCode(outcome.error, "InvalidArgument"),
      `A creation with too much user data ${outcome.ok ? "succeeds" : `fails with ${describeError(outcome.error)}`}.`,
    );
  },
} as const satisfies CheckTable;
