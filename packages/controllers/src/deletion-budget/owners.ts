import type { Machine, MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import {
  type ApiObject,
  controllerRefOf,
  type OrphaningOwners,
  type ReadonlyStore,
  watchOrphaningOwners,
} from "@millwright/kube";
import type { ControlCaches } from "../cluster/caches.ts";
import { isProtected } from "../model/deletion-protection.ts";
import { approverOf } from "../model/held-deletion.ts";
import type { Approver } from "../model/hold.ts";
import { type FleetLedger, type LedgerSet, type SetLedger, setOfMachine } from "./fleet-ledger.ts";

/** What identifies an owner that may not exist any more. */
export interface Owner {
  readonly name: string;
  readonly uid: string;
}

/** The owners of machines, from the caches. */
export interface OwnerReader {
  setOf(set: LedgerSet): MachineSet | undefined;
  /** The deployment of a set, by the UID of the set. */
  deploymentOf(setUid: string): MachineDeployment | undefined;
  /** The same, also when it does not exist any more. */
  ownerOf(setUid: string): Owner | undefined;
  /** All sets with machines that share an owner with this one, itself included. */
  siblingsOf(setUid: string): readonly SetLedger[];
  /** Whether the set of a machine, or its deployment, is deleted together with its machines. */
  isLeaving(set: LedgerSet): boolean;
  /** Whether a set keeps its machines although its deployment is deleted. */
  isKept(set: LedgerSet): boolean;
  /** The objects whose annotations approve deletions of a set's machines: of one that does not exist, those of the set that has its name now. */
  approversOf(set: LedgerSet): { readonly set?: MachineSet; readonly deployment?: MachineDeployment };
  /** The object whose annotation approves the deletion of a machine. */
  approverOf(machine: Machine): Approver;
  /** Monotonic clock: when an owner was last seen to be deleted. */
  readonly lastLeavingMs: number;
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

/** Makes a reader for a namespace. It remembers the deployments of sets that are deleted while it runs. */
export function createOwnerReader(
  { sets, deployments }: Sources,
  namespace: string,
  ledger: Pick<FleetLedger, "sets">,
  clock: { monotonicMs(): number },
): OwnerReader {
  const orphaningSets = watchOrphaningOwners(sets.store);
  const orphaningDeployments = watchOrphaningOwners(deployments.store);
  const owners = followDeployments(sets, ledger);
  let lastLeavingMs = Number.NEGATIVE_INFINITY;

  const noteLeaving = (old: ApiObject | undefined, current: ApiObject | undefined): void => {
    if (isTerminatingOrGone(current) && !isTerminatingOrGone(old)) lastLeavingMs = clock.monotonicMs();
  };
  sets.store.subscribe(noteLeaving);
  deployments.store.subscribe(noteLeaving);

  const setOf: OwnerReader["setOf"] = ({ setUid, setName }) =>
    byOwner(sets.store, namespace, { name: setName, uid: setUid });
  const deploymentOf: OwnerReader["deploymentOf"] = (setUid) => {
    const owner = owners.get(setUid);
    return owner === undefined ? undefined : byOwner(deployments.store, namespace, owner);
  };

  const approversOf: OwnerReader["approversOf"] = (set) => {
    if (set.setUid === "") return {};
    const own = setOf(set) ?? sets.store.getByRef({ namespace, name: set.setName });
    const deployment = deploymentOf(set.setUid) ?? deploymentOf(own?.metadata.uid ?? "");
    return { ...(own === undefined ? {} : { set: own }), ...(deployment === undefined ? {} : { deployment }) };
  };

  return {
    setOf,
    deploymentOf,
    ownerOf: (setUid) => owners.get(setUid),
    siblingsOf(setUid) {
      const owner = owners.get(setUid);
      const all = [...ledger.sets()];
      return owner === undefined
        ? all.filter((each) => each.setUid === setUid)
        : all.filter((each) => owners.get(each.setUid)?.uid === owner.uid);
    },
    isLeaving(set) {
      if (set.setUid === "") return false;
      if (isDeleted(setOf(set), orphaningSets)) return true;
      return owners.has(set.setUid) && isDeleted(deploymentOf(set.setUid), orphaningDeployments);
    },
    isKept({ setUid }) {
      // A protected deployment keeps its machines when it is deleted.
      const deployment = deploymentOf(setUid);
      return deployment !== undefined && isTerminatingOrGone(deployment) && isProtected(deployment);
    },
    approversOf,
    approverOf(machine) {
      const { set, deployment } = approversOf(setOfMachine(machine));
      return approverOf(machine, deployment, set);
    },
    get lastLeavingMs() {
      return lastLeavingMs;
    },
  };
}
