import type { Machine, MachineDeployment, MachineSet } from "@millwright/core";
import {
  type ApiObject,
  controllerRefOf,
  type ReadonlyStore,
  type OrphaningOwners,
  watchOrphaningOwners,
} from "@millwright/kube";
import type { ControlCaches } from "../cluster/caches.ts";
import type { DeletionScope } from "../model/deletion-budget.ts";
import type { Approver } from "../model/hold.ts";
import { approverOf } from "../model/held-deletion.ts";
import { isProtected } from "../model/deletion-protection.ts";
import { isApprovedBy } from "./approval.ts";
import { type FleetLedger, type LedgerSet, type SetLedger, setOfMachine } from "./fleet-ledger.ts";

/** A scope, and what other clients request of it. */
export interface RequestedDeletions {
  readonly scope: DeletionScope;
  /** Machines in service that are to be deleted: terminating ones, and all whose owner is deleted. */
  readonly count: number;
}

/** The owners of machines and their approvals, from the caches. */
export interface RequestReader {
  /** Scopes of a machine's set, the narrowest first; of machines without a set the namespace alone. */
  requestsOf(setUid: string): readonly [RequestedDeletions, ...RequestedDeletions[]];
  /** All scopes, each once: the namespace, deployments, and sets without one. */
  scopes(): readonly DeletionScope[];
  /** Whether the set of a machine, or its deployment, is deleted together with its machines. */
  isLeaving(set: LedgerSet): boolean;
  /** Whether set or deployment approve. */
  isApproved(set: LedgerSet, now: Date): boolean;
  /** The object whose annotation approves the deletion of a machine. */
  approverOf(machine: Machine): Approver;
  /** Monotonic clock: when an owner was last seen to be deleted. */
  readonly lastLeavingMs: number;
}

interface Owner {
  readonly name: string;
  readonly uid: string;
}

type Sources = Pick<ControlCaches, "sets" | "deployments">;

const byOwner = <T extends ApiObject>(
  store: Pick<ReadonlyStore<T, string>, "getByRef">,
  namespace: string,
  { name, uid }: Owner,
): T | undefined => {
  const found = store.getByRef({ namespace, name });
  return found?.metadata.uid === uid ? found : undefined;
};

const isTerminatingOrGone = (object: ApiObject | undefined): boolean =>
  object === undefined || object.metadata.deletionTimestamp !== undefined;

/** Whether an owner is deleted together with its dependents. */
const isDeleted = (object: ApiObject | undefined, orphaning: OrphaningOwners): boolean =>
  object === undefined || (isTerminatingOrGone(object) && orphaning.stateOf(object) === undefined);

/** The deployments of sets, by UID; those of a set that is deleted too, while the ledger has it. */
function followDeployments({ store }: Sources["sets"], ledger: Pick<FleetLedger, "sets">): ReadonlyMap<string, Owner> {
  const deploymentOf = new Map<string, Owner>();
  /** Sets that are deleted, with all that is remembered of their machines. */
  const prune = (): void => {
    const known = new Set([...ledger.sets()].map(({ setUid }) => setUid));
    for (const uid of deploymentOf.keys()) if (!known.has(uid)) deploymentOf.delete(uid);
  };
  store.subscribe((_, current) => {
    if (current === undefined) return prune();
    const owner = controllerRefOf(current);
    if (owner?.kind === "MachineDeployment") deploymentOf.set(current.metadata.uid ?? "", owner);
    else deploymentOf.delete(current.metadata.uid ?? "");
  });
  return deploymentOf;
}

/** The sets of each scope: of the namespace, of deployments, and those without one alone. */
function groupByScope(
  ledger: Pick<FleetLedger, "sets">,
  namespace: string,
  deploymentOf: ReadonlyMap<string, Owner>,
): readonly (Pick<DeletionScope, "kind" | "name"> & { readonly members: readonly SetLedger[] })[] {
  const all = [...ledger.sets()];
  const owned = Map.groupBy(
    all.filter(({ setUid }) => setUid !== ""),
    ({ setUid }) => deploymentOf.get(setUid)?.uid ?? setUid,
  );
  const ofOwners = [...owned.values()].map((members) => {
    const { setUid = "", setName = "" } = members[0] ?? {};
    const deployment = deploymentOf.get(setUid);
    return deployment === undefined
      ? { kind: "MachineSet" as const, name: setName, members }
      : { kind: "MachineDeployment" as const, name: deployment.name, members };
  });
  return [{ kind: "Namespace", name: namespace, members: all }, ...ofOwners];
}

