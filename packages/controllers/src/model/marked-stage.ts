import { type DeletionStage, type Machine, phaseOf, stageOf } from "@millwright/core";

/** The stage of a machine's deletion, from the marker in its status; `undefined` when the flow has not started. */
export function markedStage({ machine }: { readonly machine: Machine }): DeletionStage | undefined {
  const { type, description } = machine.status?.lastOperation ?? {};
  return phaseOf(machine) === "Terminating" && type === "Delete" ? stageOf(description) : undefined;
}
