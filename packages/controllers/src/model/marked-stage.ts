import { type DeletionStage, type Machine, phaseOf, stageOf } from "@millwright/core";

/** How far the deletion of a machine has come, as its own marker or the Go implementation's says; `undefined` when it has not begun. */
export function markedStage({ machine }: { readonly machine: Machine }): DeletionStage | undefined {
  const { type, description } = machine.status?.lastOperation ?? {};
  return phaseOf(machine) === "Terminating" && type === "Delete" ? stageOf(description) : undefined;
}
