import { controllerOf, type MachineSet, machineSetResource } from "@millwright/core/machine-api";
import { describeType, ignoreNotFound, keyOf } from "@millwright/kube";
import type { ControllerContext } from "../../cluster/context.ts";

type MissingSetsContext = Pick<ControllerContext, "control" | "caches">;

/** Names of the sets that machines have as their controller and the cache lacks, by UID. */
function missingSets({ caches }: Pick<MissingSetsContext, "caches">, namespace: string): ReadonlyMap<string, string> {
  const missing = new Map<string, string>();
  for (const machine of caches.machines.store.list(namespace)) {
    const owner = controllerOf(machine);
    if (owner?.kind !== machineSetResource.kind) continue;
    const { name, uid } = owner;
    if (caches.sets.store.getByRef({ namespace, name })?.metadata.uid !== uid) missing.set(uid, name);
  }
  return missing;
}

/**
 * Reads the sets that machines have as their controller and the cache lacks. Usually there are none, and no request is made; a set that was just deleted, and whose machines still exist,
 * is one. Those that exist are put into the cache, and all kinds are listed again, because a list was incomplete.
 *
 * @returns a set that exists
 */
export async function readMissingSets(
  { control, caches }: MissingSetsContext,
  namespace: string,
): Promise<MachineSet | undefined> {
  const read = await Promise.all(
    Array.from(missingSets({ caches }, namespace), async ([uid, name]) => {
      const set = await ignoreNotFound(control.get<MachineSet>(machineSetResource, { namespace, name }));
      return set?.metadata.uid === uid ? [set] : [];
    }),
  );
  const found = read.flat();
  for (const set of found) caches.sets.store.applyWrite(set);
  const [first] = found;
  if (first === undefined) return undefined;
  control.history?.suspect({
    kind: "incomplete list",
    resource: describeType(machineSetResource),
    found: `${keyOf(first)} exists, and the cache does not hold it`,
  });
  return first;
}
