import { annotationKeys, type Machine } from "@millwright/core/machine-api";
import { type ApiObject, apiTime, controllerRefOf } from "@millwright/kube";

/** How long a released machine counts as one of its former set, and a released set as one of its former deployment, milliseconds. */
export const RELEASE_WINDOW_MS = 60 * 60_000;

/** A set that loses this many machines within the window creates no more: what removes their labels would remove those of the next ones, too. */
export const RELEASE_LIMIT = 3;

/** Machines that a set released because their labels no longer match its selector, and that still exist without a controller. */
export interface ReleasedMachines {
  /** Names of all, sorted. */
  readonly names: readonly string[];
  /** Those that were released within the window: they count against the maximum of the set. */
  readonly recent: number;
  /** When the first of these leaves the window, milliseconds from now; absent without any. */
  readonly changesInMs?: number;
}

/** No machine was released. */
export const noneReleased: ReleasedMachines = { names: [], recent: 0 };

/** The annotation that is written with the release, so that it outlives this process. */
export const releaseAnnotation = (ownerUid: string, now: Date): Readonly<Record<string, string>> => ({
  [annotationKeys.releasedFrom]: `${ownerUid}/${apiTime(now)}`,
});

/** UID of the owner that released a machine or a set, and when; `undefined` for one that was not released, or is adopted again. */
export function releaseOf(object: ApiObject): { readonly ownerUid: string; readonly at: number } | undefined {
  const text = object.metadata.annotations?.[annotationKeys.releasedFrom];
  if (text === undefined || controllerRefOf(object) !== undefined) return undefined;
  const [ownerUid = "", time = ""] = text.split("/");
  return { ownerUid, at: Date.parse(time) || 0 };
}

/** Those of some machines, or sets, that an owner released. */
export const releasedFrom = <T extends ApiObject>(ownerUid: string, objects: readonly T[]): readonly T[] =>
  objects.filter((object) => releaseOf(object)?.ownerUid === ownerUid);

/** Counts the machines that a set released. */
export function releasedMachines(released: readonly Machine[], now: Date): ReleasedMachines {
  const left = released
    .map((machine) => (releaseOf(machine)?.at ?? 0) + RELEASE_WINDOW_MS - now.getTime())
    .filter((ms) => ms > 0);
  return {
    names: released.map(({ metadata }) => metadata.name).toSorted(),
    recent: left.length,
    ...(left.length === 0 ? {} : { changesInMs: Math.min(...left) }),
  };
}
