import { type DeletionStage, type Machine, phaseOf, readOperation } from "@millwright/core";

/** The stage of a machine's deletion, from its status; `undefined` when the flow has not started. */
export const markedStage = ({ machine }: { readonly machine: Machine }): DeletionStage | undefined =>
  phaseOf(machine) === "Terminating" && machine.status?.lastOperation?.type === "Delete"
    ? readOperation(machine.status).stage
    : undefined;
