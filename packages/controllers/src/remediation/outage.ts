import type { Clock } from "@millwright/base";
import { type Machine, phaseOf } from "@millwright/core/machine-api";
import type { Log, ReadonlyStore } from "@millwright/kube";
import type { Live } from "../model/live.ts";
import type { OutageRule } from "../model/machine-settings.ts";
import { isDeleting } from "../model/phase.ts";
import type { OutageView } from "./remediation-view.ts";

/** Machines of the namespace, or of one of its zones, as the detection of outages counts them. */
export interface MachineCount {
  /** Machines that have a node and are not terminating: Running, Unknown, or in an update in place. */
  readonly joined: number;
  /** When each of them that is Unknown became so; wall clock, milliseconds, oldest first. */
  readonly unknownSince: readonly number[];
}

/**
 * When the outage ends that a count shows at `now`, if nothing else happens; wall clock, milliseconds. `undefined` when there is none: fewer machines than
 * minimum and threshold became Unknown within the window.
 */
export function outageUntil(
  { joined, unknownSince }: MachineCount,
  { outageThreshold, outageMinMachines, outageWindowMs }: OutageRule,
  now: number,
): number | undefined {
  const recent = unknownSince.filter((since) => since + outageWindowMs > now);
  const threshold = Math.max(1, outageMinMachines, Math.ceil(outageThreshold * joined));
  // With this one outside the window, the rest is below the threshold.
  const last = recent[recent.length - threshold];
  return last === undefined ? undefined : last + outageWindowMs;
}

export interface OutageWatchOptions {
  readonly machines: Pick<ReadonlyStore<Machine>, "subscribe">;
  readonly zoneOf: (machine: Machine) => string | undefined;
  readonly rule: Live<OutageRule>;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when an outage is over before its time, because machines recovered or were deleted. */
  readonly onEnd: () => void;
}

/** The whole namespace, or one zone of it. */
interface Area {
  readonly zone: string | undefined;
  joined: number;
  /** When machines became Unknown, by UID. */
  readonly unknown: Map<string, number>;
  /** `unknown` in order; undefined after a change. */
  sorted: readonly number[] | undefined;
  hasOutage: boolean;
}

/** What one machine adds to the counts of its areas. */
interface Contribution {
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

function contributionOf(machine: Machine, zoneOf: OutageWatchOptions["zoneOf"]): Contribution | undefined {
  const phase = phaseOf(machine);
  if (isDeleting(machine) || !joinedPhases.has(phase)) return undefined;
  const since = Date.parse(machine.status?.currentStatus?.lastUpdateTime ?? "");
  return { zone: zoneOf(machine), unknownSince: phase === "Unknown" && !Number.isNaN(since) ? since : undefined };
}

function countOf(area: Area): MachineCount {
  area.sorted ??= [...area.unknown.values()].toSorted((a, b) => a - b);
  return { joined: area.joined, unknownSince: area.sorted };
}

/** The counts of all areas, from the contributions of single machines. */
function createAreas() {
  const areas = new Map<string | undefined, Area>();
  const areaOf = (zone: string | undefined): Area => {
    const known = areas.get(zone);
    if (known !== undefined) return known;
    const area: Area = { zone, joined: 0, unknown: new Map(), sorted: undefined, hasOutage: false };
    areas.set(zone, area);
    return area;
  };
  const areasOf = ({ zone }: Contribution): readonly Area[] => [
    areaOf(undefined),
    ...(zone === undefined ? [] : [areaOf(zone)]),
  ];
  return {
    areasOf,
    get: (zone: string | undefined) => areas.get(zone),
    add(uid: string, contribution: Contribution): void {
      for (const area of areasOf(contribution)) {
        area.joined++;
        if (contribution.unknownSince === undefined) continue;
        area.unknown.set(uid, contribution.unknownSince);
        area.sorted = undefined;
      }
    },
    subtract(uid: string, contribution: Contribution): void {
      for (const area of areasOf(contribution)) {
        area.joined--;
        if (area.unknown.delete(uid)) area.sorted = undefined;
      }
    },
    removeIfEmpty({ zone, joined }: Area): void {
      if (joined === 0) areas.delete(zone);
    },
  };
}

/**
 * Detects that many machines become Unknown at once, in the namespace and in each zone. Everything follows from the objects, so a restart changes nothing. The
 * beginning of an outage is logged once.
 */
export function createOutageWatch(
  options: OutageWatchOptions,
): (machine: Machine, now: number) => OutageView | undefined {
  const { machines, zoneOf, rule, clock, log, onEnd } = options;
  const areas = createAreas();
  const contributions = new Map<string, Contribution>();

  const detect = (area: Area): void => {
    const hasOutage =
      area.unknown.size >= rule.current().outageMinMachines &&
      outageUntil(countOf(area), rule.current(), clock.now().getTime()) !== undefined;
    if (hasOutage === area.hasOutage) return;
    area.hasOutage = hasOutage;
    const fields = { zone: area.zone, unknown: area.unknown.size, joined: area.joined };
    if (hasOutage)
      return log("warn", "Remediation paused: many machines became Unknown, which suggests an outage", fields);
    log("info", "Remediation resumed: most machines that became Unknown recovered or were deleted", fields);
    onEnd();
  };

  machines.subscribe((old, current) => {
    const uid = (current ?? old)?.metadata.uid ?? "";
    const before = contributions.get(uid);
    const after = current === undefined ? undefined : contributionOf(current, zoneOf);
    if (before?.zone === after?.zone && before?.unknownSince === after?.unknownSince && !before === !after) return;
    const affected = new Set([before, after].flatMap((each) => (each === undefined ? [] : areas.areasOf(each))));
    if (before !== undefined) areas.subtract(uid, before);
    contributions.delete(uid);
    if (after !== undefined) {
      contributions.set(uid, after);
      areas.add(uid, after);
    }
    for (const area of affected) {
      detect(area);
      areas.removeIfEmpty(area);
    }
  });

  return (machine, now) => {
    for (const zone of new Set([undefined, zoneOf(machine)])) {
      const area = areas.get(zone);
      const until = area === undefined ? undefined : outageUntil(countOf(area), rule.current(), now);
      if (until !== undefined) return { until, zone };
    }
    return undefined;
  };
}
