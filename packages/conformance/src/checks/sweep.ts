import { runStartOf } from "../session/run-id.ts";
import type { Session } from "../session/session.ts";
import { outcomeOf } from "./check.ts";

/** What a sweep found. */
export interface Sweep {
  /** Provider ids of VMs that were deleted. */
  readonly deleted: readonly string[];
  /** Those that could not be. */
  readonly failed: readonly string[];
}

/**
 * Deletes VMs of runs that started before `untilMs` (milliseconds since 1970), by the names in the driver's own list. Younger runs may still be in progress. Does nothing for
 * drivers without `listMachines`.
 */
export async function sweepLeftovers({ caller }: Session, untilMs: number): Promise<Sweep> {
  if (caller.target.driver.listMachines === undefined) return { deleted: [], failed: [] };
  const deleted: string[] = [];
  const failed: string[] = [];
  for (const { machineName, providerId, machineUid, machineNamespace } of await caller.list()) {
    const startedMs = runStartOf(machineName);
    if (startedMs === undefined || startedMs >= untilMs) continue;
    const machine = {
      name: machineName,
      namespace: machineNamespace ?? "conformance",
      uid: machineUid ?? "",
      providerId,
    };
    const outcome = await outcomeOf(caller.remove(machine));
    (outcome.ok ? deleted : failed).push(providerId);
  }
  return { deleted, failed };
}
