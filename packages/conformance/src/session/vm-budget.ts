import type { MachineIdentity } from "@millwright/core";
import { skipped } from "./outcome.ts";
import type { Profile } from "./profile.ts";

/** Bounds what a run may cost. */
export interface VmBudget {
  /**
   * Counts a machine for which a VM is requested next.
   *
   * @param existing UIDs of machines that may have a VM; a repeated request for one of them is free
   * @throws CheckEnd that skips the check, if the run may have no further VM
   */
  request(machine: MachineIdentity, existing: ReadonlySet<string>): void;
}

/** Creates the budget of one run. */
export function createVmBudget({ maxVms, maxCreations }: Pick<Profile, "maxVms" | "maxCreations">): VmBudget {
  let creations = 0;
  return {
    request({ uid }, existing) {
      if (existing.has(uid)) return;
      if (existing.size >= maxVms) throw skipped(`It needs more than ${maxVms} VMs at once.`);
      if (creations >= maxCreations) throw skipped(`The run has created ${creations} VMs, and may create no more.`);
      creations++;
    },
  };
}
