import { type Random, seededRandom } from "@millwright/base";
import { hasMachineErrorCode, type MachineIdentity } from "@millwright/core";
import { htmlPage, type ProxyFault } from "../proxy/fault.ts";
import type { FaultPlan } from "../proxy/fault-proxy.ts";
import type { CallOptions } from "../session/call-runner.ts";
import type { Caller } from "../session/caller.ts";
import { abortAfter } from "./abort.ts";
import { type CheckContext, type CheckTable, describeError, expect, expectFailure, outcomeOf } from "./check.ts";
import { expectOneVm } from "./create.ts";
import { errorAnswer } from "./errors.ts";
import { removeCompletely } from "./faults.ts";

/** Attempts of one call that may meet faults; the next ones reach the cloud directly. */
const faultyAttempts = 8;
const directAttempts = 5;
/** Looks at each VM while requests fail. */
const looks = 4;
/** Deadline of calls that may meet faults, milliseconds: the cloud never answers some requests. */
const deadlineMs = 2_000;
const longestAbortMs = 200;
const shares = { fault: 0.25, abort: 0.2, restart: 0.1 };

const choose = <T>(random: Random, values: readonly [T, ...T[]]): T =>
  values[Math.floor(random.next() * values.length)] ?? values[0];

/** Faults at random: connections, and answers of proxies and of the cloud itself. */
function randomPlan(t: CheckContext, random: Random): FaultPlan {
  return (_, request) => {
    if (random.next() >= shares.fault) return undefined;
    const connection = choose<ProxyFault>(random, [
      { kind: "cut-before" },
      { kind: "cut-after" },
      { kind: "truncate" },
    ]);
    if (t.fixture.endpoint?.isApiRequest?.(request) === false) return connection;
    return choose<ProxyFault>(random, [
      connection,
      connection,
      { kind: "hang" },
      htmlPage(502),
      htmlPage(404),
      errorAnswer(t, 401),
      errorAnswer(t, 429, { "retry-after": "1" }),
      errorAnswer(t, 500),
      errorAnswer(t, 503),
    ]);
  };
}

/** Calls of instances of the driver that are replaced at random, and aborted at random. */
function createUnreliable(t: CheckContext, random: Random) {
  let current: Promise<Caller> | undefined;
  const start = async (): Promise<Caller> => {
    const { caller, proxy } = await t.behindProxy();
    proxy.plan(randomPlan(t, random));
    return caller;
  };
  return async <T>(call: (caller: Caller, options: CallOptions) => Promise<T>) => {
    if (random.next() < shares.restart) current = undefined;
    current ??= start();
    const aborts = random.next() < shares.abort;
    const afterMs = Math.floor(random.next() * longestAbortMs);
    const options = { deadlineMs, ...(aborts ? { signal: abortAfter(t, afterMs) } : {}) };
    return outcomeOf(call(await current, options));
  };
}

type Unreliable = ReturnType<typeof createUnreliable>;

/** Repeats a call as the controllers do: first while requests fail, then directly. Returns its first result. */
async function untilDone<T extends object>(
  t: CheckContext,
  unreliable: Unreliable,
  what: string,
  call: (caller: Caller, options: CallOptions) => Promise<T>,
): Promise<T> {
  let last: unknown;
  for (let attempt = 0; attempt < faultyAttempts + directAttempts; attempt++) {
    const outcome = attempt < faultyAttempts ? await unreliable(call) : await outcomeOf(call(t.caller, {}));
    if (outcome.ok && !("pending" in outcome.value)) return outcome.value;
    last = outcome.ok ? "pending" : outcome.error;
  }
  expect(false, `${what} does not succeed after the faults: ${describeError(last)}`);
  throw last;
}

/** Fails if an existing VM is reported as missing while requests fail: its machine would be created again, or counted as deleted. */
async function expectSeen(
  { caller: { target } }: CheckContext,
  unreliable: Unreliable,
  vms: ReadonlyMap<MachineIdentity, string>,
): Promise<void> {
  for (const [machine, providerId] of vms) {
    for (let look = 0; look < looks; look++) {
      const seen = await unreliable((caller, options) => caller.status(machine, options));
      if (seen.ok)
        expect(seen.value.providerId === providerId, `The VM ${providerId} becomes ${seen.value.providerId}.`);
      else
        expect(
          !hasMachineErrorCode(seen.error, "NotFound"),
          `While requests fail, the VM ${providerId} is reported as missing: ${describeError(seen.error)}`,
        );
    }
  }
  if (target.driver.listMachines === undefined) return;
  for (let look = 0; look < looks; look++) {
    const listed = await unreliable((caller, options) => caller.list(options));
    if (!listed.ok) continue;
    const ids = new Set(listed.value.map((vm) => vm.providerId));
    for (const id of vms.values()) expect(ids.has(id), `While requests fail, a list succeeds without the VM ${id}.`);
  }
}

/** The check of many calls with many faults. */
export const randomFaultChecks = {
  "load.random-faults": async (t) => {
    const { random: ofRun, profile } = t.session;
    // The same faults in each offline run, as far as the calls are the same; others in a soak.
    const seed = profile.anyNames ? 1 : Math.floor(ofRun.next() * 2 ** 32);
    const unreliable = createUnreliable(t, seededRandom(seed));
    const before = t.fixture.resources === undefined ? undefined : new Set(await t.resources());
    const machines = Array.from({ length: profile.faultMachines }, () => t.machine());
    const vms = new Map<MachineIdentity, string>();
    await Promise.all(
      machines.map(async (machine) => {
        const what = `The creation of ${machine.name}`;
        const made = await untilDone(t, unreliable, what, (caller, options) => caller.createOnce(machine, options));
        if ("providerId" in made) vms.set(machine, made.providerId);
      }),
    );
    for (const [machine, providerId] of vms) {
      await expectOneVm(t, machine, "After repeated creations with faults");
      const found = await t.caller.status(machine);
      expect(found.providerId === providerId, `createMachine returned ${providerId}; the VM is ${found.providerId}.`);
    }
    await expectSeen(t, unreliable, vms);
    // One after another, so that a seed leads to the same faults.
    const unreliableEnd = createUnreliable(t, seededRandom(seed + 1));
    for (const [index, machine] of machines.entries()) {
      const providerId = vms.get(machine);
      // The provider id of some was never stored.
      const known = index % 2 === 0 && providerId !== undefined ? { ...machine, providerId } : machine;
      const what = `The deletion of ${machine.name}`;
      await untilDone(t, unreliableEnd, what, (caller, options) => caller.removeOnce(known, options));
      await t.eventually(async () => {
        const left = await t.vmsOf(machine);
        return left.length === 0
          ? undefined
          : `After its deletion succeeded, the VM ${left.join(", ")} exists (seed ${seed}).`;
      });
      await expectFailure("getMachineStatus after the deletion", t.caller.status(machine), "NotFound");
      await removeCompletely(t, machine);
    }
    if (before === undefined) return;
    await t.eventually(async () => {
      const left = (await t.resources()).filter((id) => !before.has(id));
      return left.length === 0 ? undefined : `After all deletions, ${left.join(", ")} exists (seed ${seed}).`;
    });
  },
} as const satisfies CheckTable;
