import type { DeletionScope } from "../model/deletion-budget.ts";
import type { FleetLedger, SetLedger } from "./fleet-ledger.ts";
import { isReleased, ownShareOf } from "./own-share.ts";
import type { OwnerReader } from "./owners.ts";
import type { RequestApprovals } from "./request-approvals.ts";

/** A scope, and what other clients request of it. */
export interface RequestedDeletions {
  readonly scope: DeletionScope;
  /** Machines in service that are to be deleted, and that no approval covers: terminating ones, and all whose owner is deleted. */
  readonly count: number;
}

/** What other clients request, from the caches. */
export interface RequestReader {
  /** Scopes of a machine's set, the narrowest first; of machines without a set the namespace alone, and of a set that is released from it its own alone. */
  requestsOf(setUid: string): readonly [RequestedDeletions, ...RequestedDeletions[]];
  /** All scopes, each once: the namespace, deployments, and sets without one. */
  scopes(): readonly DeletionScope[];
}

type ScopeIdentity = Pick<DeletionScope, "kind" | "name" | "share">;

/**
 * Makes a reader for a namespace.
 *
 * @param share of the namespace
 */
export function createRequestReader(
  owners: OwnerReader,
  approvals: Pick<RequestApprovals, "uncoveredIn">,
  namespace: string,
  ledger: Pick<FleetLedger, "sets">,
  share: () => number,
): RequestReader {
  const requestOf = (members: readonly SetLedger[], scope: ScopeIdentity): RequestedDeletions => {
    let inService = 0;
    let net = 0;
    let count = 0;
    for (const member of members) {
      inService += member.inService;
      net += member.netLoss;
      if (member.inService > 0 && !owners.isKept(member)) count += approvals.uncoveredIn(member);
    }
    return { scope: { ...scope, inService, loss: Math.max(0, net) }, count };
  };

  const ownShare = ({ setUid, setName }: SetLedger): number | undefined =>
    owners.ownerOf(setUid) === undefined
      ? ownShareOf(owners.setOf({ setUid, setName }))
      : ownShareOf(owners.deploymentOf(setUid));
  const isOfNamespace = (set: SetLedger): boolean => !isReleased(ownShare(set), share());
  const ofNamespace = (): RequestedDeletions =>
    requestOf([...ledger.sets()].filter(isOfNamespace), { kind: "Namespace", name: namespace });
  const ofOwner = (set: SetLedger): RequestedDeletions => {
    const { setUid, setName } = set;
    const owner = owners.ownerOf(setUid);
    const own = ownShare(set);
    return requestOf(owners.siblingsOf(setUid), {
      ...(owner === undefined
        ? { kind: "MachineSet", name: setName }
        : { kind: "MachineDeployment", name: owner.name }),
      ...(own === undefined ? {} : { share: own }),
    });
  };

  return {
    scopes() {
      const owned = Map.groupBy(
        [...ledger.sets()].filter(({ setUid }) => setUid !== ""),
        ({ setUid }) => owners.ownerOf(setUid)?.uid ?? setUid,
      );
      const ofOwners = [...owned.values()].flatMap(([first]) => (first === undefined ? [] : [ofOwner(first)]));
      return [ofNamespace(), ...ofOwners].map(({ scope }) => scope);
    },
    requestsOf(setUid) {
      const own = [...ledger.sets()].find((each) => each.setUid === setUid);
      if (setUid === "" || own === undefined) return [ofNamespace()];
      return isOfNamespace(own) ? [ofOwner(own), ofNamespace()] : [ofOwner(own)];
    },
  };
}
