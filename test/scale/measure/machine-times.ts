import { type Machine, phaseOf } from "@millwright/core/machine-api";

/** When a machine was first seen, and first seen Running; milliseconds of one clock. */
export interface MachineTimes {
  readonly seenMs: number;
  readonly runningMs: number | undefined;
}

/** The machines of a cluster as a watch shows them. */
export interface MachineTimeline {
  /** Takes a change: `undefined` is a machine that is not there yet, or no longer. */
  observe(old: Machine | undefined, current: Machine | undefined): void;
  /** How many machines there are by phase; `""` is a machine that has none yet. */
  phases(): ReadonlyMap<string, number>;
  /** Machines that were first seen at this time or later, by UID, also those that are gone. */
  since(fromMs: number): ReadonlyMap<string, MachineTimes>;
  /** Machines that are there. */
  readonly size: number;
  /** Changes so far. */
  readonly events: number;
}

/** Creates the timeline of machines; `now` is its clock. */
export function createMachineTimeline(now: () => number): MachineTimeline {
  const times = new Map<string, MachineTimes>();
  const phases = new Map<string, number>();
  let size = 0;
  let events = 0;
  const count = (machine: Machine | undefined, by: 1 | -1): void => {
    if (machine === undefined) return;
    const phase = phaseOf(machine) ?? "";
    const total = (phases.get(phase) ?? 0) + by;
    if (total === 0) phases.delete(phase);
    else phases.set(phase, total);
    size += by;
  };
  return {
    observe(old, current) {
      events += 1;
      count(old, -1);
      count(current, 1);
      const uid = current?.metadata.uid;
      if (current === undefined || uid === undefined) return;
      const known = times.get(uid) ?? { seenMs: now(), runningMs: undefined };
      const isRunning = known.runningMs === undefined && phaseOf(current) === "Running";
      times.set(uid, isRunning ? { ...known, runningMs: now() } : known);
    },
    phases: () => phases,
    since: (fromMs) => new Map([...times].filter(([, { seenMs }]) => seenMs >= fromMs)),
    get size() {
      return size;
    },
    get events() {
      return events;
    },
  };
}
