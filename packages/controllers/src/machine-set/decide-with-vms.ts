import type { OwnerlessVms } from "../model/vm-census.ts";
import { decideMachineSet } from "./decide.ts";
import type { MachineSetDecision, MachineSetSnapshot } from "./snapshot.ts";

/**
 * Decides about a set whose missing machines may still have VMs. How many VMs have no Machine is looked up only where the decision depends on it: that may cost a list of the cloud.
 *
 * @param ownerless VMs of the class without Machine; that many of them matter
 */
export function decideWithVms(
  snapshot: MachineSetSnapshot,
  ownerless: (count: number) => OwnerlessVms,
  now: Date,
): MachineSetDecision {
  const known = new Map<number, OwnerlessVms>();
  for (;;) {
    const decision = decideMachineSet({ ...snapshot, ownerless: known }, now);
    if (decision.lacksOwnerless === undefined || known.has(decision.lacksOwnerless)) return decision;
    known.set(decision.lacksOwnerless, ownerless(decision.lacksOwnerless));
  }
}
