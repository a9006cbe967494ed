import {
  type DeletionScope,
  isApprovedBy,
  isDeleting,
  isInService,
  isProtected,
  judgeRequests,
  machinesWhere,
  markedStage,
  type RequestedDeletions,
  type SetBudget,
} from "@millwright/controllers/decisions";
import type { Machine, MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import { controllerRefOf } from "@millwright/kube";
import type { ModelCluster } from "./model-cluster.ts";
import { sum } from "./numbers.ts";

/** Losses and arrivals count for this long, milliseconds. */
const WINDOW_MS = 3_600_000;

/** Numbers of machines. */
export interface ScopeCounts {
  readonly inService: number;
  /** Those of them that are to be deleted, and that nothing approves. */
  readonly requested: number;
}

/** The deletion budget of a simulation. Times are those of the simulation, and never go back. */
export interface ModelBudget {
  /** The budget for the deletions of a set. */
  ofSet(set: MachineSet, now: Date): SetBudget;
  /** Enters a deletion that begins. */
  enter(machine: Machine, isApproved: boolean, now: Date): void;
  /** Whether the deletion of a terminating machine is held. Enters one that is not. */
  holds(machine: Machine, now: Date): boolean;
  /** A machine came into service. */
  arrive(machine: Machine, now: Date): void;
}

const isServing = (machine: Machine): boolean => isInService(machine) && !isDeleting(machine);

/** Whether the deletion of a machine is requested, and has not begun. */
export const isToBeDeleted = (machine: Machine): boolean =>
  isInService(machine) && isDeleting(machine) && markedStage({ machine }) === undefined;

const setUidOf = (machine: Machine): string => controllerRefOf(machine)?.uid ?? "";

const isTerminating = (object: MachineSet | MachineDeployment | undefined): boolean =>
  object?.metadata.deletionTimestamp !== undefined;

/** Deletions that began in a simulation, and what the share counts of them. */
interface ModelLedger {
  enter(machine: Machine, isLoss: boolean, now: Date): void;
  arrive(machine: Machine, now: Date): void;
  isEntered(machine: Machine): boolean;
  /** Losses minus arrivals within the hour, of these sets; not below 0. */
  lossOf(setUids: ReadonlySet<string> | "all", now: Date): number;
}

function createModelLedger(): ModelLedger {
  const entered = new Set<string>();
  let changes: { readonly atMs: number; readonly setUid: string; readonly change: 1 | -1 }[] = [];
  const add = (machine: Machine, change: 1 | -1, now: Date): void =>
    void changes.push({ atMs: now.getTime(), setUid: setUidOf(machine), change });
  return {
    enter(machine, isLoss, now) {
      entered.add(machine.metadata.uid ?? "");
      if (isLoss) add(machine, 1, now);
    },
    arrive: (machine, now) => add(machine, -1, now),
    isEntered: ({ metadata }) => entered.has(metadata.uid ?? ""),
    lossOf(setUids, now) {
      changes = changes.filter(({ atMs }) => now.getTime() - atMs < WINDOW_MS);
      const own = setUids === "all" ? changes : changes.filter(({ setUid }) => setUids.has(setUid));
      return Math.max(0, sum(own.map(({ change }) => change)));
    },
  };
}

type Owners = Pick<ModelCluster, "deployments" | "sets" | "machinesOf">;

function deploymentOf({ deployments }: Owners, set: MachineSet | undefined): MachineDeployment | undefined {
  const owner = set === undefined ? undefined : controllerRefOf(set);
  const found = deployments.get(owner?.name ?? "");
  return found?.metadata.uid === owner?.uid ? found : undefined;
}

/** The machines of a set, or of none, and how many of them are to be deleted. */
function countsOf(owners: Owners, ledger: ModelLedger, set: MachineSet | undefined, now: Date): ScopeCounts {
  const machines = owners.machinesOf(set?.metadata.uid ?? "");
  const terminating = machinesWhere(machines, isToBeDeleted).filter((machine) => !ledger.isEntered(machine));
  const inService = machinesWhere(machines, isServing).length + terminating.length;
  const deployment = deploymentOf(owners, set);
  const isKept = deployment !== undefined && isTerminating(deployment) && isProtected(deployment);
  if (isKept || isApprovedBy([set, deployment], now)) return { inService, requested: 0 };
  const isLeaving = isTerminating(set) || isTerminating(deployment);
  return { inService, requested: isLeaving ? inService : terminating.length };
}

/** Deletions that are requested of a set's machines: the narrowest scope first, the namespace last. */
type RequestsOf = (
  set: MachineSet | undefined,
  namespace: string,
  now: Date,
) => readonly [RequestedDeletions, ...RequestedDeletions[]];

function createRequestReader(owners: Owners, ledger: ModelLedger, elsewhere: ScopeCounts): RequestsOf {
  const requestOf = (
    sets: readonly (MachineSet | undefined)[],
    { kind, name }: Pick<DeletionScope, "kind" | "name">,
    now: Date,
  ): RequestedDeletions => {
    const own = sets.map((set) => countsOf(owners, ledger, set, now));
    const counts = kind === "Namespace" ? [elsewhere, ...own] : own;
    const uids = kind === "Namespace" ? "all" : new Set(sets.map((set) => set?.metadata.uid ?? ""));
    const inService = sum(counts.map((each) => each.inService));
    return {
      scope: { kind, name, inService, loss: ledger.lossOf(uids, now) },
      count: sum(counts.map(({ requested }) => requested)),
    };
  };
  return (set, namespace, now) => {
    const sets = [...owners.sets.values()];
    const ofNamespace = requestOf([undefined, ...sets], { kind: "Namespace", name: namespace }, now);
    if (set === undefined) return [ofNamespace];
    const deployment = deploymentOf(owners, set);
    if (deployment === undefined)
      return [requestOf([set], { kind: "MachineSet", name: set.metadata.name }, now), ofNamespace];
    const members = sets.filter((each) => deploymentOf(owners, each) === deployment);
    return [requestOf(members, { kind: "MachineDeployment", name: deployment.metadata.name }, now), ofNamespace];
  };
}

/**
 * Makes the budget of a model: the share, as the controllers judge it. The rate is left out: it holds back loops, and a plan has none. Losses before the plan are unknown, as
 * they are to a process that starts.
 *
 * @param elsewhere machines of the namespace that the simulation leaves out
 * @param share 0 to 1; 0 holds nothing
 */
export function createModelBudget(owners: Owners, elsewhere: ScopeCounts, share: number): ModelBudget {
  const ledger = createModelLedger();
  const requestsOf = createRequestReader(owners, ledger, elsewhere);
  const enter: ModelBudget["enter"] = (machine, isApproved, now) => {
    if (!ledger.isEntered(machine)) ledger.enter(machine, !isApproved && isInService(machine), now);
  };
  return {
    enter,
    arrive: ledger.arrive,
    ofSet(set, now) {
      const { namespace = "" } = set.metadata;
      // Most decisions delete nothing, and need no numbers.
      return {
        share,
        get scopes() {
          return requestsOf(set, namespace, now).map(({ scope }) => scope);
        },
        get isApproved() {
          return isApprovedBy([set, deploymentOf(owners, set)], now);
        },
        get counted() {
          const inService = machinesWhere(owners.machinesOf(set.metadata.uid ?? ""), isInService);
          return new Set(inService.filter((each) => !ledger.isEntered(each)).map(({ metadata }) => metadata.uid ?? ""));
        },
        rate: { count: Infinity, scope: { kind: "Namespace", name: namespace }, limit: Infinity, moreInMs: 0 },
        get requested() {
          if (countsOf(owners, ledger, set, now).requested === 0) return undefined;
          return judgeRequests(requestsOf(set, namespace, now), isTerminating(set) ? "parent" : "machine", share);
        },
      };
    },
    holds(machine, now) {
      if (!isToBeDeleted(machine) || ledger.isEntered(machine)) return false;
      const set = [...owners.sets.values()].find(({ metadata }) => metadata.uid === setUidOf(machine));
      const isApproved = isApprovedBy([machine, set, deploymentOf(owners, set)], now);
      const requests = requestsOf(set, machine.metadata.namespace ?? "", now);
      if (!isApproved && judgeRequests(requests, "machine", share) !== undefined) return true;
      enter(machine, isApproved, now);
      return false;
    },
  };
}
