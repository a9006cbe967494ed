import type { MachineErrorCode, MachineIdentity } from "@millwright/core";
import type { ProxyFault } from "../proxy/fault.ts";
import type { FaultPlan, FaultProxy } from "../proxy/fault-proxy.ts";
import type { Caller } from "../session/caller.ts";
import type { CheckContext } from "./check.ts";

/** Deadline of calls that cannot succeed, milliseconds: long enough for the attempts of one call. */
export const faultDeadlineMs = 10_000;

/** Codes of calls whose outcome is open: the controller repeats them. */
export const openCodes: readonly MachineErrorCode[] = ["Unavailable", "DeadlineExceeded", "Unknown", "Aborted"];

/** The same fault for all requests from a number on. */
export const from =
  (first: number, fault: ProxyFault): FaultPlan =>
  (index) =>
    index >= first ? fault : undefined;

/** A fault for one request. */
export const only =
  (number: number, fault: ProxyFault): FaultPlan =>
  (index) =>
    index === number ? fault : undefined;

/** The number of requests that an action of a new instance of the driver sends. */
export async function requestsOf(
  t: CheckContext,
  act: (caller: Caller, proxy: FaultProxy) => Promise<unknown>,
): Promise<number> {
  const { caller, proxy } = await t.behindProxy();
  await act(caller, proxy);
  return proxy.requests.length;
}

/** The number of requests of a creation. */
export async function requestsOfCreation(t: CheckContext): Promise<number> {
  const machine = t.machine();
  const count = await requestsOf(t, (caller) => caller.create(machine));
  await t.caller.remove(machine);
  return count;
}

/** At most `most` numbers below `count`: the first, the last, and some between. */
export function samples(count: number, most: number): readonly number[] {
  if (count <= most) return Array.from({ length: count }, (_, index) => index);
  const picked = Array.from({ length: most }, (_, index) => Math.round((index * (count - 1)) / (most - 1)));
  return [...new Set(picked)];
}

/** Deletes the VM of a machine as the controller does: again while a VM may not be visible yet. */
export async function removeCompletely(t: CheckContext, machine: MachineIdentity, caller = t.caller): Promise<void> {
  await t.eventually(async () => {
    const { vm } = await caller.remove(machine);
    const left = await t.vmsOf(machine);
    if (left.length === 0) return undefined;
    return `After a deletion${vm === undefined ? "" : ` with vm: "${vm}"`} the VM ${left.join(", ")} exists.`;
  });
}
