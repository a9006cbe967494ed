import type { Machine } from "@millwright/core/machine-api";
import type { ControlCaches } from "../cluster/caches.ts";
import { isProtected } from "../model/deletion-protection.ts";
import { markedStage } from "../model/phase.ts";
import type { FleetLedger, LedgerSet, SetLedger } from "./fleet-ledger.ts";
import type { OwnerReader } from "./owners.ts";
import { roomOfPace } from "./pace.ts";

/** Machines of sets, one by one: read only where an approval is there. */
export interface RequestedMachines {
  /** Whether a machine in service is terminating, and its deletion has not begun. */
  isRequested(machine: Machine): boolean;
  /** Such machines of a set. */
  terminatingIn(set: LedgerSet): readonly Machine[];
  /** Machines in service of a set that are to be deleted: all, when it is deleted. */
  requestedIn(set: SetLedger): readonly Machine[];
  /** When the last deletion of them was requested, RFC 3339. */
  lastRequestIn(sets: readonly SetLedger[]): string | undefined;
  /** How many more deletions of machines of these sets may begin. */
  roomOf(sets: readonly SetLedger[], atATime: number | undefined): number;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Makes a reader of the machines whose deletion is requested. */
export function createRequestedMachines(
  owners: Pick<OwnerReader, "isLeaving" | "setOf">,
  machines: ControlCaches["machines"],
  ledger: Pick<FleetLedger, "counted" | "isEntered">,
): RequestedMachines {
  const machinesOf = ({ setUid }: LedgerSet): readonly Machine[] => machines.store.byIndex("owner", setUid);
  const isInService = ({ metadata: { uid = "" } }: Machine): boolean => ledger.counted.has(uid);
  const isRequested = (machine: Machine): boolean =>
    machine.metadata.deletionTimestamp != null && isInService(machine) && !isProtected(machine);
  const isInDeletion = (machine: Machine): boolean =>
    ledger.isEntered(machine.metadata.uid ?? "") ||
    (machine.metadata.deletionTimestamp != null && markedStage({ machine }) !== undefined);
  const terminatingIn = (set: LedgerSet): readonly Machine[] => machinesOf(set).filter(isRequested);
  return {
    isRequested,
    terminatingIn,
    requestedIn: (set) => (owners.isLeaving(set) ? machinesOf(set).filter(isInService) : terminatingIn(set)),
    lastRequestIn: (sets) =>
      sets
        .flatMap(terminatingIn)
        .map(({ metadata }) => metadata.deletionTimestamp ?? "")
        .toSorted()
        .at(-1),
    roomOf(sets, atATime) {
      if (atATime === undefined) return Infinity;
      const staying = sets.filter((set) => !owners.isLeaving(set));
      return roomOfPace(atATime, {
        inDeletion: sum(sets.map((set) => machinesOf(set).filter(isInDeletion).length)),
        inService: sum(sets.map(({ inService }) => inService)),
        desired: sum(staying.map((set) => owners.setOf(set)?.spec.replicas ?? 0)),
      });
    },
  };
}
