import type { ListedMachine } from "@millwright/core";
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

/** Deletes the VMs in the driver's own lists whose machine name fits: of the class, and of the other cluster of the fixture. */
async function sweep({ caller, fixture }: Session, fits: (name: string) => boolean): Promise<Sweep> {
  const deleted: string[] = [];
  const failed: string[] = [];
  if (caller.target.driver.listMachines === undefined) return { deleted, failed };
  const { otherClusterClass: other } = fixture;
  const callers = other === undefined ? [caller] : [caller, caller.with({ machineClass: other })];
  for (const each of callers) {
    const listed = await each.list();
    for (const vm of listed.filter(({ machineName }) => fits(machineName))) {
      const outcome = await outcomeOf(each.remove(machineOf(vm)));
      (outcome.ok ? deleted : failed).push(vm.providerId);
    }
  }
  return { deleted, failed };
}

const machineOf = ({ machineName, providerId, machineUid, machineNamespace }: ListedMachine) => ({
  name: machineName,
  namespace: machineNamespace ?? "conformance",
  uid: machineUid ?? "",
  providerId,
});

/**
 * Deletes VMs of runs that started before `untilMs` (milliseconds since 1970), by the names in the driver's own list. Younger runs may still be in progress. Does nothing for
 * drivers without `listMachines`.
 */
export const sweepLeftovers = (session: Session, untilMs: number): Promise<Sweep> =>
  sweep(session, (name) => (runStartOf(name) ?? untilMs) < untilMs);

/** Deletes what runs left that were killed, in profiles of real clouds. */
export async function sweepEarlier(session: Session): Promise<void> {
  const { sweepAfterMs } = session.profile;
  if (sweepAfterMs !== undefined) await sweepLeftovers(session, session.clock.now().getTime() - sweepAfterMs);
}

/** Deletes what is left of this run, in profiles of real clouds. Its report was made before, and names it. */
export async function sweepOwn(session: Session): Promise<Sweep> {
  if (session.profile.sweepAfterMs === undefined) return { deleted: [], failed: [] };
  return sweep(
    session,
    (name) => name.startsWith(`${session.namePrefix}-`) || name.startsWith(`${session.namePrefix}.`),
  );
}
