import type { CrdGuard } from "../model/crd-guard.ts";
import { type MachineKind, machineKinds } from "@millwright/core";
import { type ApiObject, controllerRefOf, type ReadonlyStore } from "@millwright/kube";
import { decideHold, type Suspect } from "./decide-hold.ts";
import type { CrdWatch } from "./crd-watch.ts";

const isKind = (kind: string | undefined): kind is MachineKind =>
  kind !== undefined && Object.hasOwn(machineKinds, kind);

/** Kinds on whose definitions the fate of an object hangs: its own, and that of what controls it. */
export function kindsOf(kind: MachineKind, object: ApiObject): readonly MachineKind[] {
  const owner = controllerRefOf(object)?.kind;
  return isKind(owner) && owner !== kind ? [kind, owner] : [kind];
}

/**
 * Makes a guard that remembers, of the objects in `stores`, when each deletion was seen and which ones this process asked for.
 *
 * @param stores caches of all objects that it is asked about
 */
export function createCrdGuard(
  watch: CrdWatch,
  stores: readonly Pick<ReadonlyStore<ApiObject, string>, "subscribe">[],
): CrdGuard {
  // Invariant: what counts moments only grows; a question is asked after everything that was seen at a lower moment.
  let moment = 0;
  /** When the deletion of an object was seen, by UID; only of objects that are there. */
  const seenAt = new Map<string, number>();
  const asked = new Set<string>();
  /** When the last answered question about a definition was asked. */
  const answeredAt = new Map<MachineKind, number>();

  for (const store of stores) {
    store.subscribe((old, current) => {
      const { uid, deletionTimestamp } = current?.metadata ?? {};
      if (old !== undefined && old.metadata.uid !== uid) {
        seenAt.delete(old.metadata.uid ?? "");
        asked.delete(old.metadata.uid ?? "");
      }
      if (uid !== undefined && deletionTimestamp !== undefined && !seenAt.has(uid)) seenAt.set(uid, ++moment);
    });
  }

  const suspect = (kind: MachineKind, uid: string): Suspect => ({
    definition: watch.stateOf(kind),
    isCleared: (answeredAt.get(kind) ?? 0) > (seenAt.get(uid) ?? Number.POSITIVE_INFINITY),
  });

  return {
    stateOf: watch.stateOf,
    onChange: watch.onChange,
    synced: watch.synced,
    holdOf(kind, object, hasBegun) {
      const { uid = "", deletionTimestamp } = object.metadata;
      if (deletionTimestamp === undefined) return { verdict: "goes" };
      const deletion = { deletedAt: Date.parse(deletionTimestamp), hasBegun, isAsked: asked.has(uid) };
      return decideHold(
        deletion,
        kindsOf(kind, object).map((each) => suspect(each, uid)),
      );
    },
    async ask(kind, object) {
      const at = ++moment;
      const look = async (each: MachineKind): Promise<void> => {
        await watch.look(each);
        // One that is going says since when, and one that is gone proves nothing.
        const { state } = watch.stateOf(each);
        if (state === "standing" || state === "unguarded")
          answeredAt.set(each, Math.max(at, answeredAt.get(each) ?? 0));
      };
      await Promise.all(kindsOf(kind, object).map(look));
    },
    noteAsked: (uid) => void asked.add(uid),
    takeBack: (uid) => void asked.delete(uid),
  };
}
