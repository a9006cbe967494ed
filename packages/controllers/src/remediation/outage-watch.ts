import { type Clock, type Machine, phaseOf } from "@millwright/core";
import type { Log, ReadonlyStore } from "@millwright/kube";
import { isDeleting } from "../model/phase.ts";
import { outageUntil, type Tally } from "./outage.ts";
import { type OutageRule } from "../model/machine-settings.ts";
import type { OutageView } from "./remediation-view.ts";

/** What {@link createOutageWatch} needs. */
export interface OutageWatchOptions {
  readonly machines: Pick<ReadonlyStore<Machine>, "subscribe">;
  readonly zoneOf: (machine: Machine) => string | undefined;
  readonly rule: OutageRule;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when machines recovered, or went, and an outage is over before its time. */
  readonly onEnd: () => void;
}

/** The whole namespace, or one zone of it. */
interface Place {
  readonly zone: string | undefined;
  joined: number;
  /** When machines turned Unknown, by UID. */
  readonly unknown: Map<string, number>;
  /** `unknown` in order; undefined when that has changed. */
  sorted: readonly number[] | undefined;
  isHit: boolean;
}

/** What one machine adds to the tallies of its places. */
interface Share {
  readonly zone: string | undefined;
  readonly unknownSince: number | undefined;
}

const joinedPhases: ReadonlySet<string | undefined> = new Set([
  "Running",
  "Unknown",
  "InPlaceUpdating",
  "InPlaceUpdateSuccessful",
  "InPlaceUpdateFailed",
]);

/**
 * Counts machines that turned Unknown at once, in the namespace and in each zone. All of it follows from the objects: after a restart it is the same. An
 * outage that begins is a warning in the log, once.
 */
export function createOutageWatch(
  options: OutageWatchOptions,
): (machine: Machine, now: number) => OutageView | undefined {
  const { machines, zoneOf, rule, clock, log, onEnd } = options;
  const places = new Map<string | undefined, Place>();
  const shares = new Map<string, Share>();

  const placeOf = (zone: string | undefined): Place => {
    const known = places.get(zone);
    if (known !== undefined) return known;
    const place: Place = { zone, joined: 0, unknown: new Map(), sorted: undefined, isHit: false };
    places.set(zone, place);
    return place;
  };
  const tallyOf = (place: Place): Tally => {
    place.sorted ??= [...place.unknown.values()].toSorted((a, b) => a - b);
    return { joined: place.joined, unknownSince: place.sorted };
  };
  const placesOf = ({ zone }: Share): readonly Place[] => [
    placeOf(undefined),
    ...(zone === undefined ? [] : [placeOf(zone)]),
  ];
  const shareOf = (machine: Machine): Share | undefined => {
    const phase = phaseOf(machine);
    if (isDeleting(machine) || !joinedPhases.has(phase)) return undefined;
    const since = Date.parse(machine.status?.currentStatus?.lastUpdateTime ?? "");
    const unknownSince = phase === "Unknown" && !Number.isNaN(since) ? since : undefined;
    return { zone: zoneOf(machine), unknownSince };
  };
  const add = (uid: string, share: Share): void => {
    shares.set(uid, share);
    for (const place of placesOf(share)) {
      place.joined++;
      if (share.unknownSince === undefined) continue;
      place.unknown.set(uid, share.unknownSince);
      place.sorted = undefined;
    }
  };
  const remove = (uid: string, share: Share): void => {
    shares.delete(uid);
    for (const place of placesOf(share)) {
      place.joined--;
      if (place.unknown.delete(uid)) place.sorted = undefined;
    }
  };
  const judge = (place: Place): void => {
    const isHit =
      place.unknown.size >= rule.outageMinMachines &&
      outageUntil(tallyOf(place), rule, clock.now().getTime()) !== undefined;
    if (isHit === place.isHit) return;
    place.isHit = isHit;
    const fields = { zone: place.zone, unknown: place.unknown.size, joined: place.joined };
    if (isHit) return log("warn", "Many machines turned Unknown at once; none of them is replaced for now", fields);
    log("info", "The machines that turned Unknown at once are few again", fields);
    onEnd();
  };

  machines.subscribe((old, current) => {
    const uid = (current ?? old)?.metadata.uid ?? "";
    const before = shares.get(uid);
    const after = current === undefined ? undefined : shareOf(current);
    if (before?.zone === after?.zone && before?.unknownSince === after?.unknownSince && !before === !after) return;
    const hit = new Set<Place>([before, after].flatMap((share) => (share === undefined ? [] : placesOf(share))));
    if (before !== undefined) remove(uid, before);
    if (after !== undefined) add(uid, after);
    for (const place of hit) {
      judge(place);
      if (place.joined === 0) places.delete(place.zone);
    }
  });

  return (machine, now) => {
    for (const zone of new Set([undefined, zoneOf(machine)])) {
      const place = places.get(zone);
      const until = place === undefined ? undefined : outageUntil(tallyOf(place), rule, now);
      if (until !== undefined) return { until, zone };
    }
    return undefined;
  };
}