/** Makes a reader for a namespace. It remembers the deployments of sets that are deleted while it runs. */
export function createRequestReader(
  { sets, deployments }: Sources,
  namespace: string,
  ledger: Pick<FleetLedger, "sets">,
  clock: { now(): Date; monotonicMs(): number },
): RequestReader {
  const orphaningSets = watchOrphaningOwners(sets.store);
  const orphaningDeployments = watchOrphaningOwners(deployments.store);
  const deploymentOf = followDeployments(sets, ledger);
  let lastLeavingMs = Number.NEGATIVE_INFINITY;

  const noteLeaving = (old: ApiObject | undefined, current: ApiObject | undefined): void => {
    if (isTerminatingOrGone(current) && !isTerminatingOrGone(old)) lastLeavingMs = clock.monotonicMs();
  };
  sets.store.subscribe(noteLeaving);
  deployments.store.subscribe(noteLeaving);

  const setOf = ({ setUid, setName }: LedgerSet): MachineSet | undefined =>
    byOwner(sets.store, namespace, { name: setName, uid: setUid });
  const deploymentOfSet = (setUid: string): MachineDeployment | undefined => {
    const owner = deploymentOf.get(setUid);
    return owner === undefined ? undefined : byOwner(deployments.store, namespace, owner);
  };
  const isLeaving: RequestReader["isLeaving"] = (ledgerSet) => {
    if (ledgerSet.setUid === "") return false;
    if (isDeleted(setOf(ledgerSet), orphaningSets)) return true;
    return deploymentOf.has(ledgerSet.setUid) && isDeleted(deploymentOfSet(ledgerSet.setUid), orphaningDeployments);
  };
  /** A protected deployment keeps its machines when it is deleted. */
  const isKept = ({ setUid }: SetLedger): boolean => {
    const deployment = deploymentOfSet(setUid);
    return deployment !== undefined && isTerminatingOrGone(deployment) && isProtected(deployment);
  };
  const isApproved: RequestReader["isApproved"] = (ledgerSet, now) =>
    isApprovedBy([setOf(ledgerSet), deploymentOfSet(ledgerSet.setUid)], now);

  const requestOf = (
    members: readonly SetLedger[],
    scope: Pick<DeletionScope, "kind" | "name">,
    now: Date,
  ): RequestedDeletions => {
    let inService = 0;
    let net = 0;
    let count = 0;
    for (const member of members) {
      inService += member.inService;
      net += member.netLoss;
      if (member.inService === 0) continue;
      if (isKept(member)) continue;
      const requested = isLeaving(member) ? member.inService : member.terminating;
      if (requested > 0 && !isApproved(member, now)) count += requested;
    }
    return { scope: { ...scope, inService, loss: Math.max(0, net) }, count };
  };

  return {
    isLeaving,
    isApproved,
    approverOf(machine) {
      const owner = setOfMachine(machine);
      return approverOf(machine, deploymentOfSet(owner.setUid), setOf(owner));
    },
    get lastLeavingMs() {
      return lastLeavingMs;
    },
    scopes: () =>
      groupByScope(ledger, namespace, deploymentOf).map(
        ({ members, ...scope }) => requestOf(members, scope, clock.now()).scope,
      ),
    requestsOf(setUid) {
      const now = clock.now();
      const all = [...ledger.sets()];
      const ofNamespace = requestOf(all, { kind: "Namespace", name: namespace }, now);
      const own = all.find((each) => each.setUid === setUid);
      if (setUid === "" || own === undefined) return [ofNamespace];
      const owner = deploymentOf.get(setUid);
      if (owner === undefined) return [requestOf([own], { kind: "MachineSet", name: own.setName }, now), ofNamespace];
      const members = all.filter((each) => deploymentOf.get(each.setUid)?.uid === owner.uid);
      return [requestOf(members, { kind: "MachineDeployment", name: owner.name }, now), ofNamespace];
    },
  };
}
