import type { ListedMachine } from "@millwright/core";
import { machineResource } from "@millwright/core/machine-api";
import { type ApiClient, isApiError, isNotFound } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { findOrphans } from "./find-orphans.ts";

/** So many machines are read: an incomplete list lacks all, or most. */
const SAMPLES = 5;

/** Whether the machine exists. Who may list machines, but not read one, has to believe the list. */
async function exists(
  api: Pick<ApiClient, "get">,
  ref: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await api.get(machineResource, ref, { signal, metadataOnly: true });
    return true;
  } catch (error) {
    if (isNotFound(error) || (isApiError(error) && error.status === 403)) return false;
    throw error;
  }
}

/**
 * Looks for a machine that exists, but that the cache lacks: a process that started with an incomplete list of machines has nothing to compare it with, except the machines that VMs name.
 * Reads a few of those that are not in the cache; none when each VM has its machine there.
 *
 * @returns its name
 * @throws ApiError when the API server does not respond
 */
export async function findLackingMachine(
  { caches, control, namespace }: Pick<ControllerContext, "caches" | "control" | "namespace">,
  vms: readonly ListedMachine[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const isCached = (name: string): boolean => caches.machines.store.getByRef({ namespace, name }) !== undefined;
  const orphans = findOrphans(vms, caches.machines.store.list(namespace), namespace);
  const names = [...new Set(orphans.map(({ machineName }) => machineName))].filter((name) => !isCached(name));
  for (const name of names.slice(0, SAMPLES)) {
    // It may have come meanwhile.
    if ((await exists(control, { namespace, name }, signal)) && !isCached(name)) return name;
  }
  return undefined;
}
