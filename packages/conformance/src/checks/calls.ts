import { isRecord } from "@millwright/base";
import { htmlPage } from "../proxy/fault.ts";
import type { RuleId } from "../rules/registry.ts";
import type { Caller } from "../session/caller.ts";
import { type CheckContext, type CheckTable, describeError, expect, expectFailure, outcomeOf } from "./check.ts";
import { abortAfter } from "./abort.ts";
import { faultDeadlineMs, openCodes } from "./faults.ts";

/** A method that reads or changes the cloud, as a call of a machine that has a VM or not. */
export interface MethodCall {
  readonly name: string;
  readonly call: (
    caller: Caller,
    options: { readonly signal?: AbortSignal; readonly deadlineMs?: number },
  ) => Promise<unknown>;
}

/** Calls that need the cloud. Each call has its own machine, without VM, and is not repeated if it is pending. */
export function methodCalls(t: CheckContext): readonly MethodCall[] {
  const { driver } = t.caller.target;
  return [
    { name: "createMachine", call: (caller, options) => caller.createOnce(t.machine(), options) },
    { name: "getMachineStatus", call: (caller, options) => caller.status(t.machine(), options) },
    { name: "deleteMachine", call: (caller, options) => caller.removeOnce(t.machine(), options) },
    ...(driver.listMachines === undefined
      ? []
      : [{ name: "listMachines", call: (caller: Caller, options: object) => caller.list(options) }]),
  ];
}

/** Whether a call ended without a result: it failed, or is pending. */
const isOpen = (outcome: Awaited<ReturnType<typeof outcomeOf>>): boolean =>
  !outcome.ok || (isRecord(outcome.value) && isRecord(outcome.value["pending"]));

/** Calls each method once, and lets escaped errors arrive. */
async function exercise(t: CheckContext): Promise<void> {
  const machine = t.machine();
  const { providerId } = await t.caller.create(machine);
  const known = { ...machine, providerId };
  await t.caller.status(known);
  if (t.caller.target.driver.initializeMachine !== undefined) await t.caller.initialize(known);
  if (t.caller.target.driver.listMachines !== undefined) await t.caller.list();
  await t.caller.remove(known);
  await outcomeOf(t.caller.status(known));
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Fails if a rule of all calls was violated at any time. */
const expectNoViolation = async (t: CheckContext, rule: RuleId): Promise<void> => {
  await exercise(t);
  const found = t.session.violations.of(rule);
  expect(found.length === 0, found.join(" "));
};

const deadlineMs = 200;
const slowDeletionMs = 300;

/** Checks of what holds for every call. */
export const callChecks = {
  "calls.cancellation": async (t) => {
    for (const { name, call } of methodCalls(t)) {
      const aborted = AbortSignal.abort(new Error("the process stops"));
      await outcomeOf(call(t.caller, { signal: aborted }));
      await outcomeOf(call(t.caller, { signal: abortAfter(t, 1) }));
      if (t.fixture.endpoint === undefined) continue;
      const { caller, proxy } = await t.behindProxy();
      proxy.plan(() => ({ kind: "hang" }));
      const outcome = await outcomeOf(call(caller, { signal: abortAfter(t, 50) }));
      expect(isOpen(outcome), `${name} succeeds although the cloud does not answer.`);
    }
    const stage = t.fixture.stage?.slowDeletion;
    if (stage !== undefined) {
      const machine = t.machine();
      const { providerId } = await t.caller.create(machine);
      const { end } = await stage();
      t.atEnd(end);
      await outcomeOf(t.caller.remove({ ...machine, providerId }, { signal: abortAfter(t, slowDeletionMs) }));
      await end();
    }
    const machine = t.machine();
    await outcomeOf(t.caller.create(machine, { signal: abortAfter(t, 2) }));
    await t.caller.create(machine);
    const vms = await t.vmsOf(machine);
    expect(vms.length === 1, `After an aborted creation and another one, the machine has ${vms.length} VMs.`);
  },

  "calls.deadline": async (t) => {
    for (const { name, call } of methodCalls(t)) {
      const { caller, proxy } = await t.behindProxy();
      proxy.plan(() => ({ kind: "hang" }));
      const what = `${name} of a cloud that does not answer`;
      const outcome = await outcomeOf(call(caller, { deadlineMs }));
      // A driver may note at its deadline that the controllers call again.
      if (outcome.ok) expect(isOpen(outcome), `${what} succeeds.`);
      else await expectFailure(what, Promise.reject(outcome.error), ...openCodes);
    }
  },

  "calls.settle-once": (t) => expectNoViolation(t, "calls.settle-once"),
  "calls.no-stray-errors": (t) => expectNoViolation(t, "calls.no-stray-errors"),
  "calls.replies-are-valid": (t) => expectNoViolation(t, "calls.replies-are-valid"),
  "errors.are-machine-errors": (t) => expectNoViolation(t, "errors.are-machine-errors"),

  "errors.message-is-stable": async (t) => {
    const machine = t.machine();
    const messageOf = async (caller: Caller): Promise<string> => {
      const outcome = await outcomeOf(caller.status(machine, { deadlineMs: faultDeadlineMs }));
      return outcome.ok ? "" : describeError(outcome.error);
    };
    const messages = [await messageOf(t.caller), await messageOf(t.caller)];
    expect(messages[0] === messages[1], `Two equal failures have the messages "${messages.join('" and "')}".`);
    if (t.fixture.endpoint === undefined) return;
    const failures: string[] = [];
    for (let round = 0; round < 2; round++) {
      const { caller, proxy } = await t.behindProxy();
      proxy.plan(() => htmlPage(502));
      failures.push(await messageOf(caller));
    }
    expect(failures[0] === failures[1], `Two equal failures have the messages "${failures.join('" and "')}".`);
  },

  "secrets.never-printed": async (t) => {
    const machine = t.machine();
    await t.caller.create(machine);
    const vms = (await t.fixture.inventory?.()) ?? [];
    for (const { tags = {}, id } of vms) {
      const found = t.session.findSecrets(tags);
      expect(found.length === 0, `The tags of VM ${id} contain the value of "${found.join('", "')}".`);
    }
    await t.caller.remove(machine);
    await expectNoViolation(t, "secrets.never-printed");
  },
} as const satisfies CheckTable;
