import type { Clock } from "@millwright/base";
import { deletionsHeldConditionType, type Machine, type MachineSet } from "@millwright/core/machine-api";
import { isConditionTrue } from "@millwright/kube";
import type { BudgetVerdict, DeletionCause, HeldDeletions } from "../model/deletion-budget.ts";
import { markedStage } from "../model/phase.ts";
import { hasId } from "../model/provisioning.ts";
import { type ClassRates, classNameOf } from "./class-rates.ts";
import { type FleetLedger, type LedgerSet, setOfMachine } from "./fleet-ledger.ts";
import { isSingle, isSmall, judgeRequests, type Requests, untilComplete } from "./judge-requests.ts";
import { isShared } from "./judge-share.ts";
import type { OwnerReader } from "./owners.ts";
import type { ApprovedPace, RequestApprovals } from "./request-approvals.ts";
import type { RequestedMachines } from "./requested-machines.ts";
import type { RequestReader } from "./requested-deletions.ts";

/** Judges deletions that other clients request: of Machines, of their owners, of the Namespace. */
export interface RequestJudge {
  /** `undefined` when the deletion was allowed before, or has begun. */
  ofMachine(machine: Machine): BudgetVerdict | undefined;
  /** Deletions of a set's machines that are held, for its condition. While more may follow, the condition stays as it is. */
  ofSet(set: MachineSet, requests: Requests): HeldDeletions | undefined;
  /** One Machine was deleted that no approval covers. */
  noteSingle(): void;
}

/** What a judge reads. */
export interface JudgeSources {
  readonly ledger: FleetLedger;
  readonly owners: OwnerReader;
  readonly approvals: RequestApprovals;
  readonly requested: Pick<RequestedMachines, "lastRequestIn">;
  readonly requests: RequestReader;
  readonly rates: ClassRates;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** 0 to 1; 0: of pools without a share of their own, only the rate limits deletions. */
  readonly share: () => number;
}

/** The hold of an approved deletion that waits for others. */
const heldByPace = ({ by, atATime }: ApprovedPace, cause: DeletionCause, count: number): HeldDeletions => ({
  why: "pace",
  cause,
  count,
  scope: by,
  limit: atATime,
  total: atATime,
  loss: 0,
});

/** Makes a judge. It remembers only since when deletions wait, and when the last single one was allowed. */
export function createRequestJudge(sources: JudgeSources): RequestJudge {
  const { ledger, owners, approvals, requested, requests, rates, clock, share } = sources;
  let waitsSinceMs: number | undefined;
  let lastSingleMs = Number.NEGATIVE_INFINITY;

  const waitFor = (found: Requests): number => {
    const nowMs = clock.monotonicMs();
    const lastMs = Math.max(ledger.lastRequestMs, owners.lastLeavingMs);
    const forMs = untilComplete(found, { nowMs, lastMs, waitsSinceMs });
    waitsSinceMs = forMs === 0 ? undefined : (waitsSinceMs ?? nowMs);
    return forMs;
  };
  const isLimited = (found: Requests): boolean => found.some(({ scope }) => isShared(scope, share()));
  const lastRequestOf = ({ setUid }: LedgerSet): string | undefined =>
    requested.lastRequestIn(owners.siblingsOf(setUid));
  const causeOf = (owner: LedgerSet): DeletionCause => (owners.isLeaving(owner) ? "parent" : "machine");
  const isBegun = (machine: Machine): boolean =>
    machine.metadata.deletionTimestamp == null ||
    ledger.isEntered(machine.metadata.uid ?? "") ||
    markedStage({ machine }) !== undefined;

  const overRate = (machine: Machine, cause: DeletionCause): HeldDeletions | undefined => {
    const { count, scope, limit } = rates.roomOf(classNameOf(machine));
    if (count > 0 || !hasId(machine)) return undefined;
    return { why: "rate", cause, count: 1, scope, limit, total: limit, loss: limit };
  };
  const byShare = (machine: Machine, cause: DeletionCause): HeldDeletions | { readonly forMs: number } | undefined => {
    if (!ledger.counted.has(machine.metadata.uid ?? "")) return undefined;
    const found = requests.requestsOf(setOfMachine(machine).setUid);
    if (isSmall(found) || !isLimited(found)) return undefined;
    const forMs = waitFor(found);
    if (forMs > 0) return { forMs };
    return isSingle(found, cause, clock.monotonicMs() - lastSingleMs)
      ? undefined
      : judgeRequests(found, cause, share());
  };

  return {
    ofMachine(machine) {
      if (isBegun(machine)) return undefined;
      const owner = setOfMachine(machine);
      const cause = causeOf(owner);
      const approval = approvals.of(machine);
      if (approval !== undefined)
        return approval.waitsFor === undefined
          ? { verdict: "proceed", isApproved: true, cause }
          : { verdict: "held", held: heldByPace(approval.waitsFor, cause, 1), approver: owners.approverOf(machine) };
      const held = overRate(machine, cause) ?? byShare(machine, cause);
      if (held === undefined) return { verdict: "proceed", isApproved: false, cause };
      if ("forMs" in held) return { verdict: "wait", forMs: held.forMs };
      return { verdict: "held", held, approver: owners.approverOf(machine) };
    },
    ofSet({ metadata, status }, found) {
      const owner = { setUid: metadata.uid ?? "", setName: metadata.name };
      const cause = causeOf(owner);
      // Without a scope of its own the set has no machines.
      if (found[0].scope.kind === "Namespace") return undefined;
      if (found[0].count === 0) {
        const waiting = approvals.waitingIn(owner);
        return waiting && { ...heldByPace(waiting, cause, waiting.count), before: lastRequestOf(owner) };
      }
      if (!isLimited(found)) return undefined;
      const isReported = isConditionTrue(status?.machineSetCondition, deletionsHeldConditionType);
      if (waitFor(found) > 0 && !isReported) return undefined;
      const held = judgeRequests(found, cause, share());
      return held && { ...held, before: lastRequestOf(owner) };
    },
    noteSingle: () => void (lastSingleMs = clock.monotonicMs()),
  };
}
