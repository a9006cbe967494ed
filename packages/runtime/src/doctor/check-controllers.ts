import type { Clock } from "@millwright/base";
import type { CheckOutcome } from "@millwright/core";
import {
  type MachineDeployment,
  machineDeploymentResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { type ApiClient, isApiError } from "@millwright/kube";
import { readLeaders } from "../describe/read-leaders.ts";
import { isBehind, isUnseen } from "../explain/no-controllers.ts";

const name = "Controllers";

/** Lists and reads of a control cluster. */
type ReadableApi = Pick<ApiClient, "get" | "list">;

const start = 'See whether their pod runs, and in which namespace they lead: "kubectl get pods,leases -A".';

/** Whether objects exist, and no controller has seen some of them, by the generation in their status. */
async function unseen(
  api: ReadableApi,
  namespace: string,
  now: Date,
  signal: AbortSignal,
): Promise<"no objects" | "all seen" | "new ones" | { readonly object: string }> {
  const lists = await Promise.all(
    [machineDeploymentResource, machineSetResource].map(async (type) => {
      const listed = api.list<MachineDeployment | MachineSet>(type, { namespace }, { signal });
      const { items } = await listed.catch((error: unknown) => {
        signal.throwIfAborted();
        if (!isApiError(error)) throw error;
        return { items: [] };
      });
      return items.map((item) => ({ type, item }));
    }),
  );
  const all = lists.flat();
  if (all.length === 0) return "no objects";
  const behind = all.filter(({ item }) => isBehind(item));
  if (behind.length === 0) return "all seen";
  const old = behind.find(({ item }) => isUnseen(item, now));
  return old === undefined ? "new ones" : { object: `${old.type.kind} ${old.item.metadata.name}` };
}

/**
 * Checks that controllers lead the namespace: an installation whose process does not start, has no rights, or manages another namespace changes nothing, and no object shows it. A process without leader
 * election has no Lease; then the generations that were seen decide. Nothing where Leases may not be read, or neither they nor objects exist yet.
 *
 * @throws the reason of the signal when it aborts
 */
export async function checkControllers(
  api: ReadableApi,
  namespace: string,
  clock: Pick<Clock, "now">,
  signal: AbortSignal,
): Promise<CheckOutcome | undefined> {
  const now = clock.now();
  const leaders = await readLeaders(api, namespace, now, signal);
  if (leaders === undefined) return undefined;
  const { leads, text, elsewhere } = leaders;
  if (leads === true) return { name, status: "ok", message: text };
  if (leads === false) return { name, status: "failed", message: `${text}${elsewhere}`, remedy: start };
  const seen = await unseen(api, namespace, now, signal);
  const message = `No controllers have led namespace ${namespace}`;
  if (seen === "no objects") return undefined;
  if (seen === "all seen")
    return { name, status: "ok", message: "Controllers without leader election have seen all objects." };
  if (seen === "new ones")
    return { name, status: "warning", message: `${message}, and some objects were not seen yet.${elsewhere}` };
  return {
    name,
    status: "failed",
    message: `${message}, and none has seen ${seen.object}.${elsewhere}`,
    remedy: start,
  };
}
