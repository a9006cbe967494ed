import { type Clock, deletionsHeldConditionType, type Machine, type MachineSet } from "@millwright/core";
import { isConditionTrue } from "@millwright/kube";
import type { BudgetVerdict, DeletionCause, HeldDeletions } from "../model/deletion-budget.ts";
import { markedStage } from "../model/phase.ts";
import { hasId } from "../model/provisioning.ts";
import { isApprovedBy } from "./approval.ts";
import { type ClassRates, classNameOf } from "./class-rates.ts";
import { type FleetLedger, type LedgerSet, setOfMachine } from "./fleet-ledger.ts";
import { isSingle, isSmall, judgeRequests, type Requests, untilComplete } from "./judge-requests.ts";
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

/**
 * Makes a judge. It remembers only since when deletions wait, and when the last single one was allowed.
 *
 * @param share 0 to 1; 0: only the rate limits deletions
 */
export function createRequestJudge(
  ledger: FleetLedger,
  requests: RequestReader,
  rates: ClassRates,
  clock: Pick<Clock, "now" | "monotonicMs">,
  share: () => number,
): RequestJudge {
  let waitsSinceMs: number | undefined;
  let lastSingleMs = Number.NEGATIVE_INFINITY;

  const waitFor = (found: Requests): number => {
    const nowMs = clock.monotonicMs();
    const lastMs = Math.max(ledger.lastRequestMs, requests.lastLeavingMs);
    const forMs = untilComplete(found, { nowMs, lastMs, waitsSinceMs });
    waitsSinceMs = forMs === 0 ? undefined : (waitsSinceMs ?? nowMs);
    return forMs;
  };
  const causeOf = (owner: LedgerSet): DeletionCause => (requests.isLeaving(owner) ? "parent" : "machine");
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
    if (share() === 0 || !ledger.counted.has(machine.metadata.uid ?? "")) return undefined;
    const found = requests.requestsOf(setOfMachine(machine).setUid);
    if (isSmall(found)) return undefined;
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
      const now = clock.now();
      const isApproved = isApprovedBy([machine], now) || requests.isApproved(owner, now);
      if (isApproved) return { verdict: "proceed", isApproved, cause };
      const held = overRate(machine, cause) ?? byShare(machine, cause);
      if (held === undefined) return { verdict: "proceed", isApproved, cause };
      if ("forMs" in held) return { verdict: "wait", forMs: held.forMs };
      return { verdict: "held", held, approver: requests.approverOf(machine) };
    },
    ofSet({ metadata, status }, found) {
      // Without a scope of its own the set has no machines.
      if (share() === 0 || found.length === 1 || found[0].count === 0) return undefined;
      const isReported = isConditionTrue(status?.machineSetCondition, deletionsHeldConditionType);
      if (waitFor(found) > 0 && !isReported) return undefined;
      return judgeRequests(found, causeOf({ setUid: metadata.uid ?? "", setName: metadata.name }), share());
    },
    noteSingle: () => void (lastSingleMs = clock.monotonicMs()),
  };
}
