import type { Machine, MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import type { BoundApproval } from "../model/approval.ts";
import { approvalOf, approvesItself } from "./approval.ts";
import { type LedgerSet, type SetLedger, setOfMachine } from "./fleet-ledger.ts";
import type { OwnerReader } from "./owners.ts";
import type { RequestedMachines } from "./requested-machines.ts";

/** A pace, and the object that has it. */
export interface ApprovedPace {
  readonly atATime: number;
  readonly by: { readonly kind: "MachineDeployment" | "MachineSet"; readonly name: string };
}

/** The approval of a machine that another client deletes. */
export interface RequestApproval {
  /** The pace for which it has to wait. Absent: it may begin. */
  readonly waitsFor?: ApprovedPace;
}

/** What approvals of owners and Machines cover of the deletions that other clients request. */
export interface RequestApprovals {
  /** Of a terminating machine; `undefined`: no approval covers it. */
  of(machine: Machine): RequestApproval | undefined;
  /** Machines in service of a set that are to be deleted, and that no approval of an owner covers. */
  uncoveredIn(set: SetLedger): number;
  /** Machines of a set, and of those beside it, that are approved and wait for others. */
  waitingIn(set: LedgerSet): (ApprovedPace & { readonly count: number }) | undefined;
}

/** An object that approves, with the sets of its machines. */
interface ApprovingOwner {
  readonly by: ApprovedPace["by"];
  readonly object: MachineDeployment | MachineSet;
  members(): readonly SetLedger[];
}

/** What an owner approves. */
interface Cover {
  readonly owner: ApprovingOwner;
  readonly atATime?: number | undefined;
  covers(machine: Machine): boolean;
}

const everything = (): boolean => true;

/** The objects that may approve the deletion of a set's machines, the widest first. */
function approversOf(set: LedgerSet, owners: OwnerReader): readonly ApprovingOwner[] {
  const { set: own, deployment } = owners.approversOf(set);
  const members = (): readonly SetLedger[] => owners.siblingsOf(set.setUid);
  const ofDeployment = (object: MachineDeployment): ApprovingOwner => ({
    by: { kind: "MachineDeployment", name: object.metadata.name },
    object,
    members,
  });
  const ofSet = (object: MachineSet): ApprovingOwner => ({
    by: { kind: "MachineSet", name: object.metadata.name },
    object,
    members: () => members().filter(({ setUid }) => setUid === set.setUid),
  });
  return [...(deployment === undefined ? [] : [ofDeployment(deployment)]), ...(own === undefined ? [] : [ofSet(own)])];
}

/** The machines of a bound approval, if there are no more of them than it approves. */
function boundCover(
  { object, members }: ApprovingOwner,
  { before, generation, count }: BoundApproval,
  requested: RequestedMachines,
): Cover["covers"] | undefined {
  if (before !== undefined) {
    const latest = Date.parse(before);
    const covers = ({ metadata }: Machine): boolean => Date.parse(metadata.deletionTimestamp ?? "") <= latest;
    return members().flatMap(requested.terminatingIn).filter(covers).length > count ? undefined : covers;
  }
  // Of an object that is deleted with its machines. Without a generation it is that of a Machine.
  const isLeaving = generation !== undefined && object.metadata.deletionTimestamp !== undefined;
  return isLeaving && members().flatMap(requested.requestedIn).length <= count ? everything : undefined;
}

/** Makes a reader of approvals. */
export function createRequestApprovals(
  owners: OwnerReader,
  requested: RequestedMachines,
  clock: { now(): Date },
): RequestApprovals {
  const coverOf = (owner: ApprovingOwner): Cover | undefined => {
    const approval = approvalOf(owner.object, clock.now());
    if (approval.state === "approved") return { owner, covers: everything };
    if (approval.state !== "bound" || approval.bound.work !== "requests") return undefined;
    const covers = boundCover(owner, approval.bound, requested);
    return covers && { owner, covers, atATime: approval.bound.atATime };
  };
  const coversOf = (set: LedgerSet): readonly Cover[] =>
    set.setUid === "" ? [] : approversOf(set, owners).flatMap((owner) => coverOf(owner) ?? []);

  return {
    of(machine) {
      if (approvesItself(machine, clock.now())) return {};
      const cover = coversOf(setOfMachine(machine)).find((each) => each.covers(machine));
      if (cover === undefined) return undefined;
      const { owner, atATime } = cover;
      // What does not serve is not missed.
      if (atATime === undefined || !requested.isRequested(machine)) return {};
      return requested.roomOf(owner.members(), atATime) > 0 ? {} : { waitsFor: { atATime, by: owner.by } };
    },
    uncoveredIn(set) {
      const count = owners.isLeaving(set) ? set.inService : set.terminating;
      const covers = count === 0 ? [] : coversOf(set);
      if (covers.length === 0) return count;
      return requested.requestedIn(set).filter((machine) => !covers.some((each) => each.covers(machine))).length;
    },
    waitingIn(set) {
      const cover = coversOf(set).find(({ atATime }) => atATime !== undefined);
      if (cover?.atATime === undefined) return undefined;
      const { owner, atATime, covers } = cover;
      const count = owner.members().flatMap(requested.requestedIn).filter(covers).length;
      return count === 0 ? undefined : { count, atATime, by: owner.by };
    },
  };
}
