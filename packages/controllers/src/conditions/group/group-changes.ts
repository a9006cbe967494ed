import { msUntilIssuesChange } from "../machine/machine-conditions.ts";
import type { JudgedMachine } from "./judged-machine.ts";
import { untilCounted } from "./machines-up-to-date.ts";

const SECOND = 1000;

/**
 * Milliseconds until time alone changes the conditions of a set or deployment; `undefined` when only a change of an object can.
 * Rounded up to a whole second, so that machines of the same age cause one reconcile together.
 */
export function untilGroupChanges(machines: readonly JudgedMachine[], now: Date): number | undefined {
  const times = machines
    .flatMap((machine) => [untilCounted(machine, now), msUntilIssuesChange(machine.facts, now) ?? 0])
    .filter((ms) => ms > 0);
  if (times.length === 0) return undefined;
  const time = now.getTime() + times.reduce((a, b) => Math.min(a, b));
  return Math.ceil(time / SECOND) * SECOND - now.getTime();
}
