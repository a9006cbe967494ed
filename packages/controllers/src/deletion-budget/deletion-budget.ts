import type { Clock, Machine, MachineDeployment, MachineSet } from "@millwright/core";
import type { ControlCaches } from "../cluster/caches.ts";
import type { BudgetRoom, DeletionBudget, DeletionCause, HeldDeletions } from "../model/deletion-budget.ts";
import { hasId } from "../model/provisioning.ts";
import { approvalOf, isApprovedBy } from "./approval.ts";
import { classNameOf, trackClassRates } from "./class-rates.ts";
import { FleetLedger } from "./fleet-ledger.ts";
import { roomOfShare } from "./judge-share.ts";
import { createRequestJudge } from "./request-judge.ts";
import { createRequestReader } from "./requested-deletions.ts";

/** What the budget is made of. */
export interface DeletionBudgetOptions {
  readonly caches: Pick<ControlCaches, "machines" | "sets" | "deployments">;
  readonly namespace: string;
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
  /** 0 to 1; 0: only the rate limits deletions. Default 0.5. */
  readonly maxDeletionShare: number | undefined;
}

/** Half of a deployment is more than any rollout deletes without a replacement in service. */
export const DEFAULT_SHARE = 0.5;

const add = (counts: Map<DeletionCause, number>, cause: DeletionCause, count: number): void =>
  void counts.set(cause, (counts.get(cause) ?? 0) + count);

/** An approval, or its end, concerns the terminating machines of its object. */
function followApprovals(
  { caches: { machines, sets, deployments }, clock }: DeletionBudgetOptions,
  report: (machine: Machine) => void,
): void {
  const isChanged = (old: MachineSet | MachineDeployment | undefined, current: typeof old): boolean => {
    if (old === undefined || current === undefined) return false;
    const now = clock.now();
    return approvalOf(old, now).state !== approvalOf(current, now).state;
  };
  const reportSet = (uid: string): void => {
    for (const machine of machines.store.byIndex("owner", uid))
      if (machine.metadata.deletionTimestamp !== undefined) report(machine);
  };
  sets.store.subscribe((old, current) => {
    if (isChanged(old, current)) reportSet(current?.metadata.uid ?? "");
  });
  deployments.store.subscribe((old, current) => {
    if (!isChanged(old, current)) return;
    for (const set of sets.store.byIndex("owner", current?.metadata.uid ?? "")) reportSet(set.metadata.uid ?? "");
  });
}

/** Makes the budget of a namespace. It follows the caches from now on, and sends no request. */
export function createDeletionBudget(options: DeletionBudgetOptions): DeletionBudget {
  const { caches, namespace, clock, maxDeletionShare = DEFAULT_SHARE } = options;
  const { machines } = caches;
  const ledger = new FleetLedger(machines.store, clock);
  const requests = createRequestReader(caches, namespace, ledger, clock);
  const rates = trackClassRates(machines, namespace, clock);
  let share = maxDeletionShare;
  const judge = createRequestJudge(ledger, requests, rates, clock, () => share);
  const heldBySet = new Map<string, HeldDeletions>();
  const begun = new Map<DeletionCause, number>();
  const listeners: ((machine: Machine) => void)[] = [];
  followApprovals(options, (machine) => {
    for (const listener of listeners) listener(machine);
  });

  return {
    setShare: (changed) => void (share = changed),
    ofMachine: judge.ofMachine,
    ofSet(set, deployment) {
      const found = requests.requestsOf(set.metadata.uid ?? "");
      return {
        share,
        scopes: found.map(({ scope }) => scope),
        isApproved: isApprovedBy([set, deployment], clock.now()),
        counted: ledger.counted,
        rate: rates.roomOf(set.spec.template.spec.class?.name ?? ""),
        requested: judge.ofSet(set, found),
      };
    },
    enter(machine, cause, isApproved) {
      const { uid = "" } = machine.metadata;
      if (ledger.isEntered(uid)) return;
      ledger.enter(uid, !isApproved);
      add(begun, cause, 1);
      if (isApproved) return;
      if (hasId(machine)) rates.use(classNameOf(machine));
      if (cause === "machine") judge.noteSingle();
    },
    enterOrphanVm(className) {
      if (rates.roomOf(className).count === 0) return false;
      rates.use(className);
      add(begun, "orphan-vm", 1);
      return true;
    },
    revoke: (uid) => ledger.revoke(uid),
    recordHeld(key, held) {
      if (held === undefined) heldBySet.delete(key);
      else heldBySet.set(key, held);
    },
    heldByCause() {
      const counts = new Map<DeletionCause, number>();
      for (const { cause, count } of heldBySet.values()) add(counts, cause, count);
      for (const machine of machines.store.list()) {
        const verdict = judge.ofMachine(machine);
        if (verdict?.verdict === "held") add(counts, verdict.held.cause, 1);
      }
      return counts;
    },
    rooms() {
      const ofShares = share === 0 ? [] : requests.scopes().map((scope) => roomOfShare(scope, share));
      const ofRates = rates
        .rooms()
        .map(({ scope, limit, count }): BudgetRoom => ({ rule: "rate", scope, limit, remaining: count }));
      return [...ofShares, ...ofRates];
    },
    begunByCause: () => begun,
    onChange: (listener) => void listeners.push(listener),
  };
}
