import { type Machine, machineResource } from "@millwright/core/machine-api";
import { type Expectations, isNotFound } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";

type Context = Pick<ControllerContext, "caches" | "control" | "namespace">;

/**
 * Reads a machine from the API server into the cache.
 *
 * @returns the machine; undefined when it does not exist
 * @throws ApiError when that cannot be found out
 */
async function readMachine(
  { caches, control, namespace }: Pick<Context, "caches" | "control" | "namespace">,
  name: string,
): Promise<Machine | undefined> {
  try {
    const machine = await control.get<Machine>(machineResource, { namespace, name });
    caches.machines.store.applyWrite(machine);
    return machine;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Whether a machine was created although the server responded with an error; the request has ended by then. */
export const mayExist = (context: Pick<Context, "caches" | "control" | "namespace">, name: string): Promise<boolean> =>
  readMachine(context, name).then(
    (machine) => machine !== undefined,
    () => true,
  );

/**
 * Finds out the outcome of creations and deletions of a set whose responses were lost, and which the cache does not show although they have ended: its watch may be broken for longer than
 * any wait, and a request that is repeated creates, or deletes, one machine too many.
 *
 * @param key of the set
 * @throws ApiError when the API server does not answer: then nothing is known, and nothing may be repeated
 */
export async function settleUnanswered(key: string, expectations: Expectations, context: Context): Promise<void> {
  const { caches, namespace } = context;
  const { creations, deletions } = expectations.overdue(key);
  const settleCreation = async (name: string): Promise<void> => {
    if ((await readMachine(context, name)) === undefined) expectations.creationRejected(key, name);
    else expectations.creationObserved(key, name);
  };
  const nameOf = new Map(caches.machines.store.list(namespace).map(({ metadata }) => [metadata.uid, metadata.name]));
  const settleDeletion = async (uid: string): Promise<void> => {
    const name = nameOf.get(uid);
    const live = name === undefined ? undefined : await readMachine(context, name);
    if (live?.metadata.uid === uid && live.metadata.deletionTimestamp == null) {
      expectations.deletionRejected(key, uid);
      return;
    }
    if (name !== undefined && live?.metadata.uid !== uid) caches.machines.store.applyDelete({ namespace, name, uid });
    expectations.deletionObserved(key, uid);
  };
  // The API client limits how many requests are sent at once.
  const reads = await Promise.allSettled([...creations.map(settleCreation), ...deletions.map(settleDeletion)]);
  for (const read of reads) if (read.status === "rejected") throw read.reason;
}
