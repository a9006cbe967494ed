import type { MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import type { ApprovedWork } from "../model/deletion-budget.ts";
import { approvalOf } from "./approval.ts";
import type { SetLedger } from "./fleet-ledger.ts";
import type { OwnerReader } from "./owners.ts";
import type { RequestedMachines } from "./requested-machines.ts";

/** What an approval of a set, or of its deployment, depends on. */
export interface SetApprovalSources {
  readonly owners: Pick<OwnerReader, "siblingsOf">;
  readonly requested: Pick<RequestedMachines, "roomOf">;
  readonly usedOf: (object: MachineDeployment | MachineSet) => number;
}

/** What set and deployment approve of the work of the set; the deployment comes first. */
export function approvedWorkOf(
  set: MachineSet,
  deployment: MachineDeployment | undefined,
  { owners, requested, usedOf }: SetApprovalSources,
  now: Date,
): ApprovedWork | undefined {
  const { uid = "" } = set.metadata;
  const approvedBy = (
    kind: ApprovedWork["kind"],
    by: MachineDeployment | MachineSet,
    members: () => readonly SetLedger[],
  ): ApprovedWork | undefined => {
    const used = usedOf(by);
    const approval = approvalOf(by, now, used);
    if (approval.state !== "bound" || approval.bound.work === "requests") return undefined;
    const { work, count, atATime } = approval.bound;
    // A creation needs no pace: it takes nothing away.
    const room = work === "creations" ? Infinity : requested.roomOf(members(), atATime);
    return { by, kind, work, left: count - used, room, atATime, used };
  };
  const siblings = (): readonly SetLedger[] => owners.siblingsOf(uid);
  return (
    (deployment === undefined ? undefined : approvedBy("MachineDeployment", deployment, siblings)) ??
    approvedBy("MachineSet", set, () => siblings().filter(({ setUid }) => setUid === uid))
  );
}
