import type { Clock } from "@millwright/base";

/** A taint of a template that another client removed from a Node or changed, and that was put back. */
export interface RestoredTaint {
  /** How often, in a row. */
  readonly times: number;
  /** Milliseconds since the last time. */
  readonly agoMs: number;
  /** The field manager that had removed or changed it the last time; absent where the Node does not show it. */
  readonly manager?: string | undefined;
}

/** By {@link taintId} of the taint. */
export type RestoredTaints = ReadonlyMap<string, RestoredTaint>;

/** A taint that stays for so long is not being removed again and again, milliseconds. */
const SPELL_MS = 3_600_000;

/** How often taints of Nodes were put back. Kept in memory only: a restart shortens the delays. */
export interface RestoredTaintStates {
  of(uid: string): RestoredTaints;
  /** Records that taints were put back on the Node of a machine. */
  record(uid: string, taints: readonly string[], manager: string | undefined): void;
  forget(uid: string): void;
}

/** Makes an empty record; it grows with the number of machines whose taints are removed by others. */
export function createRestoredTaints(clock: Pick<Clock, "monotonicMs">): RestoredTaintStates {
  type Entry = Omit<RestoredTaint, "agoMs"> & { readonly atMs: number };
  const machines = new Map<string, ReadonlyMap<string, Entry>>();
  const current = (uid: string): readonly (readonly [string, Entry])[] =>
    [...(machines.get(uid) ?? [])].filter(([, { atMs }]) => clock.monotonicMs() - atMs < SPELL_MS);
  return {
    of: (uid) =>
      new Map(current(uid).map(([id, { atMs, ...entry }]) => [id, { ...entry, agoMs: clock.monotonicMs() - atMs }])),
    record(uid, taints, manager) {
      const before = new Map(current(uid));
      const atMs = clock.monotonicMs();
      const added = taints.map((id) => [id, { times: (before.get(id)?.times ?? 0) + 1, manager, atMs }] as const);
      machines.set(uid, new Map([...before, ...added]));
    },
    forget: (uid) => void machines.delete(uid),
  };
}
