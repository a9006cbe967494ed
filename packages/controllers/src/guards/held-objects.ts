import { annotationKeys, type Machine, type MachineSet } from "@millwright/core/machine-api";
import type { ControlCaches } from "../cluster/caches.ts";
import { type Guard, judge } from "../model/hold.ts";
import { type HoldCondition, shownHold, holdConditions } from "../model/hold-condition.ts";

/** How many objects of a kind one guard, or one rule, holds. */
export interface HeldCount {
  readonly by: string;
  readonly kind: "Machine" | "MachineSet" | "MachineDeployment";
  readonly count: number;
}

/** Holds of Machines by the first guard that holds each; one that is not known yet is not counted. */
function heldMachines(guards: readonly Guard<Machine>[], machines: readonly Machine[]): readonly HeldCount[] {
  const counts = new Map(guards.map(({ name }) => [name, 0]));
  for (const machine of machines) {
    const { hold, missing } = judge(guards, machine);
    if (hold !== undefined && hold.isUnknown !== true && missing.length === 0)
      counts.set(hold.by, (counts.get(hold.by) ?? 0) + 1);
  }
  return [...counts].map(([by, count]) => ({ by, kind: "Machine", count }));
}

/** Sets that wait for machines to be restored have no condition of their own, but a record. */
const isAwaitingRestore = ({ metadata }: MachineSet): boolean =>
  metadata.annotations?.[annotationKeys.expectedReplicas] !== undefined;

/** Counts what is held now, with a 0 for each guard that holds nothing. */
export function countHeld(
  guards: readonly Guard<Machine>[],
  { machines, sets, deployments }: Pick<ControlCaches, "machines" | "sets" | "deployments">,
): readonly HeldCount[] {
  const ofSets = sets.store.list();
  const conditions = {
    MachineSet: ofSets.map(({ status }) => status?.machineSetCondition),
    MachineDeployment: deployments.store.list().map(({ status }) => status?.conditions),
  };
  const count = (kind: keyof typeof conditions, condition: HoldCondition): HeldCount => {
    const held = conditions[kind].filter((each) => shownHold(each, condition) !== undefined);
    return { by: condition.by, kind, count: held.length };
  };
  return [
    ...heldMachines(guards, machines.store.list()),
    ...holdConditions.flatMap((each) => [count("MachineSet", each), count("MachineDeployment", each)]),
    { by: "restore", kind: "MachineSet", count: ofSets.filter(isAwaitingRestore).length },
  ];
}
