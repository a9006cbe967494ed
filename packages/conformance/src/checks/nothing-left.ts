import type { CheckContext, CheckTable } from "./check.ts";
import { expect } from "./check.ts";

/** What a run left: names of VMs, and ids of resources. */
export async function leftovers({
  session,
  fixture,
}: Pick<CheckContext, "session" | "fixture">): Promise<readonly string[]> {
  const { namePrefix, resourcesBefore, caller } = session;
  const left = new Set<string>();
  if (fixture.resources !== undefined && resourcesBefore !== undefined) {
    for (const id of await fixture.resources()) if (!resourcesBefore.includes(id)) left.add(id);
  }
  if (fixture.inventory !== undefined) {
    for (const { machineName, id } of await fixture.inventory()) if (machineName.startsWith(namePrefix)) left.add(id);
  }
  if (caller.target.driver.listMachines !== undefined) {
    for (const { machineName, providerId } of await caller.list())
      if (machineName.startsWith(namePrefix)) left.add(providerId);
  }
  return [...left];
}

/** The check of the end of a run. */
export const endChecks = {
  "run.nothing-left": async (t) => {
    let left: readonly string[] = [];
    await t.eventually(async () => {
      left = await leftovers(t);
      return left.length === 0 ? undefined : `At the end of the run, the cloud has ${left.join(", ")}.`;
    });
    const found = t.session.violations.of("run.nothing-left");
    expect(found.length === 0, found.join(" "));
  },
} as const satisfies CheckTable;
