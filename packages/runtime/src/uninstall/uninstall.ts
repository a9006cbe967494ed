import { isRecord, systemClock, systemRandom } from "@millwright/base";
import { leaseNames, type Machine, machineResource } from "@millwright/core/machine-api";
import {
  type ApiClient,
  type ApiObject,
  createFencedClient,
  ignoreNotFound,
  type Leadership,
  leaseResource,
  listAll,
  nodeResource,
  type ResourceType,
  secretResource,
  retryConflicts,
} from "@millwright/kube";
import { finalizedKinds, patchOf, type Removal, removalOf } from "./plan-uninstall.ts";

/** What to uninstall. */
export interface UninstallOptions {
  readonly control: ApiClient;
  /** The cluster of the Nodes; absent: there is none. */
  readonly target?: ApiClient;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** What an uninstall removes, and what it leaves. */
export interface UninstallReport {
  readonly namespace: string;
  /** Processes that hold a Lease, and for how long it is valid after a renewal. They may have ended without releasing it. */
  readonly holders: readonly { readonly lease: string; readonly holder: string; readonly leaseSeconds: number }[];
  readonly removals: readonly Removal[];
  readonly leaves: {
    /** Number of objects by kind. */
    readonly objects: Readonly<Record<string, number>>;
    readonly vms: readonly { readonly machine: string; readonly providerId: string }[];
  };
}

/** One kind of objects in their cluster. */
interface Place {
  readonly api: ApiClient;
  readonly type: ResourceType;
  readonly finalizer: string;
  readonly namespace?: string;
}

function placesOf({ control, target, namespace }: UninstallOptions): readonly Place[] {
  return finalizedKinds.flatMap((kind): readonly Place[] => {
    if (kind.type !== nodeResource) return [{ ...kind, api: control, namespace }];
    return target === undefined ? [] : [{ ...kind, api: target }];
  });
}

/** Secrets without their content: nothing of it is needed. */
const list = ({ api, type, namespace }: Place, signal: AbortSignal): Promise<readonly ApiObject[]> =>
  listAll(
    api,
    type,
    {
      omitManagedFields: true,
      metadataOnly: type === secretResource,
      ...(namespace === undefined ? {} : { namespace }),
    },
    { signal },
  ).then(({ items }) => items);

/** Of MCM and of client-go. */
const DEFAULT_LEASE_SECONDS = 15;

async function readHolders({ control, namespace, signal }: UninstallOptions): Promise<UninstallReport["holders"]> {
  const leases = await Promise.all(
    leaseNames.map((name) => ignoreNotFound(control.get(leaseResource, { namespace, name }, { signal }))),
  );
  return leases.flatMap((lease, index) => {
    const spec = lease?.["spec"];
    const holder = isRecord(spec) ? spec["holderIdentity"] : undefined;
    const seconds = isRecord(spec) ? spec["leaseDurationSeconds"] : undefined;
    const leaseSeconds = typeof seconds === "number" ? seconds : DEFAULT_LEASE_SECONDS;
    return typeof holder === "string" && holder !== ""
      ? [{ lease: leaseNames[index] ?? "", holder, leaseSeconds }]
      : [];
  });
}

/** Reads what an uninstall would remove and leave. Writes nothing. */
export async function planUninstall(options: UninstallOptions): Promise<UninstallReport> {
  const { namespace, signal } = options;
  const places = placesOf(options);
  const [holders, lists] = await Promise.all([
    readHolders(options),
    Promise.all(places.map((place) => list(place, signal))),
  ]);
  const found = places.map((place, index) => ({ ...place, objects: lists[index] ?? [] }));
  const removals = found.flatMap(({ type, finalizer, objects }) =>
    objects.flatMap((object) => removalOf(type, finalizer, object) ?? []),
  );
  const machines = found.find(({ type }) => type === machineResource)?.objects ?? [];
  return {
    namespace,
    holders,
    removals,
    leaves: {
      objects: Object.fromEntries(
        found.filter(({ type }) => type !== secretResource).map(({ type, objects }) => [type.kind, objects.length]),
      ),
      vms: machines.flatMap((machine) => {
        const providerId = providerIdOf(machine);
        return providerId === "" ? [] : [{ machine: machine.metadata.name ?? "", providerId }];
      }),
    },
  };
}

function providerIdOf(machine: ApiObject & Partial<Pick<Machine, "spec">>): string {
  return machine.spec?.providerID ?? "";
}

/** Removes what {@link removalOf} names from one object, in whatever version it is by then. */
function remove({ api, type, finalizer }: Place, { namespace, name }: Removal, signal: AbortSignal): Promise<void> {
  const ref = { name, ...(namespace === undefined ? {} : { namespace }) };
  const attempt = async (): Promise<void> => {
    const object = await ignoreNotFound(api.get(type, ref, { signal }));
    const removal = object === undefined ? undefined : removalOf(type, finalizer, object);
    if (object === undefined || removal === undefined) return;
    await ignoreNotFound(api.patch(type, ref, patchOf(removal, object), { kind: "merge", signal }));
  };
  return retryConflicts(attempt, { clock: systemClock, random: systemRandom, signal });
}

/**
 * Removes the finalizers and marks of the controllers. The caller must lead, so that no controller puts them back.
 *
 * @returns what was removed, and what is left
 */
export async function uninstall(
  options: UninstallOptions,
  leadership: Pick<Leadership, "fence" | "lost">,
): Promise<UninstallReport> {
  const report = await planUninstall(options);
  const fenced = {
    ...options,
    control: createFencedClient(options.control, leadership),
    ...(options.target === undefined ? {} : { target: createFencedClient(options.target, leadership) }),
  };
  for (const place of placesOf(fenced)) {
    const removals = report.removals.filter(({ kind }) => kind === place.type.kind);
    await Promise.all(removals.map((removal) => remove(place, removal, options.signal)));
  }
  return report;
}
