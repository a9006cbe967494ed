import { annotationKeys, type Machine, type MachineDeployment, type MachineSet } from "@millwright/core/machine-api";
import type { ControlCaches } from "../cluster/caches.ts";
import { parseApproval } from "../model/approval.ts";
import { isInService, setOfMachine } from "./fleet-ledger.ts";
import type { OwnerReader } from "./owners.ts";

type Owner = MachineDeployment | MachineSet | undefined;

const valueOf = (object: Owner): string | undefined => object?.metadata.annotations?.[annotationKeys.approveDeletions];

const isPaced = (object: Owner): boolean => parseApproval(valueOf(object) ?? "")?.atATime !== undefined;

/** Reports terminating machines whose verdict may have changed: an approval came or ended, or one with a pace has room for the next. */
export function followApprovals(
  { machines, sets, deployments }: Pick<ControlCaches, "machines" | "sets" | "deployments">,
  owners: OwnerReader,
  report: (machine: Machine) => void,
): void {
  const reportSet = (uid: string): void => {
    for (const machine of machines.store.byIndex("owner", uid))
      if (machine.metadata.deletionTimestamp !== undefined) report(machine);
  };
  const isChanged = (old: Owner, current: Owner): boolean =>
    old !== undefined && current !== undefined && valueOf(old) !== valueOf(current);
  sets.store.subscribe((old, current) => {
    if (isChanged(old, current)) reportSet(current?.metadata.uid ?? "");
  });
  deployments.store.subscribe((old, current) => {
    if (!isChanged(old, current)) return;
    for (const set of sets.store.byIndex("owner", current?.metadata.uid ?? "")) reportSet(set.metadata.uid ?? "");
  });
  machines.store.subscribe((old, current) => {
    const machine = current ?? old;
    const hasArrived = current !== undefined && isInService(current) && (old === undefined || !isInService(old));
    if (machine === undefined || (current !== undefined && !hasArrived)) return;
    const set = setOfMachine(machine);
    if (isPaced(owners.deploymentOf(set.setUid)))
      for (const { setUid } of owners.siblingsOf(set.setUid)) reportSet(setUid);
    else if (isPaced(owners.setOf(set))) reportSet(set.setUid);
  });
}
