import type { Clock } from "@millwright/base";
import type { Machine } from "@millwright/core/machine-api";
import type { ControlCaches } from "../cluster/caches.ts";
import type { BudgetRoom, DeletionBudget, DeletionCause, HeldDeletions, RateRoom } from "../model/deletion-budget.ts";
import { hasId } from "../model/provisioning.ts";
import { isApprovedBy } from "./approval.ts";
import { classNameOf, trackClassRates } from "./class-rates.ts";
import { FleetLedger } from "./fleet-ledger.ts";
import { followApprovals } from "./follow-approvals.ts";
import { isShared, roomOfShare } from "./judge-share.ts";
import { createOwnerReader } from "./owners.ts";
import { createRequestApprovals } from "./request-approvals.ts";
import { createRequestJudge, type RequestJudge } from "./request-judge.ts";
import { createRequestedMachines } from "./requested-machines.ts";
import { createRequestReader } from "./requested-deletions.ts";
import { approvedWorkOf } from "./set-approval.ts";
import { createUsedApprovals } from "./used-approvals.ts";

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

const roomOfRate = ({ scope, limit, count }: RateRoom): BudgetRoom => ({
  rule: "rate",
  scope,
  limit,
  remaining: count,
});

/** Machines that are held, by sets and one by one. */
function heldByCause(
  bySets: readonly HeldDeletions[],
  machines: readonly Machine[],
  judge: Pick<RequestJudge, "ofMachine">,
): ReadonlyMap<DeletionCause, number> {
  const counts = new Map<DeletionCause, number>();
  const ofMachines = machines.flatMap((machine) => {
    const verdict = judge.ofMachine(machine);
    return verdict?.verdict === "held" ? [{ ...verdict.held, count: 1 }] : [];
  });
  // What has a pace is approved.
  for (const { why, cause, count } of [...bySets, ...ofMachines]) if (why !== "pace") add(counts, cause, count);
  return counts;
}

/** Makes the budget of a namespace. It follows the caches from now on, and sends no request. */
export function createDeletionBudget(options: DeletionBudgetOptions): DeletionBudget {
  const { caches, namespace, clock, maxDeletionShare = DEFAULT_SHARE } = options;
  const { machines } = caches;
  let share = maxDeletionShare;
  const ledger = new FleetLedger(machines.store, clock);
  const rates = trackClassRates(machines, namespace, clock);
  const owners = createOwnerReader(caches, namespace, ledger, clock);
  const requested = createRequestedMachines(owners, machines, ledger);
  const approvals = createRequestApprovals(owners, requested, clock);
  const requests = createRequestReader(owners, approvals, namespace, ledger, () => share);
  const judge = createRequestJudge({
    ledger,
    owners,
    approvals,
    requested,
    requests,
    rates,
    clock,
    share: () => share,
  });
  const used = createUsedApprovals(caches);
  const heldBySet = new Map<string, HeldDeletions>();
  const begun = new Map<DeletionCause, number>();
  const listeners: ((machine: Machine) => void)[] = [];
  followApprovals(caches, owners, (machine) => {
    for (const listener of listeners) listener(machine);
  });

  return {
    setShare: (changed) => void (share = changed),
    ofMachine: judge.ofMachine,
    ofSet(set, deployment) {
      const found = requests.requestsOf(set.metadata.uid ?? "");
      const now = clock.now();
      const isApproved = isApprovedBy([set, deployment], now);
      const sources = { owners, requested, usedOf: used.usedOf };
      return {
        share,
        scopes: found.map(({ scope }) => scope),
        isApproved,
        approved: isApproved ? undefined : approvedWorkOf(set, deployment, sources, now),
        counted: ledger.counted,
        rate: rates.roomOf(set.spec.template.spec.class?.name ?? ""),
        requested: judge.ofSet(set, found),
      };
    },
    enter(machine, cause, isApproved) {
      const { uid = "" } = machine.metadata;
      if (ledger.isEntered(uid)) return;
      const rated = !isApproved && hasId(machine) ? classNameOf(machine) : undefined;
      ledger.enter(uid, !isApproved, rated === undefined ? undefined : () => rates.giveBack(rated));
      add(begun, cause, 1);
      if (isApproved) return;
      if (rated !== undefined) rates.use(rated);
      if (cause === "machine") judge.noteSingle();
    },
    enterOrphanVm(className) {
      if (rates.roomOf(className).count === 0) return false;
      rates.use(className);
      add(begun, "orphan-vm", 1);
      return true;
    },
    useApproval: ({ by, count }) => used.use(by, count),
    revoke: (uid) => ledger.revoke(uid),
    recordHeld(key, held) {
      if (held === undefined) heldBySet.delete(key);
      else heldBySet.set(key, held);
    },
    heldByCause: () => heldByCause([...heldBySet.values()], machines.store.list(), judge),
    rooms() {
      const ofShares = requests
        .scopes()
        .filter((scope) => isShared(scope, share))
        .map((scope) => roomOfShare(scope, share));
      return [...ofShares, ...rates.rooms().map(roomOfRate)];
    },
    begunByCause: () => begun,
    onChange: (listener) => void listeners.push(listener),
  };
}
