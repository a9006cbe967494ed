import { isMachineError } from "@millwright/core";
import { rejectionCodes } from "@millwright/core/driver-host";
import { createMachineAborted } from "./abort.ts";
import { type CheckContext, type CheckTable, describeError, expect, outcomeOf } from "./check.ts";
import { expectOneVm } from "./create.ts";
import { errorAnswer } from "./errors.ts";
import { faultDeadlineMs, from, only, removeCompletely, requestsOfCreation, samples } from "./faults.ts";

const mostFaults = 8;

/** Creates the VM with a new instance of the driver. */
async function createAfterRestart(
  t: CheckContext,
  machine: ReturnType<CheckContext["machine"]>,
  when: string,
): Promise<void> {
  const outcome = await outcomeOf(t.caller.with({ driver: await t.newDriver() }).create(machine));
  expect(outcome.ok, `${when}, the next call fails: ${outcome.ok ? "" : describeError(outcome.error)}`);
  await expectOneVm(t, machine, when);
  const found = await t.caller.status(machine);
  expect(found.providerId === outcome.value.providerId, `${when}, getMachineStatus returns ${found.providerId}.`);
  await t.caller.remove({ ...machine, providerId: found.providerId });
}

/** Checks of creations that are interrupted. */
export const createFaultChecks = {
  "create.lost-response": async (t) => {
    const count = await requestsOfCreation(t);
    for (const number of samples(count, mostFaults)) {
      for (const plan of [only(number, { kind: "cut-after" }), from(number, { kind: "cut-after" })]) {
        const { caller, proxy } = await t.behindProxy();
        const machine = t.machine();
        proxy.plan(plan);
        await outcomeOf(caller.create(machine, { deadlineMs: faultDeadlineMs }));
        proxy.plan();
        await createAfterRestart(t, machine, `After a lost response to request ${number + 1} of ${count}`);
      }
    }
  },

  "create.restart-in-between": async (t) => {
    if (t.fixture.endpoint === undefined) {
      for (const afterMs of [0, 1, 5, 20, 50]) {
        const machine = t.machine();
        await createMachineAborted(t, machine, afterMs);
        await createAfterRestart(t, machine, `After an abort at ${afterMs} ms`);
      }
      return;
    }
    const count = await requestsOfCreation(t);
    for (const number of samples(count, mostFaults)) {
      for (const isReceived of [false, true]) {
        const { caller, proxy } = await t.behindProxy();
        const machine = t.machine();
        const stop = new AbortController();
        proxy.plan((index) => {
          if (index !== number) return undefined;
          stop.abort(new Error("the process stops"));
          return isReceived ? undefined : { kind: "hang" };
        });
        await outcomeOf(caller.create(machine, { signal: stop.signal }));
        await proxy.idle();
        proxy.plan();
        await createAfterRestart(t, machine, `After a restart at request ${number + 1} of ${count}`);
      }
    }
  },

  "create.partial-creation-is-deletable": async (t) => {
    const before = new Set(await t.resources());
    const count = await requestsOfCreation(t);
    const failure = (status: number) => ({
      kind: "answer" as const,
      status,
      headers: { "content-type": "application/json" },
      body: "{}",
      ...t.fixture.endpoint?.errorAnswer?.(status),
    });
    for (const number of samples(count, mostFaults)) {
      for (const plan of [only(number, failure(400)), from(number, failure(500))]) {
        const { caller, proxy } = await t.behindProxy();
        const machine = t.machine();
        proxy.plan(plan);
        await outcomeOf(caller.create(machine, { deadlineMs: faultDeadlineMs }));
        proxy.plan();
        await removeCompletely(t, machine, t.caller.with({ driver: await t.newDriver() }));
        await t.eventually(async () => {
          const left = (await t.resources()).filter((id) => !before.has(id));
          return left.length === 0
            ? undefined
            : `After a failure of request ${number + 1} of ${count} and a deletion, ${left.join(", ")} exists.`;
        });
      }
    }
  },

  "create.rejection-means-no-vm": async (t) => {
    const count = await requestsOfCreation(t);
    for (const number of samples(count, mostFaults)) {
      const { caller, proxy } = await t.behindProxy();
      const machine = t.machine();
      proxy.plan(from(number, errorAnswer(t, 403)));
      const outcome = await outcomeOf(caller.create(machine, { deadlineMs: faultDeadlineMs }));
      proxy.plan();
      const error = outcome.ok ? undefined : outcome.error;
      if (isMachineError(error) && (error.tokenIsSpent === true || rejectionCodes.has(error.code))) {
        const left = await t.vmsOf(machine);
        const when = `If the requests from number ${number + 1} of ${count} are rejected`;
        expect(left.length === 0, `${when}, createMachine fails with ${error.code}, and VM ${left.join(", ")} exists.`);
      }
      await removeCompletely(t, machine);
    }
  },
} as const satisfies CheckTable;
