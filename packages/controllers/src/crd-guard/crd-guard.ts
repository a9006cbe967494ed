import { type MachineKind, machineKinds } from "@millwright/core/machine-api";
import { type ApiObject, controllerRefOf, type ReadonlyStore } from "@millwright/kube";
import type { CacheOptions } from "../cluster/caches.ts";
import type { CrdGuard } from "../model/crd-guard.ts";
import { createCrdWatch } from "./crd-watch.ts";
import { decideVerdict, type PossibleCause } from "./deletion-verdict.ts";

const isKind = (kind: string | undefined): kind is MachineKind =>
  kind !== undefined && Object.hasOwn(machineKinds, kind);

/** Kinds whose CRDs may cause the deletion of an object: its own, and that of its controller. */
export function kindsOf(kind: MachineKind, object: ApiObject): readonly MachineKind[] {
  const owner = controllerRefOf(object)?.kind;
  return isKind(owner) && owner !== kind ? [kind, owner] : [kind];
}

/**
 * Makes a guard that remembers, of the objects in `stores`, when each deletion was observed and which ones this process requested. It sends no request before it runs or is refreshed.
 *
 * @param stores caches of all objects that it is used for
 */
export function createCrdGuard(
  options: CacheOptions,
  stores: readonly Pick<ReadonlyStore<ApiObject, string>, "subscribe">[],
): CrdGuard {
  const { refresh, ...states } = createCrdWatch(options);
  // Invariant: the sequence number only grows; a read of a CRD is newer than every deletion with a lower number.
  let sequence = 0;
  /** When the deletion of an object was observed, by UID; only of objects that exist. */
  const observedAt = new Map<string, number>();
  const own = new Set<string>();
  /** When the last successful read of a CRD began. */
  const readAt = new Map<MachineKind, number>();

  for (const store of stores) {
    store.subscribe((old, current) => {
      const { uid, deletionTimestamp } = current?.metadata ?? {};
      if (old !== undefined && old.metadata.uid !== uid) {
        observedAt.delete(old.metadata.uid ?? "");
        own.delete(old.metadata.uid ?? "");
      }
      if (uid !== undefined && deletionTimestamp !== undefined && !observedAt.has(uid)) observedAt.set(uid, ++sequence);
    });
  }

  const possibleCause = (kind: MachineKind, uid: string): PossibleCause => ({
    crd: states.stateOf(kind),
    isRuledOut: (readAt.get(kind) ?? 0) > (observedAt.get(uid) ?? Number.POSITIVE_INFINITY),
  });

  return {
    ...states,
    deletionVerdictOf(kind, object, hasStarted) {
      const { uid = "", deletionTimestamp } = object.metadata;
      if (deletionTimestamp === undefined) return { verdict: "proceed" };
      const deletion = { deletedAt: Date.parse(deletionTimestamp), hasStarted, isOwn: own.has(uid) };
      return decideVerdict(
        deletion,
        kindsOf(kind, object).map((each) => possibleCause(each, uid)),
      );
    },
    async refresh(kind, object) {
      const begunAt = ++sequence;
      const read = async (each: MachineKind): Promise<void> => {
        await refresh(each);
        // A terminating CRD has the time of its deletion, and a deleted one proves nothing.
        const { state } = states.stateOf(each);
        if (state === "established" || state === "unknown") readAt.set(each, Math.max(begunAt, readAt.get(each) ?? 0));
      };
      await Promise.all(kindsOf(kind, object).map(read));
    },
    recordDeletion: (uid) => void own.add(uid),
    forgetDeletion: (uid) => void own.delete(uid),
  };
}
