import { setTimeout as sleep } from "node:timers/promises";
import { type MachineKind, machineKinds } from "@millwright/core/machine-api";
import { type ApiClient, type KubeObject, withTypeMeta } from "@millwright/kube";

const namespace = "default";

/** Owners before what they own, as `kubectl delete` and most exports have them. */
const ownersFirst: readonly MachineKind[] = ["MachineDeployment", "MachineSet", "Machine"];

/** The orders in which a backup may create the objects of a fleet. */
export const restoreOrders = {
  "owners first": ownersFirst,
  "by name of the kind, as Velero does": ["MachineDeployment", "Machine", "MachineSet"],
  "owners last": ["Machine", "MachineSet", "MachineDeployment"],
} as const satisfies Readonly<Record<string, readonly MachineKind[]>>;

/** All objects of a fleet as `kubectl get -o json` prints them: with UIDs, owners, finalizers and status. */
export type FleetExport = ReadonlyMap<MachineKind, readonly KubeObject[]>;

export async function exportFleet(api: ApiClient): Promise<FleetExport> {
  const kinds = ownersFirst.map(async (kind): Promise<[MachineKind, readonly KubeObject[]]> => {
    const { items } = await api.list(machineKinds[kind], { namespace, omitManagedFields: true });
    return [kind, items.map((item) => withTypeMeta(machineKinds[kind], item))];
  });
  return new Map(await Promise.all(kinds));
}

/** Deletes the objects of a fleet and none of its VMs: each in a version without finalizers, to which the controllers have not added theirs again. */
export async function loseFleet(api: ApiClient): Promise<void> {
  for (const kind of ownersFirst) {
    const type = machineKinds[kind];
    for (;;) {
      const { items } = await api.list(type, { namespace });
      if (items.length === 0) break;
      for (const { metadata } of items) {
        const ref = { namespace, name: metadata.name ?? "" };
        const bare = await api
          .patch(type, ref, { metadata: { finalizers: null } }, { kind: "merge" })
          .catch(() => undefined);
        const resourceVersion = bare?.metadata.resourceVersion;
        if (resourceVersion === undefined) continue;
        await api.delete(type, ref, { propagation: "Orphan", resourceVersion }).catch(() => undefined);
      }
    }
  }
}

/**
 * Creates the objects as `kubectl apply` and `kubectl create` do: without their resourceVersion. Objects that exist are left alone.
 *
 * @param keepsStatus whether the status is written, too, as some backup tools do; default: it is not
 * @param pauseMs how long it takes until the next kind follows, as when a person applies file after file; default: none
 */
export async function applyFleet(
  api: ApiClient,
  fleet: FleetExport,
  order: readonly MachineKind[],
  { keepsStatus = false, pauseMs = 0 } = {},
): Promise<void> {
  for (const [index, kind] of order.entries()) {
    if (index > 0) await sleep(pauseMs);
    for (const { metadata, ...rest } of fleet.get(kind) ?? []) {
      const { resourceVersion: _, ...kept } = metadata;
      const object = { ...rest, metadata: kept };
      const created = await api.create(machineKinds[kind], object).catch(() => undefined);
      if (created === undefined || !keepsStatus) continue;
      const ref = { namespace, name: metadata.name ?? "" };
      const status = { status: rest["status"] };
      await api.patch(machineKinds[kind], ref, status, { kind: "merge", subresource: "status" }).catch(() => undefined);
    }
  }
}
